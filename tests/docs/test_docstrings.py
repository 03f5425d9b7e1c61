"""Docstrings of the API reference: they tell what the signatures say, and show how a thing is used."""

import dataclasses
import importlib
import inspect
import re
from pathlib import Path

import pytest

from kpca_lab.datasets import load_dataset

API = Path(__file__).resolve().parents[2] / "docs" / "api.rst"
ENTRY = re.compile(r"^(?:(\w+(?:, \w+)*) : (.+)|(\*\*\w+))$", re.M)


def reference():
    """The objects that the API reference lists, by their full names."""
    found, module = {}, ""
    for line in API.read_text(encoding="utf-8").splitlines():
        if line.startswith(".. currentmodule:: "):
            module = line.split()[-1]
        elif re.fullmatch(r"   [\w.]+", line):
            path, _, name = f"{module}.{line.strip()}".rpartition(".")
            found[f"{path}.{name}"] = getattr(importlib.import_module(path), name)
    return found


METHODS = ("fit", "partial_fit", "transform", "inverse_transform", "score", "predict", "plot", "estimate_gap")
OBJECTS = reference()
CLASSES = {name: entry for name, entry in OBJECTS.items() if inspect.isclass(entry)}
ESTIMATORS = [name for name, entry in CLASSES.items() if hasattr(entry, "get_params")]
CALLABLES = dict(OBJECTS)
for name, entry in CLASSES.items():
    for member, function in inspect.getmembers(entry, inspect.isroutine):
        ours = (getattr(function, "__module__", None) or "").startswith("kpca_lab")
        if (
            ours
            and not member.startswith("_")
            and member in ("fit", "partial_fit", "transform", "predict", "plot")
        ):
            CALLABLES[f"{name}.{member}"] = function


def section(text, heading):
    """The lines below a heading of a docstring."""
    found = re.search(rf"^{heading}\n-+\n(.*?)(?=^\w[\w ]*\n-+$|\Z)", text, re.M | re.S)
    return found[1] if found else ""


def documented(text):
    """Types and descriptions of the parameters that a docstring has."""
    entries = list(ENTRY.finditer(section(text, "Parameters")))
    body = section(text, "Parameters")
    ends = [entry.start() for entry in entries[1:]] + [len(body)]
    found = {}
    for entry, end in zip(entries, ends):
        for name in (entry[1] or entry[3]).split(", "):
            found[name] = entry[2] or "keywords", body[entry.end() : end].strip()
    return found


def parameters(entry):
    """The parameters of a callable by name, without self."""
    kinds = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    found = inspect.signature(entry).parameters.values()
    return {kinds.get(each.kind, "") + each.name: each for each in found if each.name != "self"}


@pytest.mark.parametrize("name", CALLABLES)
def test_every_parameter_is_documented_with_type_meaning_and_default(name):
    entry = CALLABLES[name]
    text, expected = inspect.getdoc(entry), parameters(entry)
    if dataclasses.is_dataclass(entry) and not section(text, "Parameters"):
        text = text.replace("Attributes\n----------", "Parameters\n----------")  # one list for both
    told = documented(text)
    if entry is load_dataset:  # its keywords are documented one by one
        told, expected = {"name": told["name"]}, {"name": expected["name"]}
    assert list(told) == list(expected)
    for parameter, (kind, meaning) in told.items():
        assert kind and meaning, parameter
        default = expected[parameter].default
        if default is inspect.Parameter.empty or dataclasses.is_dataclass(entry) or default is None:
            continue
        stated = re.search(r"default=(.*)", kind)
        assert stated and repr(default).replace("'", '"') in stated[1].replace("'", '"'), (parameter, kind)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_an_estimator_has_all_sections_in_order(name):
    headings = re.findall(r"^(\w[\w ]*)\n-{3,}$", inspect.getdoc(OBJECTS[name]), re.M)
    order = ["Parameters", "Attributes", "See Also", "Notes", "References", "Examples"]
    assert headings == [heading for heading in order if heading in headings]
    assert {"Parameters", "Attributes", "See Also", "Examples"} <= set(headings)


@pytest.mark.parametrize("name", OBJECTS)
def test_the_first_line_is_a_sentence(name):
    first = inspect.getdoc(OBJECTS[name]).splitlines()[0]
    assert first.endswith(".")
