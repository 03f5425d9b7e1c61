"""What the report page holds, read as text."""

import base64
import hashlib
import html
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from PIL import Image
from report_profile import make_profile

from kpca_lab.suite.judge.headline import headline_text
from kpca_lab.suite.judge.published import load_published
from kpca_lab.suite.judge.scoreboard import read_scoreboard
from kpca_lab.suite.render import cells, report
from kpca_lab.suite.render.markdown import natural_order, render_notes, slug

VOID = {"meta", "link", "img", "input", "br", "hr"}


class Structure(HTMLParser):
    """Checks that elements are closed in order, and collects ids, links and headings."""

    def __init__(self):
        super().__init__()
        self.open, self.ids, self.links, self.headings, self.images = [], [], [], [], []

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if tag not in VOID:
            self.open.append(tag)
        if "id" in attributes:
            self.ids.append(attributes["id"])
        if tag == "a":
            self.links.append(attributes["href"])
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(int(tag[1]))
        if tag == "img":
            self.images.append(attributes)

    def handle_startendtag(self, tag, attributes):
        pass  # of a drawing

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def profile(tmp_path_factory):
    return make_profile(tmp_path_factory.mktemp("results") / "quick")


@pytest.fixture(scope="module")
def page(profile):
    return report.write_report(profile).read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def structure(page):
    found = Structure()
    found.feed(page)
    assert not found.open
    return found


def test_ids_are_unique_and_inner_links_lead_somewhere(structure):
    assert len(structure.ids) == len(set(structure.ids))
    assert {link[1:] for link in structure.links if link.startswith("#")} <= set(structure.ids)


def test_files_that_are_linked_exist(structure, profile):
    files = [link for link in structure.links if not link.startswith("#")]
    assert files
    assert all((profile / "report" / link).resolve().is_file() for link in files)


def test_headings_never_skip_a_level_downwards(structure):
    assert structure.headings[0] == 1
    assert structure.headings.count(1) == 1
    assert all(after <= before + 1 for before, after in zip(structure.headings, structure.headings[1:]))


def test_nothing_comes_from_elsewhere(profile):
    for page in (profile / "report").glob("*.html"):
        text = html.unescape(page.read_text(encoding="utf-8"))
        assert not re.search(r"""(?:src|href)\s*=\s*["'](?:https?:)?//""", text)
        assert "url(" not in text and "@import" not in text
        assert "default-src 'none'" in text and "unsafe" not in text


def test_the_policy_names_style_and_script_by_their_hashes(page):
    policy = html.unescape(re.search('Policy" content="([^"]*)"', page)[1])
    for tag in ("style", "script"):
        (text,) = re.findall(f"<{tag}>(.*?)</{tag}>", page, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy
    assert not re.search(r"<[^>]* (?:style|on\w+)=", page)


def test_every_published_cell_is_shown_as_printed(page, profile):
    everything = (profile / "report" / "scoreboard.html").read_text(encoding="utf-8")
    assert everything.count("<tr data-paper") == len(load_published())
    on_page = page.split('id="cells"')[1].split("</template>")[0]
    assert on_page.count("<tr data-paper") == len(load_published())
    assert on_page.split("</table>")[0].count("<tr data-paper") == report.PAGE_ROWS
    for text in map(html.unescape, (everything, on_page)):
        assert "1.0025 ± 0.0019" in text
        assert "4.57e-5" in text


def test_every_result_that_was_compared_is_in_the_first_picture(page, profile):
    board = read_scoreboard(profile)
    compared = board[(board.kind == "result") & ~board.verdict.str.startswith("not") & (board.published != 0)]
    drawn = cells.deviations(board)
    assert drawn["cells"] == len(compared) == sum(len(row["dots"]) for row in drawn["rows"])
    picture = page.split('<figure id="deviations">')[1].split("</figure>")[0]
    assert picture.count("<title>") == len(compared)
    exact = [dot["x"] for row in drawn["rows"] for dot in row["dots"] if dot["text"].endswith("(+0 %)")]
    assert exact and set(exact) == {50.0}


@pytest.mark.parametrize("percent", [0.01, 1, 10, 100, 1e6])
def test_deviations_are_drawn_the_same_to_both_sides_and_within_the_picture(percent):
    left, right = cells._place(-percent), cells._place(percent)
    assert 50 - left == pytest.approx(right - 50)
    assert 0 < left < 50 < right < 100


def test_own_runs_are_shown_with_added_methods_and_data_sets(page, profile):
    part = page.split('id="your-runs"')[1].split("</section>")[0]
    assert "my_method" in part and "my_table" in part and "artificial2d" in part
    assert 'href="../custom/mine.csv"' in part and 'href="../custom/mine_table.csv"' in part
    pictures = re.findall('<img src="([^"]+)"', part)
    assert pictures == ["runs/mine-artificial-2d.png", "runs/mine-my-table.png"]
    assert all((profile / "report" / name).is_file() for name in pictures)


def test_a_damaged_file_of_own_runs_is_told_and_the_page_written(tmp_path):
    folder = make_profile(tmp_path / "quick", pictures=False, cells=5)
    (folder / "custom" / "broken.csv").write_text("neither,columns\n1,2\n")
    page = report.write_report(folder).read_text(encoding="utf-8")
    assert 'id="run-broken"' in page and 'id="run-mine"' in page


def test_pages_of_tables_that_are_gone_are_removed(tmp_path):
    folder = make_profile(tmp_path / "quick", pictures=False, cells=5)
    page = report.write_report(folder)
    (old := page.with_name("washizawa2012-gone.html")).write_text("")
    report.write_report(folder)
    assert not old.exists() and page.with_name("washizawa2012-table1_all.html").exists()


def test_only_results_are_counted_and_settings_have_a_column(page, profile):
    board = read_scoreboard(profile)
    rows = cells.scoreboard_rows(board, {})
    for entry in cells.counts(rows, list(report.VERDICTS), ["setting"]):
        own = board[board.paper.eq(entry["paper"]) | (entry["paper"] == "")]
        assert entry["total"] == (own.kind == "result").sum() == sum(entry["numbers"].values())
        judged = own[(own.kind == "setting") & ~own.verdict.str.startswith("not")].verdict
        told = f"{(judged != 'off').sum()} of {len(judged)}" if len(judged) else ""
        assert entry["beside"]["setting"] == told
    assert headline_text(board) in html.unescape(page)
    assert "Settings as printed" in page and "Identities that hold" in page


def test_readings_stand_beside_the_text_as_described(page):
    shown = page.split('id="cells"')[1].split("</template>")[0]
    assert ">chosen of 3</td>" in shown and ">as described</td>" in shown
    tables = page.split('class="table-page"')[1:]
    assert any("<td>as described</td>" in part.split("</table>")[0] for part in tables)


def test_tables_and_figures_name_their_commands(page):
    assert "kpca-lab run +experiment=washizawa2012/table1 profile=quick" in page
    assert "make reproduce-tables PROFILE=quick ONLY=washizawa2012/table1<" in page
    assert "make reproduce-figures PROFILE=quick ONLY=washizawa2012<" in page


def test_run_facts(page):
    for text in (
        "2026-01-02T03:04:05+00:00",
        "Example CPU",
        "0123456789ab",
        "1:15:00 h of computing",
        "numpy",
    ):
        assert text in page
    assert "python -m kpca_lab.datasets fetch usps" in page
    assert "missing of: table3 (usps); table5 (usps)." in page
    assert "MemoryError: too large" in page


def test_text_of_the_files_is_no_markup(page):
    assert "<b>bold</b>" not in page
    assert "&lt;b&gt;bold&lt;/b&gt;" in page


def test_tables_are_in_natural_order(page):
    places = [page.index(f'id="table-washizawa2012-table{number}"') for number in (1, 2, 8)]
    assert places == sorted(places)


def test_what_else_was_computed_comes_last_on_pages_of_its_own(page):
    figure = page.index('id="figure-washizawa2012-figure3"')
    for item in ("table1_all", "figure3"):
        assert page.index(f'<a href="washizawa2012-{item}.html">') > figure


def test_papers_and_tables_are_named_in_words(page):
    shown = page.split('id="cells"')[1].split("</template>")[0]
    assert '<td>Washizawa 2012</td><td><a href="#table-washizawa2012-table1">Table 1</a></td>' in shown
    assert ">Washizawa 2012, Table 1</option>" in page
    assert '<li><a href="#figure-washizawa2012-figure3">Figure 3</a></li>' in page


@pytest.mark.parametrize(
    "item, heading",
    [
        ("figure4", "Figure 4: whole"),
        ("figure4_a", "Figure 4: part"),
        ("figure4_b", "Figure 4 b: whole"),
        ("table2_unit_norm", "Plot of Table 2: unit"),
        ("table2_unit_norm_errors", "Table 2 unit norm errors: unit"),
        ("kernel_time", "time"),
        ("other", "Other"),
    ],
)
def test_figures_have_the_title_that_is_nearest(item, heading):
    names = {"figure4": "whole", "figure4_a": "part", "table2": "yale", "table2_unit_norm": "unit"}
    titles = {("p", name): title for name, title in (names | {"kernel_time": "time"}).items()}
    assert report._heading(titles, "p", item) == heading


def test_every_figure_of_the_papers_has_a_title_of_its_own():
    from kpca_lab.suite.papers import titles

    drawn = Path(__file__).parents[3] / "results" / "paper" / "figures"
    if not drawn.is_dir():
        pytest.skip("the paper profile is not here")
    items = {(path.parent.name, path.stem) for path in drawn.glob("*/*.png")}
    assert items <= set(titles())


def test_names_are_in_natural_order():
    assert sorted(["table10", "table2_all", "table2"], key=natural_order) == [
        "table2",
        "table2_all",
        "table10",
    ]


def test_pictures_are_files_that_load_when_they_come_into_view(structure, profile):
    assert structure.images
    for image in structure.images:
        assert image["loading"] == "lazy" and len(image["alt"]) > 10
        with Image.open(profile / "report" / image["src"]) as picture:
            assert picture.size == (int(image["width"]), int(image["height"]))


def test_same_files_give_the_same_page(profile, page):
    assert report.write_report(profile).read_text(encoding="utf-8") == page


@pytest.mark.parametrize(
    "missing",
    [
        "environment.json",
        "summary.json",
        "scoreboard.csv",
        "claims.csv",
        "tables",
        "figures",
        "records",
        "custom",
    ],
)
def test_missing_parts_leave_a_page(tmp_path, missing):
    folder = make_profile(tmp_path / "quick", pictures=missing == "records", cells=5)
    path = folder / missing
    if path.exists():
        path.rename(tmp_path / "away")
    found = Structure()
    found.feed(report.render_report(folder)["index.html"])
    assert not found.open
    assert {link[1:] for link in found.links if link.startswith("#")} <= set(found.ids)


def test_every_experiment_tells_when_and_with_what_code_it_was_computed(tmp_path):
    folder = make_profile(tmp_path / "quick", pictures=False, cells=5)
    told = {"date": "2026-02-03T04:05:06+00:00", "commit": "fedcba9876543210", "modified": False}
    own = {"jobs": 2, "seconds": 1.0, "command": "c"} | told
    summary = {"seconds": 1.0, "experiments": {"washizawa2012/table1": own}, "skipped": {}}
    (folder / "summary.json").write_text(json.dumps(summary))
    page = report.render_report(folder)["index.html"]
    assert "<dd>2026-02-03 04:05 UTC</dd>" in page and "<dd>commit fedcba987654</dd>" in page


@pytest.mark.parametrize("name", ["summary.json", "environment.json", "scoreboard.csv", "claims.csv"])
@pytest.mark.parametrize("content", ["", "{}", "[]", "\0\0", None], ids=["empty", "{}", "[]", "NULs", "cut"])
def test_a_damaged_file_of_the_profile_is_set_aside_and_the_page_written(tmp_path, name, content, capsys):
    folder = make_profile(tmp_path / "quick", pictures=False, cells=5)
    path = folder / name
    path.write_text(path.read_text()[:-10] if content is None else content)
    assert report.render_report(folder)["index.html"]
    (line,) = capsys.readouterr().err.splitlines()
    assert str(path) in line and not path.exists() and path.with_name(f"{name}.damaged").exists()


@pytest.mark.parametrize(
    "change",
    [
        {"experiments": 3},
        {"experiments": {"a/b": 3}},
        {"experiments": {"a/b": {}}},
        {"skipped": {"a": 1}},
        {"seconds": "x"},
    ],
)
def test_a_summary_of_another_shape_is_set_aside(tmp_path, change, capsys):
    folder = make_profile(tmp_path / "quick", pictures=False, cells=5)
    path = folder / "summary.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    assert report.render_report(folder)["index.html"] and "summary.json" in capsys.readouterr().err


def test_an_empty_profile_says_what_to_run(tmp_path):
    (tmp_path / "smoke").mkdir()
    page = report.write_report(tmp_path / "smoke").read_text(encoding="utf-8")
    assert "make reproduce-tables PROFILE=smoke" in page
    assert "nothing yet" in page


def test_no_profile_is_an_error_that_says_what_to_run(tmp_path, capsys):
    with pytest.raises(FileNotFoundError, match="make reproduce-tables PROFILE=none"):
        report.write_report(tmp_path / "none")
    with pytest.raises(SystemExit) as end:
        report.main([str(tmp_path / "none")])
    assert end.value.code == 1
    assert "make reproduce-tables" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["Table 1", "table1", "table-1"])
def test_slugs_of_one_table_agree(text):
    assert slug(text) == "table-1"


def test_notes_have_ids_tables_and_no_html():
    text = "# P\n\n## Table 1\n\n<script>x</script>\n\n| a | b |\n|---|---|\n| 1 | `2` |\n"
    found = str(render_notes("p", text))
    assert '<h5 id="notes-p-table-1">' in found
    assert "<td>1</td>" in found and 'class="box tall"' in found
    assert "<script>" not in found


def test_notes_neither_lead_nor_load_from_elsewhere():
    text = (
        "![x](https://a.example/x.png) [y](https://a.example/y) <https://a.example/z> [in](#here)\n\n"
        "| a | b |\n|--:|---|\n| ![x](//a.example/x.png) | [y](file:///y) |\n"
    )
    found = str(render_notes("p", text))
    assert "src=" not in found and re.findall('href="([^"]*)"', found) == ["#here"]
    assert "style=" not in found and 'class="number"' in found
