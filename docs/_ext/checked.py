"""Checks of the built site: every link leads somewhere, and nothing is loaded from elsewhere."""

import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# Elements that fetch what they name as soon as a page is shown, and the attribute that names it.
LOADING = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src", "video": "src"}
# Relations of a <link> that name a page instead of something to load.
NAMING = {"index", "search", "next", "prev", "author", "canonical", "copyright"}


class Page(HTMLParser):
    """The anchors, links and loads of one page."""

    def __init__(self, text: str):
        super().__init__()
        self.anchors, self.links, self.loads = set(), [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.anchors.update(values[name] for name in ("id", "name") if values.get(name))
        target = values.get(LOADING.get(tag, "href"))
        if target is None:
            return
        naming = tag not in LOADING or NAMING & set((values.get("rel") or "").split())
        (self.links if naming else self.loads).append(target)


def faults(folder: Path) -> list[str]:
    """Links of the pages in ``folder`` that lead nowhere, and what they load from other hosts."""
    files = [
        path for path in sorted(folder.rglob("*.html")) if path.relative_to(folder).parts[0] != "_static"
    ]
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in files}
    found = [
        f"{path.relative_to(folder).as_posix()} loads {address}"
        for path in sorted(folder.rglob("*.css"))
        for address in re.findall(
            r"(?:url\(|@import )\s*['\"]?(https?:[^'\")]+)", path.read_text(encoding="utf-8")
        )
    ]
    for path, page in pages.items():
        where = path.relative_to(folder).as_posix()
        found += [f"{where} loads {target}" for target in page.loads if urlsplit(target).netloc]
        for target in page.links + page.loads:
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                continue
            file = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            lost_anchor = (
                parts.fragment and file in pages and unquote(parts.fragment) not in pages[file].anchors
            )
            if not file.exists() or lost_anchor:
                found.append(f"{where} links to {target}, which is not there")
    return found


def check(app, exception):
    """Fail the build with all faults."""
    from sphinx.errors import ExtensionError  # here, since the checks are tested without Sphinx too

    if exception is None and app.builder.name == "html":
        found = faults(Path(app.outdir))
        if found:
            raise ExtensionError("\n".join(["The site has faults:", *found]))


def setup(app):
    """Check after everything is written."""
    app.connect("build-finished", check)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
