"""What a scoreboard comes to: results that agree, per paper and in all, and the table of the README.

Only results count. Settings, numbers derived from others, and figures on calibrated data stand in columns
of their own, and what was judged by a chosen reading is counted by the reading as described too.
"""

import argparse
import re
from pathlib import Path

import pandas as pd

from kpca_lab.suite.engine.environment import read_environment
from kpca_lab.suite.engine.records_file import RECORDS_SUFFIX
from kpca_lab.suite.engine.summary import read_summary
from kpca_lab.suite.files import write_atomically
from kpca_lab.suite.judge.claims import read_claims
from kpca_lab.suite.judge.published import item_label
from kpca_lab.suite.judge.scoreboard import read_scoreboard
from kpca_lab.suite.judge.verdicts import AGREE, VERDICTS
from kpca_lab.suite.papers import papers

__all__ = [
    "MARKERS",
    "headline",
    "headline_text",
    "item_ranges",
    "main",
    "readme_table",
    "summarise",
    "update_readme",
]

MARKERS = ("<!-- reproduced: begin -->", "<!-- reproduced: end -->")
BESIDE = ("setting", "derived", "calibrated")  # kinds that are judged and not counted


def summarise(scoreboard):
    """Number of cells by paper, kind and verdict."""
    counts = pd.crosstab([scoreboard.paper, scoreboard.kind], scoreboard.verdict)
    counts = counts.reindex(columns=list(VERDICTS), fill_value=0)
    counts["cells"] = counts.sum(axis=1)
    return counts.rename_axis(columns=None)


def headline(scoreboard):
    """The results of each paper, and of all.

    Returns
    -------
    DataFrame
        Indexed by paper, in alphabetical order, and ``all``: the numbers of results by verdict;
        ``compared``, the sum of the first four; ``agree``, the share of these in percent that is exact,
        consistent or close, and ``agree_as_described``, the same with the texts as they stand (NaN where
        nothing was compared). For each of the kinds of `BESIDE`, ``<kind>`` is how many agree and
        ``<kind>_compared`` of how many.
    """
    rows = {}
    for paper in [*sorted(scoreboard.paper.unique()), "all"]:
        own = scoreboard if paper == "all" else scoreboard[scoreboard.paper == paper]
        results = own[own.kind == "result"]
        counts = results.verdict.value_counts().reindex(list(VERDICTS), fill_value=0).to_dict()
        compared = sum(counts[name] for name in (*AGREE, "off"))
        rows[paper] = counts | {"compared": compared}
        for name, column in (("agree", "verdict"), ("agree_as_described", "verdict_as_described")):
            met = results[column].isin(AGREE).sum()
            rows[paper][name] = 100 * met / compared if compared else float("nan")
        for kind in BESIDE:
            verdicts = own.verdict[own.kind == kind]
            rows[paper][kind] = verdicts.isin(AGREE).sum()
            rows[paper][f"{kind}_compared"] = verdicts.isin([*AGREE, "off"]).sum()
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis(index="paper")


def headline_text(scoreboard):
    """The headline in words."""
    numbers = headline(scoreboard).loc["all"]
    if not numbers.compared:
        return "No result was compared."
    verdicts = ", ".join(f"{numbers[name]:.0f} {name}" for name in (*AGREE, "off"))
    left_out = numbers.not_comparable + numbers.not_run
    return (
        f"{numbers.agree:.1f} % of the {numbers.compared:.0f} printed results that can be compared agree "
        f"with ours ({verdicts}); {numbers.agree_as_described:.1f} % with the texts as they stand, where a "
        "reading chosen with the printed figures in view departs from them. "
        f"{left_out:.0f} more results are not legible, need "
        f"data or code that cannot be had, or were not run. Settings ({numbers.setting:.0f} of "
        f"{numbers.setting_compared:.0f} as printed), numbers derived from others, figures on calibrated "
        "data, times and rough statements count for nothing here."
    )


def readme_table(results="results"):
    """Markdown table of what is reproduced, from the paper or else the quick profile; "" if there is none."""
    for profile in ("paper", "quick"):
        folder = Path(results) / profile
        scoreboard = read_scoreboard(folder)
        if scoreboard is not None:
            return _readme_table(folder, scoreboard)
    return ""


def _readme_table(folder, scoreboard):
    """A row for each count and a column for each paper, which fits a page."""
    counts = headline(scoreboard)
    names = (*AGREE, "off")
    headings = ["tables and figures", *names, "agree", "as described", "not compared"]
    headings += ["settings as printed", "derived", "calibrated", "claims that hold", "identities that hold"]
    labels, columns = [], []
    for paper in [*papers(), "all"]:
        items, label = "", "all"
        if paper != "all":
            own = scoreboard[
                (scoreboard.paper == paper) & scoreboard.ours.notna() & (scoreboard.table != "text")
            ]
            found = (folder / "records" / paper).glob(f"*{RECORDS_SUFFIX}")
            items = {path.name.removesuffix(RECORDS_SUFFIX) for path in found}
            items, label = item_ranges(set(own.table) | items) or "-", papers()[paper].label
        cells = [items]
        if paper in counts.index:
            found = counts.loc[paper]
            cells += [f"{found[name]:.0f}" for name in names]
            cells += [
                "-" if pd.isna(found[name]) else f"{found[name]:.1f} %" for name in counts if "agree" in name
            ]
            cells += [f"{found.not_comparable + found.not_run:.0f}"]
            cells += [_of(found[kind], found[f"{kind}_compared"]) for kind in BESIDE]
        else:
            cells += ["0"] * 4 + ["-"] * 2 + ["0"] + ["-"] * 3
        labels.append(label)
        columns.append([*cells, *_claims(folder, paper)])
    rows = [["", *labels], ["---"] * (len(labels) + 1), *zip(headings, *columns)]
    text = f"From the `{folder.name}` profile{_effort(folder)}. {headline_text(scoreboard)}"
    return "\n".join([text, "", *(f"| {' | '.join(row)} |" for row in rows)])


def _of(part, whole):
    return f"{part:.0f} of {whole:.0f}" if whole else "-"


def _claims(folder, paper):
    """How many claims and identities hold, of those that were checked."""
    claims = read_claims(folder)
    if claims is None:
        return ["-", "-"]
    claims = claims[(claims.paper == paper) | (paper == "all")]
    found = []
    for kind in ("claim", "identity"):
        verdicts = claims.verdict[claims.kind == kind]
        checked = verdicts.isin(["holds", "fails"]).sum()
        found.append(_of((verdicts == "holds").sum(), checked))
    return found


def update_readme(path="README.md", results="results"):
    """Replace the text between the two `MARKERS` in a file by :func:`readme_table`.

    Returns
    -------
    bool
        Whether the file changed. It is left alone when no scoreboard exists.

    Raises
    ------
    ValueError
        If the file does not hold both markers, once each and in order.
    """
    table = readme_table(results)
    if not table:
        return False
    old = Path(path).read_text(encoding="utf-8")
    begin, end = MARKERS
    if old.count(begin) != 1 or old.count(end) != 1 or old.index(begin) > old.index(end):
        raise ValueError(f"{path} must hold the lines {begin!r} and {end!r} once each, in this order")
    head, rest = old.split(begin)
    new = f"{head}{begin}\n{table}\n{end}{rest.split(end)[1]}"
    if new != old:
        write_atomically(Path(path), new.encode())
    return new != old


def _effort(folder):
    """What the computing of a profile took, in words."""
    summary, environment = read_summary(folder), read_environment(folder)
    if not (summary["experiments"] and environment):
        return ""
    jobs = sum(entry["jobs"] for entry in summary["experiments"].values())
    where = f"{environment['cpu']}, {environment['cores']} cores"
    return f", whose {jobs} jobs took {summary['seconds'] / 3600:.1f} hours of one core in all ({where})"


def item_ranges(items):
    """Items in words: {'table1', 'table2', 'figure6', 'map'} is 'Tables 1-2; Figure 6; map'."""
    others = sorted(item for item in items - {"text"} if not re.fullmatch(r"(table|figure)\d+", item))
    parts, others = [], [item_label(item) for item in others]
    for kind in ("table", "figure"):
        numbers = sorted(int(item[len(kind) :]) for item in items if re.fullmatch(kind + r"\d+", item))
        runs = []
        for number in numbers:
            if runs and number == runs[-1][1] + 1:
                runs[-1][1] = number
            else:
                runs.append([number, number])
        if runs:
            text = ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in runs)
            parts.append(f"{kind.capitalize()}{'s' if len(numbers) > 1 else ''} {text}")
    return "; ".join(parts + others)


def main(arguments=None):
    """Command line: print the summary of a profile, or the table for the README."""
    parser = argparse.ArgumentParser(prog="python -m kpca_lab.suite.judge.headline", description=main.__doc__)
    parser.add_argument("--results", default="results", help="folder of the results (default: %(default)s)")
    parser.add_argument("--profile", default="quick", help="profile to summarise (default: %(default)s)")
    parser.add_argument(
        "--readme", action="store_true", help="print the markdown table of what is reproduced"
    )
    parser.add_argument("--update", metavar="FILE", help="put that table between the markers in FILE")
    options = parser.parse_args(arguments)
    if options.update:
        changed = update_readme(options.update, options.results)
        print(f"{options.update}: {'updated' if changed else 'left as it is'}")
    elif options.readme:
        print(readme_table(options.results) or "No scoreboard yet: run `make reproduce-tables` first.")
    else:
        scoreboard = read_scoreboard(Path(options.results) / options.profile)
        if scoreboard is None:
            parser.exit(1, f"no scoreboard in {options.results}/{options.profile}\n")
        print(headline_text(scoreboard), summarise(scoreboard).to_string(), sep="\n\n")


if __name__ == "__main__":
    main()
