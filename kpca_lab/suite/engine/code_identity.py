"""The text of the code that a function or class leads to, as a hash.

Code is read, not run: from a function or class the definitions that it uses are followed, through this
package and the modules of experiments and of added methods. Their text is hashed without comments,
docstrings, annotations, import statements and names of modules. So a hash changes if something that is used
has changed, and not if it has only moved.
"""

import ast
import copy
import hashlib
import importlib
import importlib.util
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

__all__ = ["code_version", "definitions_used"]

# How files come here, how runs are organised, judged, stored and drawn: none of this changes a value. Of the
# suite, only what happens inside a job does.
OUTSIDE = (
    "experiments.common.shared",
    "kpca_lab.datasets.archives",
    "kpca_lab.datasets.catalogue",
    "kpca_lab.datasets.debian",
    "kpca_lab.datasets.download",
    "kpca_lab.datasets.fetch",
    "kpca_lab.datasets.locations",
    "kpca_lab.datasets.parsed_cache",
    "kpca_lab.datasets.registry",
    "kpca_lab.datasets.rewrite",
    "kpca_lab.datasets.substitutes",
    "kpca_lab.datasets.wheels",
    "kpca_lab.extras",
    "kpca_lab.memory",
    "kpca_lab.progress_bar",
    "kpca_lab.suite",
)
INSIDE = ("kpca_lab.suite.measure",)


@cache
def code_version(*targets: str) -> str:
    """Hash of the code that the given import paths lead to.

    Parameters
    ----------
    *targets : str
        Such as ``"kpca_lab.SubsetKPCA"``.

    Returns
    -------
    str
        Hexadecimal digits; empty if no target leads to code of this package, of experiments or of the
        target's own.
    """
    found = _followed(targets)
    if not found:
        return ""
    texts = sorted(f"{name}\n{text}" for (_, name), text in found.items())
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()


def definitions_used(target: str) -> list[str]:
    """The definitions that the code of an import path uses, for people who wonder."""
    return sorted(f"{module}.{name}" for module, name in _followed([target]))


def _followed(targets):
    found: dict[tuple[str, str], str] = {}
    for target in targets:
        module, _, name = target.rpartition(".")
        own = {"kpca_lab", "experiments", module.split(".")[0]}
        _follow(module, name, own, found)
    return found


def _follow(module, name, own, found):
    if module.split(".")[0] not in own or _is_outside(module) or (module, name) in found:
        return
    parsed = _parse(module)
    if parsed is None:
        return
    if name in parsed.statements:
        definition = parsed.definition(name)
        found[module, name] = definition.text
        for used, attribute in definition.uses:
            if used in definition.imports:
                _follow_import(*definition.imports[used], attribute, own, found)
            elif used in parsed.statements:
                _follow(module, used, own, found)
            elif used in parsed.imports:
                _follow_import(*parsed.imports[used], attribute, own, found)
    elif name in parsed.imports:
        _follow_import(*parsed.imports[name], None, own, found)
    elif name and parsed.computes_names:
        _follow_object(module, name, own, found)


def _follow_import(module, name, attribute, own, found):
    """Follow ``from module import name``, which may be a module itself, used as ``name.attribute``."""
    if module.split(".")[0] not in own:
        return
    if _is_module(module, name):
        if attribute is not None:
            _follow(module if name is None else f"{module}.{name}", attribute, own, found)
    else:
        _follow(module, name, own, found)


def _follow_object(module, name, own, found):
    """Follow a name that a module makes only when asked for it."""
    value = getattr(importlib.import_module(module), name, None)
    place = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
    if None not in place and place != (module, name):
        _follow(*place, own, found)


def _is_outside(module):
    def within(packages):
        return any(f"{module}.".startswith(f"{package}.") for package in packages)

    return within(OUTSIDE) and not within(INSIDE)


def _is_module(module, name):
    return name is None or _source(f"{module}.{name}") is not None


@dataclass
class _Definition:
    """A name of a module: its text, what it uses (each name with the attribute taken), what it imports."""

    text: str = ""
    uses: set[tuple[str, str | None]] = field(default_factory=set)
    imports: dict[str, tuple[str, str | None]] = field(default_factory=dict)


@dataclass
class _Module:
    """The statements of a module by the names that they bind, and the names that it imports."""

    package: str
    statements: dict[str, list[ast.stmt]] = field(default_factory=dict)
    imports: dict[str, tuple[str, str | None]] = field(default_factory=dict)
    known: dict[str, _Definition] = field(default_factory=dict)

    @property
    def computes_names(self):
        return "__getattr__" in self.statements

    def definition(self, name: str) -> _Definition:
        if name not in self.known:
            self.known[name] = _Definition()
            for node in self.statements[name]:
                _add(self.known[name], node, self.imports, self.package)
        return self.known[name]


@cache
def _source(module):
    """Where the text of a module is, if it is written in Python."""
    try:
        spec = importlib.util.find_spec(module)
    except (ImportError, ValueError):
        return None
    if spec is None or spec.origin is None or not spec.origin.endswith(".py"):
        return None
    return Path(spec.origin), module if spec.submodule_search_locations else module.rpartition(".")[0]


@cache
def _parse(module):
    if _source(module) is None:
        return None
    path, package = _source(module)
    parsed = _Module(package)
    for node in _statements(ast.parse(path.read_text(encoding="utf-8")).body):
        parsed.imports |= _imported(node, package)
        for name in _bound(node):
            parsed.statements.setdefault(name, []).append(node)
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


def _imported(node, package) -> dict[str, tuple[str, str | None]]:
    """The names that an import statement binds, each with its module and the name there."""
    if isinstance(node, ast.Import):
        # `import a.b` binds `a`; uses of a.b.c are not followed, which no module here relies on.
        return {alias.asname or alias.name.split(".")[0]: (alias.name, None) for alias in node.names}
    if isinstance(node, ast.ImportFrom):
        base = package.split(".")
        base = base[: len(base) - node.level + 1] if node.level else []
        source = ".".join([*base, *([node.module] if node.module else [])])
        return {alias.asname or alias.name: (source, alias.name) for alias in node.names}
    return {}


def _bound(node):
    if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return [
        child.id for target in targets if target for child in ast.walk(target) if isinstance(child, ast.Name)
    ]


def _add(definition, node, imports, package):
    """Add a statement to a definition: what it says and what it uses."""
    inner: dict[str, tuple[str, str | None]] = {}
    for child in ast.walk(node):
        inner |= _imported(child, package)
    known = imports | inner
    essential = _Essence(known).visit(copy.deepcopy(node))
    definition.imports |= inner
    definition.uses |= set(_names_in(essential))
    text = ast.unparse(_Nameless(known, package).visit(essential))
    definition.text = f"{definition.text}\n{text}" if definition.text else text


class _Essence(ast.NodeTransformer):
    """Takes out what changes no value: docstrings, annotations, imports, decorators that register."""

    def __init__(self, imports):
        self.imports = imports

    def visit_FunctionDef(self, node):
        node.returns = None
        self._shorten(node)
        return node

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_ClassDef(self, node):
        self._shorten(node)
        return node

    def _shorten(self, node):
        node.decorator_list = [entry for entry in node.decorator_list if not self._registers(entry)]
        first = node.body[0]
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
            node.body = node.body[1:]
        self.generic_visit(node)
        node.body = node.body or [ast.Pass()]

    def _registers(self, decorator):
        """Whether a decorator is of the suite's organisation, such as ``@experiment.run(...)``."""
        names = [child.id for child in ast.walk(decorator) if isinstance(child, ast.Name)]
        return any(name in self.imports and _is_outside(self.imports[name][0]) for name in names)

    def visit_arg(self, node):
        node.annotation = None
        return node

    def visit_AnnAssign(self, node):
        self.generic_visit(node)
        node.annotation = ast.Constant(None)
        return node

    def visit_Import(self, node):
        return ast.Pass()

    visit_ImportFrom = visit_Import


class _Nameless(ast.NodeTransformer):
    """Writes ``module.name`` as ``name``, so that a module's own name is not in the text."""

    def __init__(self, imports, package):
        self.imports, self.own = imports, {"kpca_lab", "experiments", package.split(".")[0]}

    def visit_Attribute(self, node):
        self.generic_visit(node)
        if isinstance(node.value, ast.Name) and node.value.id in self.imports:
            module, name = self.imports[node.value.id]
            if name is not None and module.split(".")[0] in self.own and _is_module(module, name):
                return ast.Name(node.attr, node.ctx)
        return node


def _names_in(node) -> Iterator[tuple[str, str | None]]:
    """Names that a definition uses, each with the attribute that is taken from it, if any."""
    for child in ast.walk(node):
        if isinstance(child, ast.Attribute) and isinstance(child.value, ast.Name):
            yield child.value.id, child.attr
        elif isinstance(child, ast.Name):
            yield child.id, None
