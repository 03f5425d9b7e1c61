"""What determines the value of a job: its settings, the data, and the code that it runs.

Code is read, not run: from a function or class the definitions that it uses are followed, through this
package and the modules of experiments and of added methods, and their text without comments and
docstrings is hashed. So a job is computed again if something that it uses has changed, and only then.
"""

import ast
import hashlib
import importlib.util
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from kpca_lab.datasets.catalogue import entry_of
from kpca_lab.datasets.fetch import obtain, sha256_of
from kpca_lab.datasets.locations import cache_dir
from kpca_lab.datasets.registry import FILE_SETS
from kpca_lab.suite.hooks import experiment
from kpca_lab.suite.jobs import Job

__all__ = ["code_version", "data_version", "fetch_data", "job_id", "named_targets", "source_version"]

# How files come here, how runs are organised, and which names there are: none of this changes a value.
IGNORED = {
    "kpca_lab.datasets.archives",
    "kpca_lab.datasets.catalogue",
    "kpca_lab.datasets.download",
    "kpca_lab.datasets.fetch",
    "kpca_lab.datasets.locations",
    "kpca_lab.datasets.parsed_cache",
    "kpca_lab.datasets.registry",
    "kpca_lab.datasets.wheels",
    "kpca_lab.suite.config.checks",
    "kpca_lab.suite.config.composing",
    "kpca_lab.suite.errors",
    "kpca_lab.suite.jobs",
    "kpca_lab.suite.papers",
}
DATA_CODE = (
    "kpca_lab.datasets.scaling.scale",
    "kpca_lab.datasets.seeds.derive_rng",
    "kpca_lab.datasets.splits.split",
)


def job_id(job: Job) -> str:
    """The identity of a job: 16 hexadecimal digits."""
    parts = (job.canonical(), data_version(job.dataset), code_version(_targets(job)))
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def _targets(job):
    run = experiment.runners.get(job.experiment)
    root = (
        "kpca_lab.suite.measure.evaluate.evaluate" if run is None else f"{run.__module__}.{run.__qualname__}"
    )
    return tuple(sorted({root, *named_targets(job.settings)}))


def named_targets(settings) -> Iterator[str]:
    """The import paths that settings name under the key ``target``, at any depth."""
    if isinstance(settings, dict):
        for key, value in settings.items():
            if key == "target" and isinstance(value, str):
                yield value
            else:
                yield from named_targets(value)
    elif isinstance(settings, list):
        for value in settings:
            yield from named_targets(value)


@cache
def code_version(targets: tuple[str, ...]) -> str:
    """Hash of the code that the given import paths lead to."""
    found: dict[tuple[str, str], str] = {}
    for target in targets:
        module, _, name = target.rpartition(".")
        own = {"kpca_lab", "experiments", module.split(".")[0]}
        _follow(module, name, own, found)
    text = "\n".join(f"{module}.{name}\n{source}" for (module, name), source in sorted(found.items()))
    return hashlib.sha256(text.encode()).hexdigest()


def source_version(target: str) -> list[str]:
    """The definitions that the code of an import path uses, for people who wonder."""
    found: dict[tuple[str, str], str] = {}
    module, _, name = target.rpartition(".")
    _follow(module, name, {"kpca_lab", "experiments", module.split(".")[0]}, found)
    return sorted(f"{module}.{name}" for module, name in found)


def _follow(module, name, own, found):
    if module.split(".")[0] not in own or module in IGNORED or (module, name) in found:
        return
    parsed = _parse(module)
    if parsed is None:
        return
    if name in parsed.definitions:
        nodes = parsed.definitions[name]
        found[module, name] = "\n".join(parsed.sources[name])
        for node in nodes:
            for used, attribute in _names_in(node):
                if used in parsed.definitions:
                    _follow(module, used, own, found)
                elif used in parsed.imports:
                    _follow_import(*parsed.imports[used], attribute, own, found)
    elif name in parsed.imports:
        _follow_import(*parsed.imports[name], None, own, found)


def _follow_import(module, name, attribute, own, found):
    """Follow ``from module import name``, which may be a module itself, used as ``name.attribute``."""
    if module.split(".")[0] not in own:
        return
    inner = module if name is None else f"{module}.{name}"
    if name is None or (_parse(module) and name not in _parse(module).names and _parse(inner)):
        if attribute is not None:
            _follow(inner, attribute, own, found)
    else:
        _follow(module, name, own, found)


def _names_in(node):
    """Names that a definition uses, each with the attribute that is taken from it, if any."""
    for child in ast.walk(node):
        if isinstance(child, ast.Attribute) and isinstance(child.value, ast.Name):
            yield child.value.id, child.attr
        elif isinstance(child, ast.Name):
            yield child.id, None


@dataclass
class _Module:
    definitions: dict[str, list[ast.stmt]]
    sources: dict[str, list[str]]
    imports: dict[str, tuple[str, str | None]]

    @property
    def names(self):
        return self.definitions.keys() | self.imports.keys()


@cache
def _parse(module):
    try:
        spec = importlib.util.find_spec(module)
    except (ImportError, ValueError):
        return None
    if spec is None or spec.origin is None or not spec.origin.endswith(".py"):
        return None
    tree = ast.parse(Path(spec.origin).read_text(encoding="utf-8"))
    package = module if spec.submodule_search_locations else module.rpartition(".")[0]
    parsed = _Module({}, {}, {})
    for node in _statements(tree.body):
        if isinstance(node, ast.Import):
            for alias in node.names:
                # `import a.b` binds `a`; uses of a.b.c are not followed, which no module here relies on.
                parsed.imports[alias.asname or alias.name.split(".")[0]] = (alias.name, None)
        elif isinstance(node, ast.ImportFrom):
            base = package.split(".")
            base = base[: len(base) - node.level + 1] if node.level else []
            source = ".".join([*base, *([node.module] if node.module else [])])
            for alias in node.names:
                parsed.imports[alias.asname or alias.name] = (source, alias.name)
        else:
            for name in _bound(node):
                parsed.definitions.setdefault(name, []).append(node)
                parsed.sources.setdefault(name, []).append(ast.unparse(_without_docstrings(node)))
    return parsed


def _statements(body):
    for node in body:
        if isinstance(node, ast.If | ast.Try | ast.With):
            yield from _statements(node.body)
            yield from _statements(getattr(node, "orelse", []))
            for handler in getattr(node, "handlers", []):
                yield from _statements(handler.body)
        else:
            yield node


def _bound(node):
    if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return [
        child.id for target in targets if target for child in ast.walk(target) if isinstance(child, ast.Name)
    ]


def _without_docstrings(node):
    for child in ast.walk(node):
        if isinstance(child, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
            first = child.body[0]
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                child.body = child.body[1:] or [ast.Pass()]
    return node


def data_version(dataset: dict | None) -> str:
    """What determines the data, found without loading it.

    For a real data set the hashes of its files and the code that reads them, for a generator its code, for
    the user's own file its hash. The options are part of the job itself.
    """
    if dataset is None:
        return ""
    entry = entry_of(dataset["name"])
    loader = getattr(entry.load, "args", ()) and entry.kind == "synthetic"
    function = entry.load.args[0] if loader else getattr(entry.load, "func", entry.load)
    parts = [code_version((*DATA_CODE, f"{function.__module__}.{function.__qualname__}"))]
    for raw in _raw_files(dataset):
        there = [variant for variant in raw.variants if (cache_dir() / variant.path).is_file()]
        # Containers of the same values count as the same file.
        used = there[0] if there and there[0].note else raw
        parts.append(used.sha256[0])
    path = dataset["options"].get("path")
    if path is not None:
        parts.extend(_own_files(Path(path)))
    return " ".join(parts)


def _raw_files(dataset):
    entry = entry_of(dataset["name"])
    if entry.kind != "real" or dataset["options"].get("path") is not None:
        return []
    sets = entry.file_sets
    if dataset["name"] == "yaleb":
        sets = sets[1:] if dataset["options"].get("variant") == "extended" else sets[:1]
    return [raw for name in sets for raw in FILE_SETS[name].files]


def _own_files(path):
    if path.is_file():
        return [sha256_of(path)]
    files = sorted(entry for entry in path.rglob("*") if entry.is_file())
    return [f"{entry.relative_to(path)}:{entry.stat().st_size}" for entry in files]


def fetch_data(dataset: dict) -> None:
    """Bring the files of a data set into the cache, if they are not there.

    Raises
    ------
    DatasetUnavailableError
    """
    for raw in _raw_files(dataset):
        if not any((cache_dir() / variant.path).is_file() for variant in raw.variants):
            name = dataset["name"]
            for file_set in FILE_SETS.values():
                if raw in file_set.files:
                    obtain(file_set, dataset=name)
