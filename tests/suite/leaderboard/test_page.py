"""The files that a leaderboard ends in, and its page in a real browser."""

import json
import re
import shutil
from urllib.parse import parse_qs, urlsplit

import pandas as pd
import pytest
from made_up import made_up_table

from kpca_lab.suite.leaderboard.publish import publish
from kpca_lab.suite.leaderboard.words import MARKERS, update_readme

RULES = {"n_basis": [50, 150], "n_components": 10}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("leaderboard")
    publish(folder, made_up_table(), "quick", RULES, "make leaderboard PROFILE=quick")
    return folder


def test_all_files_are_there(folder):
    tables = {f"{name}.csv" for name in ("leaderboard", "summary", "pairs", "fronts")}
    figures = {"aggregate.png", "profiles.png", "fronts.png"}
    assert {path.name for path in folder.iterdir()} >= tables | figures | {"index.html"}
    assert "subset / kmeans" in (folder / "summary_150.md").read_text()
    assert set(pd.read_csv(folder / "summary.csv")["m"]) == {50, 150}


def test_the_page_loads_nothing_and_runs_its_own_script_only(folder):
    page = (folder / "index.html").read_text()
    policy = re.search('Content-Security-Policy" content="([^"]+)"', page)[1]
    assert "default-src &#39;none&#39;" in policy and policy.count("sha256-") == 2 and "unsafe" not in policy
    assert not re.search(r"(src|href)=\"(https?:)?//", page)
    data = json.loads(re.search(r'id="data">(.*?)</script>', page, re.DOTALL)[1])
    assert [entry["name"] for entry in data["datasets"]] == ["all", "ida/four", "one", "three", "two"]
    assert len({len(row) for row in data["rows"]}) == 1


def test_the_readme_changes_between_its_markers_only(tmp_path):
    path = tmp_path / "README.md"
    path.write_text(f"before\n{MARKERS[0]}\nold \\1\n{MARKERS[1]}\nafter\n")
    assert update_readme(path, "a.png", ["One \\g<0>.", "Two."], "From here.")
    text = path.read_text()
    assert text.startswith("before\n") and text.endswith("after\n") and "old" not in text
    assert "- One \\g<0>.\n- Two.\n\nFrom here." in text
    assert not update_readme(path, "a.png", ["One \\g<0>.", "Two."], "From here.")
    path.write_text("no markers")
    assert not update_readme(path, "a.png", [], "") and path.read_text() == "no markers"


BROWSER, DRIVER = shutil.which("chromium") or shutil.which("google-chrome"), shutil.which("chromedriver")
needs_browser = pytest.mark.skipif(not (BROWSER and DRIVER), reason="no browser with its driver")


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    webdriver = pytest.importorskip("selenium.webdriver")
    options = webdriver.ChromeOptions()
    options.binary_location = BROWSER
    for flag in (
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--no-first-run",
    ):
        options.add_argument(flag)
    options.add_argument(f"--user-data-dir={tmp_path_factory.mktemp('browser')}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    yield driver
    driver.quit()


CHOOSE = """
const field = document.querySelector(`#choose [name=${arguments[0]}]`);
field.value = arguments[1];
field.dispatchEvent(new Event("input", { bubbles: true }));
"""
TEXTS = "return [...document.querySelectorAll(arguments[0])].map(node => node.textContent)"


@needs_browser
def test_choices_change_what_is_drawn_and_are_in_the_address(browser, folder):
    address = (folder / "index.html").resolve().as_uri()
    browser.get(address)
    assert len(browser.execute_script(TEXTS, "#values tbody tr")) == 5  # one size, all entrants
    browser.execute_script(CHOOSE, "data", "ida/four")
    assert len(browser.execute_script(TEXTS, "#chart circle")) == 9
    browser.execute_script(CHOOSE, "find", "subset")
    browser.execute_script(CHOOSE, "x", "m")
    browser.execute_script("document.querySelectorAll('#values th button')[0].click()")
    asked = parse_qs(urlsplit(browser.current_url).query)
    assert asked == {
        "data": ["ida/four"],
        "find": ["subset"],
        "x": ["m"],
        "sort": ["entrant"],
        "y": asked["y"],
    }
    seen = browser.execute_script(TEXTS, "#values tbody tr")
    assert len(seen) == 4 and "kmeans" in seen[0]
    browser.get(browser.current_url)
    assert browser.execute_script(TEXTS, "#values tbody tr") == seen
    browser.get(f"{address}?data=gone&x=gone&y=gone&size=7")  # an address may name what is not there
    assert len(browser.execute_script(TEXTS, "#values tbody tr")) == 5
    assert not [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"]


@needs_browser
def test_a_point_tells_its_values_and_a_phone_has_room_for_all(browser, folder):
    size = {"width": 390, "height": 800, "deviceScaleFactor": 2, "mobile": True}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    browser.get(f"{(folder / 'index.html').resolve().as_uri()}?data=one")
    told = browser.execute_script(
        "document.querySelector('#chart circle').dispatchEvent(new Event('focus'));"
        "const tip = document.getElementById('tip'); return tip.hidden ? '' : tip.textContent"
    )
    assert "error outside the scores: 0.1" in told and "fit [s]" in told
    assert browser.execute_script("return document.documentElement.scrollWidth") <= 390
    assert not [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"]
