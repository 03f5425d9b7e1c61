"""The report page in a real browser: filters, sorting, keyboard, phone, dark, print, no network."""

import base64
import json
import re
import shutil
from urllib.parse import parse_qs, urlsplit

import pytest
from report_profile import make_profile

from kpca_lab.suite.render import article_tex
from kpca_lab.suite.render.article import write_article
from kpca_lab.suite.render.report import PAGE_ROWS, write_report

selenium = pytest.importorskip("selenium", reason="selenium is not installed")
from selenium import webdriver  # noqa: E402
from selenium.webdriver.chrome.service import Service  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402
from selenium.webdriver.support.ui import Select, WebDriverWait  # noqa: E402

BROWSER = shutil.which("chromium") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")
FLAGS = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--window-size=1200,900",
]

pytestmark = pytest.mark.skipif(
    not (BROWSER and DRIVER), reason="no browser: install Debian's chromium and chromium-driver"
)

VISIBLE = "return [...document.querySelectorAll('#cells tbody tr')]"
# The least contrast of all texts, with its element (colours are opaque, so the first behind it counts).
CONTRAST = """
const part = v => { v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; };
const numbers = text => text.match(/[\\d.]+/g).map(Number);
const light = ([r, g, b]) => 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
const behind = node => {
  for (; node; node = node.parentElement) {
    const color = numbers(getComputedStyle(node).backgroundColor);
    if (color[3] === undefined || color[3] > 0) return color;
  }
  return [255, 255, 255];
};
let least = [99, ""];
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walker.nextNode()) {
  const node = walker.currentNode.parentElement;
  if (!walker.currentNode.data.trim() || !node.checkVisibility() || node.closest("script, style")) continue;
  const [a, b] = [light(numbers(getComputedStyle(node).color)), light(behind(node))];
  const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  if (ratio < least[0]) least = [ratio, node.outerHTML.slice(0, 120)];
}
return least;
"""


@pytest.fixture(scope="module")
def driver(tmp_path_factory):
    options = webdriver.ChromeOptions()
    options.binary_location = BROWSER
    for flag in [*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('browser')}"]:
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    browser = webdriver.Chrome(options=options, service=Service(DRIVER))
    yield browser
    browser.quit()


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    folder = make_profile(tmp_path_factory.mktemp("results") / "quick", cells=60)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(article_tex.shutil, "which", lambda name: None)  # its PDF is tested elsewhere
        write_article(folder)
    return write_report(folder).resolve().as_uri()


@pytest.fixture
def page(driver, address):
    driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": []})
    driver.get("about:blank")  # so that the address with another fragment is loaded anew
    driver.get(f"{address}?cells.rows=all")
    yield driver
    errors = [entry for entry in driver.get_log("browser") if entry["level"] == "SEVERE"]
    assert not errors


def cells(page, column):
    """The texts of a column of the scoreboard, visible rows only."""
    return page.execute_script(f"{VISIBLE}.map(row => row.cells[{column}].textContent.trim())")


def attribute(page, name):
    return page.execute_script(f"{VISIBLE}.map(row => row.dataset.{name})")


def field(page, name, form="filter-cells"):
    return page.find_element(By.CSS_SELECTOR, f"#{form} [name={name}]")


def head(page, name):
    return page.find_element(By.XPATH, f"//table[@id='cells']//th[button='{name}']")


def show_all_rows(page):
    Select(field(page, "rows")).select_by_value("all")


def phone(page, width):
    size = {"width": width, "height": 800, "deviceScaleFactor": 2, "mobile": True}
    page.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    page.refresh()


def choose_scheme(page, scheme):
    feature = {"name": "prefers-color-scheme", "value": scheme}
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})


def test_filters_by_verdict_and_says_how_many(page):
    everything = len(cells(page, 0))
    Select(field(page, "verdict")).select_by_value("off")
    shown = attribute(page, "verdict")
    assert set(shown) == {"off"}
    assert page.find_element(By.ID, "cells-count").text == f"{len(shown)} of {everything} rows"


def test_filters_add_up_and_can_be_undone(page):
    everything = len(cells(page, 0))
    Select(field(page, "paper")).select_by_value("washizawa2012")
    Select(field(page, "table")).select_by_value("washizawa2012/table1")
    field(page, "text").send_keys("K-means nyström")
    shown = page.execute_script(f"{VISIBLE}.map(row => row.textContent.toLowerCase())")
    assert len(shown) == 2
    assert all("table 1" in text and "k-means" in text and "nyström" in text for text in shown)
    page.find_element(By.CSS_SELECTOR, "#filter-cells [type=reset]").click()
    # the page filters again only after the form has been emptied
    told = f"{everything} of {everything} rows"
    WebDriverWait(page, 10).until(lambda page: page.find_element(By.ID, "cells-count").text == told)


def test_paper_narrows_the_tables_on_offer(page):
    Select(field(page, "table")).select_by_value("washizawa2012/table1")
    Select(field(page, "paper")).select_by_value("chin2006")
    assert field(page, "table").get_property("value") == ""
    offered = [option for option in Select(field(page, "table")).options if option.is_enabled()]
    assert {option.get_attribute("value").partition("/")[0] for option in offered} == {"", "chin2006"}
    assert set(cells(page, 0)) == {"Chin & Suter 2006"}


@pytest.mark.parametrize("key", [None, Keys.ENTER, Keys.SPACE], ids=["mouse", "enter", "space"])
def test_sorts_by_numbers_with_empty_cells_last(page, key):
    button = head(page, "Ours").find_element(By.TAG_NAME, "button")
    press = button.click if key is None else lambda: button.send_keys(key)
    for direction in ("ascending", "descending"):
        press()
        assert head(page, "Ours").get_attribute("aria-sort") == direction
        keys = page.execute_script(f"{VISIBLE}.map(row => row.cells[6].dataset.sort)")
        filled = [float(text) for text in keys if text]
        assert "" in keys and keys.index("") == len(filled)
        assert filled == sorted(filled, reverse=direction == "descending")
    assert len(page.find_elements(By.CSS_SELECTOR, "#cells [aria-sort]")) == 1


def test_sorts_verdicts_by_rank_and_keeps_the_filter(page):
    Select(field(page, "paper")).select_by_value("zhang2010")
    head(page, "Verdict").find_element(By.TAG_NAME, "button").click()
    order = ["exact", "consistent", "close", "off", "not_comparable", "not_run"]
    ranks = [order.index(verdict) for verdict in attribute(page, "verdict")]
    assert ranks == sorted(ranks)
    assert set(attribute(page, "paper")) == {"zhang2010"}


def test_segment_of_a_bar_chooses_paper_and_verdict(page):
    segment = page.find_element(By.CSS_SELECTOR, "a[data-paper=zhang2010][data-verdict=off]")
    number = int(segment.get_attribute("title").split(": ")[1].split()[0])
    segment.send_keys(Keys.ENTER)
    show_all_rows(page)
    assert page.current_url.endswith("#scoreboard")
    page.execute_async_script("setTimeout(arguments[0], 50)")
    assert set(zip(attribute(page, "paper"), attribute(page, "verdict"))) == {("zhang2010", "off")}
    assert len(cells(page, 0)) == number


def test_the_scoreboard_comes_in_pages(page, address):
    everything = [tuple(row) for row in zip(cells(page, 2), cells(page, 3), cells(page, 5))]
    page.get(address)
    seen = []
    while True:
        shown = [tuple(row) for row in zip(cells(page, 2), cells(page, 3), cells(page, 5))]
        assert len(shown) <= PAGE_ROWS
        seen += shown
        following = page.find_element(By.XPATH, "//p[@id='cells-pages']/button[.='Next']")
        if not following.is_enabled():
            break
        page.execute_script("arguments[0].click()", following)
    assert seen == everything and len(seen) > 2 * PAGE_ROWS


def test_the_address_keeps_filters_order_and_page(page, address):
    page.get(address)
    Select(field(page, "kind")).select_by_value("setting")
    button = head(page, "Ours").find_element(By.TAG_NAME, "button")
    for _ in range(2):
        button.send_keys(Keys.ENTER)
    following = page.find_element(By.XPATH, "//p[@id='cells-pages']/button[.='Next']")
    page.execute_script("arguments[0].click()", following)
    Select(field(page, "verdict", "filter-claims")).select_by_value("fails")
    kept = parse_qs(urlsplit(page.current_url).query)
    assert kept == {
        "cells.kind": ["setting"],
        "cells.sort": ["-7"],
        "cells.page": ["2"],
        "claims-table.verdict": ["fails"],
    }
    before = cells(page, 6)
    sent = page.current_url
    page.get("about:blank")
    page.get(sent)
    assert cells(page, 6) == before and set(attribute(page, "kind")) == {"setting"}
    assert head(page, "Ours").get_attribute("aria-sort") == "descending"
    assert page.find_element(By.ID, "claims-table-count").text == "1 of 3 rows"


def test_an_address_that_makes_no_sense_shows_everything(page, address):
    everything = len(cells(page, 0))
    page.get(f"{address}?cells.rows=all&cells.verdict=wrong&cells.sort=99&cells.page=-7&other=1")
    assert len(cells(page, 0)) == everything


def test_counts_choose_paper_and_verdict_too(page):
    count = page.find_element(By.CSS_SELECTOR, "td.number a[data-paper=zhang2010][data-verdict=exact]")
    number = int(count.text)
    count.send_keys(Keys.ENTER)
    show_all_rows(page)
    page.execute_async_script("setTimeout(arguments[0], 50)")
    assert set(zip(attribute(page, "paper"), attribute(page, "verdict"))) == {("zhang2010", "exact")}
    assert len(cells(page, 0)) == number


def test_claims_are_filtered_apart_from_the_cells(page):
    Select(field(page, "verdict", "filter-claims")).select_by_value("fails")
    assert page.find_element(By.ID, "claims-table-count").text == "1 of 3 rows"
    assert len(set(attribute(page, "verdict"))) > 1


def test_link_of_a_cell_that_is_off_opens_the_notes(page):
    notes = page.find_element(By.ID, "notes-washizawa2012")
    assert not notes.get_property("open")
    Select(field(page, "verdict")).select_by_value("off")
    page.find_element(By.CSS_SELECTOR, "#cells a[href^='#notes-washizawa2012']").send_keys(Keys.ENTER)
    page.execute_async_script("setTimeout(arguments[0], 50)")
    assert notes.get_property("open")


def test_keyboard_reaches_content_and_filters(page):
    page.switch_to.active_element.send_keys(Keys.TAB)
    skip = page.switch_to.active_element
    assert skip.text == "Skip to the content" and skip.is_displayed()
    skip.send_keys(Keys.ENTER)
    assert page.switch_to.active_element.get_attribute("id") == "main"
    for _ in range(60):
        page.switch_to.active_element.send_keys(Keys.TAB)
        if page.switch_to.active_element.get_attribute("name") == "text":
            break
    page.switch_to.active_element.send_keys("pivotless nonsense")
    assert cells(page, 0) == []
    outline = page.execute_script("return getComputedStyle(document.activeElement).outlineStyle")
    assert outline != "none"


def test_nothing_is_asked_of_the_network(driver, address):
    driver.get_log("performance")
    driver.get("about:blank")
    driver.get(address)
    driver.execute_script("document.querySelectorAll('details').forEach(node => { node.open = true; })")
    messages = [json.loads(entry["message"])["message"] for entry in driver.get_log("performance")]
    asked = [m["params"]["request"]["url"] for m in messages if m["method"] == "Network.requestWillBeSent"]
    assert address in asked
    assert all(url.startswith(("file:", "data:")) for url in asked)


def test_pictures_load_when_they_come_into_view(page):
    page.execute_script("document.images[document.images.length - 1].scrollIntoView()")
    last = "return document.images[document.images.length - 1].naturalWidth"
    WebDriverWait(page, 10).until(lambda page: page.execute_script(last) > 0)
    page.execute_script("for (const image of document.images) image.loading = 'eager'")
    loaded = "return [...document.images].every(image => image.complete)"
    WebDriverWait(page, 10).until(lambda page: page.execute_script(loaded))
    widths = page.execute_script("return [...document.images].map(image => image.naturalWidth)")
    assert widths and all(width > 0 for width in widths)


@pytest.mark.parametrize("width", [320, 390, 768, 1400])
def test_narrow_screens_need_no_sideways_scrolling(page, width):
    phone(page, width)
    page.execute_script("document.querySelectorAll('details').forEach(node => { node.open = true; })")
    assert page.execute_script("return document.documentElement.scrollWidth") <= width
    wide = page.execute_script("""
        const beyond = node => node.getBoundingClientRect().right > innerWidth + 1;
        const out = node => beyond(node) && !node.closest('.box, pre, svg');
        return [...document.querySelectorAll('main *')].filter(out).map(node => node.outerHTML)""")
    assert wide == []


def test_the_summary_needs_no_scrolling_on_a_wide_screen(page):
    size = {"width": 1400, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    page.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    hidden = (
        "return [...document.querySelectorAll('.box:has(.bars)')].map(b => b.scrollWidth - b.clientWidth)"
    )
    assert page.execute_script(hidden) == [0, 0]


@pytest.mark.parametrize("width", [390, 1400])
def test_the_article_fits_the_screen(page, address, width):
    article = address.replace("index.html", "article.html")
    page.get(article)
    phone(page, width)
    assert page.execute_script("return document.documentElement.scrollWidth") <= width
    assert page.execute_script("return document.images.length && document.images[0].naturalWidth") > 0


def test_a_phone_reaches_every_section(page):
    phone(page, 390)
    contents = page.find_element(By.CSS_SELECTOR, "nav.contents summary")
    last = page.find_element(By.CSS_SELECTOR, "nav.contents a[href='#environment']")
    page.execute_script("scrollTo(0, 5000)")
    assert contents.is_displayed() and not last.is_displayed()
    contents.click()
    assert last.is_displayed()
    last.click()
    assert page.current_url.endswith("#environment") and not last.is_displayed()
    page.execute_async_script("setTimeout(arguments[0], 50)")
    top = "return document.getElementById('environment').getBoundingClientRect().top"
    assert 0 < page.execute_script(top) < 800


def test_a_phone_shows_figures_whole_and_numbers_in_view(page):
    phone(page, 390)
    out = page.execute_script("""
        const numbers = [...document.querySelectorAll('#cells td.number, .bars td.number')];
        const rows = [...document.querySelectorAll('.printed tbody tr')];
        const first = rows.map(row => row.querySelector('.number'));
        const beyond = node => node && node.getBoundingClientRect().left > innerWidth - 40;
        const cut = image => image.getBoundingClientRect().right > innerWidth;
        return [[...numbers, ...first].filter(beyond).length, [...document.images].filter(cut).length]""")
    assert out == [0, 0]


def test_figures_are_as_wide_as_the_page(page):
    size = {"width": 1400, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    page.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    widths = page.execute_script("""
        const wide = [...document.images].filter(image => image.getAttribute('width') >= 1400);
        return wide.map(image => image.getBoundingClientRect().width)""")
    content = page.execute_script("return document.querySelector('main h2').getBoundingClientRect().width")
    assert widths and all(width > content - 30 for width in widths)


def test_no_other_script_or_style_is_obeyed(page):
    page.execute_script("""
        document.body.insertAdjacentHTML('beforeend',
          '<p id="probe" style="color: rgb(1, 2, 3)" onclick="window.obeyed = 1">x</p>');
        document.getElementById('probe').click();
        const script = document.createElement('script');
        script.textContent = 'window.obeyed = 2';
        document.body.append(script);""")
    color = "return getComputedStyle(document.getElementById('probe')).color"
    assert page.execute_script(color) != "rgb(1, 2, 3)"
    assert page.execute_script("return window.obeyed") is None
    refused = [entry["message"] for entry in page.get_log("browser")]
    assert len(refused) == 3 and all("Content Security Policy" in message for message in refused)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_texts_have_enough_contrast(page, scheme):
    choose_scheme(page, scheme)
    page.execute_script("document.querySelectorAll('details').forEach(node => { node.open = true; })")
    ratio, where = page.execute_script(CONTRAST)
    assert ratio >= 4.5, where


def test_dark_and_light_differ(page):
    colors = []
    for scheme in ("light", "dark"):
        choose_scheme(page, scheme)
        colors.append(page.execute_script("return getComputedStyle(document.body).backgroundColor"))
    assert colors[0] == "rgb(255, 255, 255)" != colors[1]


def test_print_shows_everything_but_the_controls(page):
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    for selector in ("nav.contents", ".filters", ".copy", "#cells"):
        assert not page.find_element(By.CSS_SELECTOR, selector).is_displayed()
    within = "return document.querySelector('#notes-washizawa2012 .notes').getBoundingClientRect().height"
    assert page.execute_script(within) > 100
    clipping = page.execute_script(
        "return [...document.querySelectorAll('.box')].map(node => getComputedStyle(node).overflowX)"
    )
    assert set(clipping) == {"visible"}


def test_printing_opens_what_is_closed_and_closes_it_again(page):
    page.execute_script("""
        const count = () => { window.during = document.querySelectorAll('details:not([open])').length; };
        addEventListener('beforeprint', count);""")
    closed = len(page.find_elements(By.CSS_SELECTOR, "details:not([open])"))
    assert closed > 0
    printed = page.execute_cdp_cmd("Page.printToPDF", {})["data"]
    assert 3 < len(re.findall(rb"/Type */Page\b", base64.b64decode(printed))) < 40
    assert page.execute_script("return window.during") == 0
    assert len(page.find_elements(By.CSS_SELECTOR, "details:not([open])")) == closed
