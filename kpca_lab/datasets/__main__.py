"""Command line of the data layer: ``python -m kpca_lab.datasets list|fetch|verify|info``.

Exit codes: 0 if all went well; 1 if a data set that was named cannot be had, or a cached file is
bad; 2 for a wrong command line. ``fetch`` without names gets what can be had, reports the rest,
and succeeds.
"""

import argparse
import inspect
import os
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path

from kpca_lab.datasets.catalogue import CATALOGUE, dataset_options, entry_of
from kpca_lab.datasets.fetch import DatasetUnavailableError, obtain, sha256_of
from kpca_lab.datasets.locations import cache_dir, mirror
from kpca_lab.datasets.registry import FILE_SETS, FileSet, RawFile
from kpca_lab.datasets.splits import protocol_of
from kpca_lab.datasets.substitutes import DataVariantWarning
from kpca_lab.datasets.yaleb import COMPLETE_ADDRESS

TABLE_HEAD = ("data set", "status", "source", "size", "hash ok", "terms")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    parser = argparse.ArgumentParser(prog="python -m kpca_lab.datasets", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    commands.add_parser("list", help="name every data set and tell whether it is there")
    fetch = commands.add_parser("fetch", help="bring files into the cache and verify them")
    fetch.add_argument("names", nargs="*", metavar="NAME", help="data sets; all by default")
    commands.add_parser("verify", help="hash every file in the cache again")
    info = commands.add_parser("info", help="tell all about one data set")
    info.add_argument("name", metavar="NAME")
    chosen = parser.parse_args(arguments)
    try:
        if chosen.command == "list":
            return _list()
        if chosen.command == "fetch":
            return _fetch(chosen.names)
        if chosen.command == "verify":
            return _verify()
        return _info(chosen.name)
    except (ValueError, ModuleNotFoundError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2


def _print_table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> None:
    # The last column is left alone: it may be long and needs no alignment.
    widths = [max(len(row[place]) for row in (head, *rows)) for place in range(len(head) - 1)]
    for row in (head, tuple("-" * width for width in (*widths, len(head[-1]))), *rows):
        cells = [cell.ljust(width) for cell, width in zip(row, widths)]
        print("  ".join([*cells, row[-1]]).rstrip())


def _readable(size: float) -> str:
    for unit in ("B", "kB"):
        if size < 1000:
            return f"{size:.0f} {unit}"
        size /= 1000
    return f"{size:.1f} MB"


def _cached(file_set: FileSet) -> list[tuple[Path, RawFile] | None]:
    """Return the cached path and variant of each file, None where there is none, unverified."""
    found = []
    for raw in file_set.files:
        there = [(cache_dir() / variant.path, variant) for variant in raw.variants]
        found.append(next((pair for pair in there if pair[0].is_file()), None))
    return found


def _list() -> int:
    rows = []
    for entry in CATALOGUE.values():
        if entry.kind == "real":
            status = "cached" if all(_cached(FILE_SETS[entry.file_sets[0]])) else "not here"
        else:
            status = {"synthetic": "generated", "user": "by path"}[entry.kind]
        rows.append((entry.name, entry.kind, status, entry.summary))
    _print_table(("data set", "kind", "status", "what it is"), rows)
    print(f"\ncache: {cache_dir()}\nmirror: {mirror() or 'none'}")
    return 0


def _file_sets_of(name: str) -> list[str]:
    """Return the names of the file sets that a name on the command line stands for."""
    if name in FILE_SETS:
        return [name]
    entry = entry_of(name)
    if entry.kind == "user":
        raise ValueError(f"{name!r} is for your own files: there is nothing to fetch or verify")
    return list(entry.file_sets[:1])


def _fetch(names: list[str]) -> int:
    wanted = {name: _file_sets_of(name) for name in names}
    if not names:
        wanted = {name: [name] for name in FILE_SETS}
        wanted |= {name: [] for name, entry in CATALOGUE.items() if entry.kind == "synthetic"}
    rows, failures = [], []
    for name, file_sets in wanted.items():
        if not file_sets:
            rows.append((name, "generated", "generator", "-", "-", "none: generated"))
        for file_set in (FILE_SETS[key] for key in file_sets):
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", DataVariantWarning)  # the table says it
                    records = [record for _, record in obtain(file_set, dataset=name, refresh=True)]
            except (DatasetUnavailableError, OSError) as error:
                failures.append((name, error))
                rows.append((_title(name), "unavailable", "-", "-", "-", file_set.terms))
                continue
            sources = sorted({record.source for record in records})
            notes = sorted({record.note for record in records if record.note})
            rows.append(
                (
                    _title(name),
                    "cached" if sources == ["cache"] else "fetched",
                    "+".join(sources),
                    _readable(sum(record.size for record in records)),
                    "yes",
                    "; ".join([file_set.terms, *notes]),
                )
            )
    if not names:
        rows.append(("yaleb:complete", "by hand", "-", "-", "-", f"see {COMPLETE_ADDRESS}"))
    _print_table(TABLE_HEAD, rows)
    print(f"\ncache: {cache_dir()}")
    for _, failure in failures:
        print(f"\n{failure}", file=sys.stderr)
    return 1 if failures and names else 0


def _title(name: str) -> str:
    return "ida (13 sets)" if name == "ida" else name


def _verify() -> int:
    rows, bad = [], 0
    for name, file_set in FILE_SETS.items():
        for raw, found in zip(file_set.files, _cached(file_set)):
            if found is None:
                rows.append((_title(name), "not here", raw.path, "-", "-", file_set.terms))
                continue
            path, variant = found
            good = sha256_of(path) in variant.sha256
            bad += not good
            size = _readable(path.stat().st_size)
            rows.append(
                (
                    _title(name),
                    "cached" if good else "BAD",
                    variant.path,
                    size,
                    "yes" if good else "NO",
                    "; ".join(filter(None, [file_set.terms, variant.note])),
                )
            )
    head = (*TABLE_HEAD[:2], "file", *TABLE_HEAD[3:])
    _print_table(head, rows)
    aside = sorted(cache_dir().glob("*/*.bad-*"))
    if aside:
        print("\nset aside earlier, safe to delete:")
        for path in aside:
            print(f"  {path}")
    if bad:
        print(f"\n{bad} bad: the next load or fetch sets them aside and gets them anew")
    return 1 if bad else 0


def _info(name: str) -> int:
    entry = entry_of(name)
    print(f"{name}: {entry.summary}\n\nkind: {entry.kind}\noptions:")
    for option, default in dataset_options(name).items():
        needed = default is inspect.Parameter.empty
        print(f"  {option}" + ("  (must be given)" if needed else f" = {default!r}"))
    if entry.kind == "real":
        protocol = protocol_of(name)
        held_out = protocol.n_held_out or protocol.held_out
        how = f"{protocol.kind}, {protocol.n_splits} times"
        print(f"splits: {how}" + (f", {held_out:.4g} held out" if held_out else ""))
    for file_set in (FILE_SETS[key] for key in entry.file_sets):
        print(f"\nfiles of {file_set.name}; terms: {file_set.terms}")
        if file_set.page:
            print(f"page: {file_set.page}")
        for raw, found in zip(file_set.files, _cached(file_set)):
            print(f"  {raw.path}, {raw.size} bytes: {found[0] if found else 'not in the cache'}")
            for variant in raw.variants:
                if variant is not raw:
                    print(f"    or {variant.path}, {variant.size} bytes {variant.note}".rstrip())
                for digest in variant.sha256:
                    print(f"    sha256 {digest}")
                for address in variant.addresses:
                    inside = f" (member {address.member})" if address.member else ""
                    print(f"    {address.url}{inside}")
                if variant.wheel:
                    print(f"    wheel {variant.wheel.requirement}, {variant.wheel.member}")
                if variant.debian:
                    print(f"    Debian package {variant.debian.package}, {variant.debian.member}")
    return 0


if __name__ == "__main__":
    try:
        code = main()
        sys.stdout.flush()
    except BrokenPipeError:  # whoever reads, such as head, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    sys.exit(code)
