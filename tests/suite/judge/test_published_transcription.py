"""The transcription against the texts of the papers, where these are at hand.

Every table of the text is compared line by line: the numbers of a line must be exactly the numbers of
the row's label and cells, in order, with the same digits.
"""

import os
import re
from decimal import Decimal
from pathlib import Path

import pytest

from kpca_lab.suite.judge.published import load_published
from kpca_lab.suite.papers import papers

BESIDE = Path(__file__).parents[4] / "shared" / "papers"
FOLDER = os.environ.get("KPCA_LAB_PAPERS") or (BESIDE if BESIDE.is_dir() else None)
pytestmark = pytest.mark.skipif(
    not FOLDER, reason="set KPCA_LAB_PAPERS to the folder with the papers' texts to check the transcription"
)

# a header line of a table; the tables follow one another in the text in the order of their numbers
HEADERS = {
    "washizawa2012": r"Sample selection\t|dataset\t|Method\t|σ\t|р\t",
    "zhang2010": r"Dataset\t",
    "chin2006": r"Vectors\t|Algorithm\t",
}
NUMBER = re.compile(r"\d+(?:,\d{3})+|\d+(?:\.\d+)?(?:e[-–]\d+)?")
TRAILING = "trailing zeros dropped in print"
WORDS = {"zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "eight": 8}


def read(paper):
    (path,) = Path(FOLDER).glob(f"{paper}*.txt")
    return path.read_text(encoding="utf-8")


def numbers(text):
    """The numbers of a text with the digits after the point, e.g. [(0.67, 2), (10000.0, 0)]."""
    found = [Decimal(token.replace(",", "").replace("–", "-")) for token in NUMBER.findall(text)]
    return [(float(number), max(0, -number.as_tuple().exponent)) for number in found]


def numbers_of_sentence(text):
    """The same for a sentence, where there are also powers of ten, negative numbers and words."""
    text = re.sub(r"\\times 10\^\{-(\d+)\}", r"e-\1", text)
    text = re.sub(r"10\^\{-(\d+)\}", r"1e-\1", text)
    for word, digit in WORDS.items():
        text = re.sub(rf"\b{word}\b", str(digit), text, flags=re.IGNORECASE)
    negative = numbers(" ".join(re.findall(r"(?<=[\[({ ])-(\d+(?:\.\d+)?)", text)))
    return numbers(text) + [(-value, decimals) for value, decimals in negative]


def blocks(paper):
    """(header, body lines) of every table of the text, by name."""
    lines = read(paper).splitlines()
    starts = [i for i, line in enumerate(lines) if re.match(HEADERS[paper], line)]
    found = {}
    for number, start in enumerate(starts, 1):
        end = next(i for i in range(start, len(lines)) if not lines[i].strip())
        found[f"table{number}"] = lines[start], lines[start + 1 : end]
    return found


def printed(cell):
    """The numbers that a cell of the data files stands for."""
    if cell.flag == "lost":
        return []
    decimals = cell.decimals
    if TRAILING in cell.note:
        decimals = len(repr(cell.value).rstrip("0").partition(".")[2])
    deviation = [] if cell.sd != cell.sd else [(cell.sd, decimals)]
    return [(cell.value, decimals), *deviation]


@pytest.mark.parametrize("paper", list(HEADERS))
def test_the_text_has_the_tables_of_the_data_file(paper):
    cells = load_published(paper)
    assert set(blocks(paper)) == set(cells.table) - {"text"}


TABLES = [
    (paper, table) for paper in HEADERS for table in load_published(paper).table.unique() if table != "text"
]


@pytest.mark.parametrize(("paper", "table"), TABLES)
def test_every_number_of_a_table_is_transcribed_and_none_added(paper, table):
    header, body = blocks(paper)[table]
    cells = load_published(paper).query("table == @table")
    assert numbers(header) == [number for label in cells.column.unique() for number in numbers(label)]
    assert len(body) == cells.row.nunique()
    for line, (label, row) in zip(body, cells.groupby("row", sort=False)):
        if "damaged" in set(row.flag):
            # the label is lost: a stroke may be read as a digit
            line = "\t" + line.partition("\t")[2]
        elif word := re.findall(r"[A-Za-z]+", label.removesuffix(" vectors")):
            assert word[-1] in line
        assert numbers(line) == numbers(label) * ("damaged" not in set(row.flag)) + [
            number for cell in row.itertuples() for number in printed(cell)
        ]


@pytest.mark.parametrize("paper", list(papers()))
def test_numbers_from_sentences_stand_in_their_quotation(paper):
    text = " ".join(read(paper).split())
    for cell in load_published(paper).query("table == 'text' and flag != 'fitted'").itertuples():
        quotation = re.search(r'text: "(.*)"$', cell.note).group(1)
        assert quotation in text
        assert (cell.value, cell.decimals) in numbers_of_sentence(quotation), cell.column
