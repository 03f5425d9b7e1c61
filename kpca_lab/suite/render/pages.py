"""What all pages have: templates, and a policy that allows their own style and script alone."""

import base64
import hashlib
from importlib import resources

import jinja2

__all__ = ["style_and_script", "template_environment", "template_source"]


def template_environment() -> jinja2.Environment:
    """The templates; whatever they are given is escaped, and a name that is not given is an error."""
    return jinja2.Environment(
        loader=jinja2.PackageLoader("kpca_lab.suite.render", "templates"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )


def template_source(name: str) -> str:
    """The text of a file beside the templates."""
    return resources.files("kpca_lab.suite.render").joinpath("templates", name).read_text(encoding="utf-8")


def style_and_script(style: str, script: str) -> dict[str, str]:
    """What ``base.html`` is given: style, script, and the policy that forbids all others and the network."""
    policy = (
        f"default-src 'none'; img-src 'self' data:; style-src '{_hash(style)}'; "
        f"script-src '{_hash(script)}'; base-uri 'none'; form-action 'none'"
    )
    return {"style": style, "script": script, "policy": policy}


def _hash(text):
    """How a content policy names a script or a style."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
