"""The report's page in a real browser: no script error, each number is the table's, each bar opens its jobs."""

from __future__ import annotations

import csv
import shutil
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from assistant.cli import main
from bench.job_logs import make

webdriver = pytest.importorskip("selenium.webdriver", reason="needs selenium")
CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
pytestmark = [
    pytest.mark.skipif(
        not (CHROMIUM and DRIVER), reason="chromium and chromedriver not found: install chromium-driver"
    ),
    pytest.mark.xdist_group("browser"),
]
PHONE, DESK = 390, 1280


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page of 600 jobs, and its table as CSV."""
    made = tmp_path_factory.mktemp("report")
    make(made, 600, seed=3)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MAPLE_CHAT_DATA", str(made / "data"))
        command = ["report", str(made / "logs"), "--accounting", str(made / "accounting.txt"), "--dask", "no"]
        assert main([*command, "-o", str(made / "page.html"), "--table", str(made / "all.csv")]) == 0
    return made


@pytest.fixture(scope="module")
def browser(folder: Path) -> Iterator[Any]:
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service

    options = Options()
    options.binary_location = CHROMIUM or ""
    for word in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"):
        options.add_argument(word)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(DRIVER))
    try:
        yield driver
    finally:
        driver.quit()


@pytest.fixture
def page(browser: Any, folder: Path) -> Any:
    """The page as a desk's screen shows it, freshly loaded."""
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    browser.set_window_size(DESK, 1000)
    browser.get("about:blank")
    browser.get_log("browser")  # what an earlier test left
    browser.get((folder / "page.html").as_uri())
    return browser


# Of each bar: what it claims, what the rows of its table say, and how many jobs its click lists.
MARKS = """
return [...document.querySelectorAll("svg.figure .mark")].map((mark) => {
  const figure = mark.closest("svg"), name = figure.dataset.table, column = Number(figure.dataset.column);
  const rows = mark.dataset.rows.split(",").map(Number);
  const cells = rows.map((row) => document.querySelector(`table[data-table="${name}"] tr[data-row="${row}"]`).cells);
  mark.dispatchEvent(new MouseEvent("click", {bubbles: true}));
  const sum = (place) => cells.reduce((total, row) => total + Number(row[place].textContent.replaceAll(",", "")), 0);
  const heads = [...document.querySelectorAll(`table[data-table="${name}"] th`)].map((head) => head.textContent);
  return {name, column, head: heads[column], says: mark.querySelector("title").textContent,
    value: Number(mark.dataset.value), table: sum(column), jobs: sum(heads.indexOf("Failed jobs")),
    listed: Number(document.getElementById("jobs").dataset.count), width: Number(mark.getAttribute("width")),
    height: Number(mark.getAttribute("height"))};
});
"""


CELLS = """
return [...document.querySelectorAll(`table[data-table="${arguments[0]}"] tbody tr`)].map((row) =>
  [...row.cells].map((cell) => cell.textContent));
"""


def test_every_figure_says_what_its_table_says_and_opens_those_jobs(page: Any) -> None:
    marks = page.execute_script(MARKS)
    by_figure: dict[tuple[str, int], list[dict[str, Any]]] = defaultdict(list)
    for mark in marks:
        by_figure[mark["name"], mark["column"]].append(mark)
        assert mark["value"] == pytest.approx(mark["table"]), mark
        assert mark["listed"] == mark["jobs"] > 0, mark
    assert {"days", "causes", "nodes", "lengths", "queues", "frameworks", "groups", "checks"} == {
        n for n, _ in by_figure
    }
    for (name, _), same in by_figure.items():
        size = "height" if name == "days" else "width"
        longest = max(same, key=lambda mark: mark["value"])
        for mark in same:  # the bars' lengths are in proportion too; the shortest is still to be seen
            expected = longest[size] * mark["value"] / longest["value"]
            assert mark[size] == pytest.approx(max(expected, 0 if name == "days" else 1), abs=0.2), mark


# Of each row of a table, and each number of the first screen: what it says, and how many jobs its click lists.
ROWS = """
return [...document.querySelectorAll(`tr[data-row], li[data-rows]`)].map((row) => {
  row.click();
  const table = row.closest("[data-table]"), heads = [...table.querySelectorAll("th")].map((head) => head.textContent);
  const place = ["Failed jobs", "Last 7 days"].map((head) => heads.indexOf(head)).find((at) => at >= 0);
  const says = row.cells ? row.cells[place].textContent : row.textContent;
  const panel = document.getElementById("jobs"), jobs = [...panel.querySelectorAll("tbody tr")];
  const one = (head) => [...new Set(jobs.map((job) => job.querySelector(`[data-head="${head}"]`).textContent))];
  return {name: row.cells ? table.dataset.table : "headline", first: (row.cells || [row])[0].textContent, says,
    listed: Number(panel.dataset.count), causes: one("Cause"), lines: one("Line"), ids: one("Job")};
});
"""


def test_each_row_and_number_opens_the_jobs_that_it_counts(page: Any, folder: Path) -> None:
    with (folder / "all.csv").open(newline="") as file:
        jobs = {row["job"]: row for row in csv.DictReader(file)}
    failed = [row for row in jobs.values() if row["failed"] == "True"]
    rows: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in page.execute_script(ROWS):
        rows[row["name"]].append(row)
        if row["name"] != "headline":
            assert row["listed"] == int(row["says"].replace(",", "")), row
    assert {"causes", "days", "lengths", "nodes", "new", "unknown", "checks", "by_node", "queues", "users"} <= set(rows)
    lost, unknown = [row for row in rows["headline"] if "unknown" not in row["says"]], rows["headline"][-1]
    assert [row["listed"] for row in lost] == [len(failed)] * 2
    assert unknown["listed"] == sum(row["cause"] == "unknown" for row in failed) and unknown["causes"] == ["unknown"]
    for row in rows["new"]:  # a cause that came up in the last week, and the jobs of that week only
        assert row["causes"] == [row["first"]]
    for row in rows["unknown"]:  # one example each, which is one of the jobs behind it
        assert row["causes"] == ["unknown"] and row["first"] in row["lines"]
    for row in rows["checks"]:  # each job behind a rule has a script that breaks it
        assert all(row["first"] in jobs[job]["checks"].split() for job in row["ids"])


def test_the_tables_are_those_of_the_file(page: Any, folder: Path) -> None:
    with (folder / "all.csv").open(newline="") as file:
        failed = [row for row in csv.DictReader(file) if row["failed"] == "True"]
    properties = {"causes": "cause", "queues": "queue", "frameworks": "framework", "groups": "account", "users": "user"}
    for table, column in {**properties, "by_node": "nodes"}.items():
        shown = page.execute_script(CELLS, table)
        lost: dict[str, float] = defaultdict(float)
        counts: Counter[str] = Counter()
        for row in failed:
            for value in row[column].split() or ["not told"]:
                counts[value] += 1
                lost[value] += float(row["gpu_hours"])
        named = [row for row in shown if not row[0].endswith(" others")]
        assert {row[0]: int(row[1]) for row in named}.items() <= counts.items(), table
        assert len(named) == len(counts) or (len(named) == 40 and len(shown) == 41), table
        for row in named:
            assert float(row[3].replace(",", "")) == pytest.approx(lost[row[0]], abs=0.051)


def test_no_script_fails_and_nothing_is_fetched(page: Any, folder: Path) -> None:
    page.execute_script(MARKS)
    told = [entry for entry in page.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]
    assert told == []
    sent = [
        entry["message"] for entry in page.get_log("performance") if "Network.requestWillBeSent" in entry["message"]
    ]
    assert not [message for message in sent if '"url":"http' in message]
    assert "http" not in (folder / "page.html").read_text().replace("http-equiv", "")


def test_a_row_and_a_link_open_their_jobs_and_the_list_goes_on(page: Any, folder: Path) -> None:
    page.execute_script('document.querySelector(`table[data-table="causes"] tr[data-row="0"]`).click()')
    count = int(page.execute_script('return document.getElementById("jobs").dataset.count'))
    rows = 'return document.querySelectorAll("#jobs tbody tr").length'
    assert page.execute_script(rows) == min(100, count)
    while page.execute_script('return !document.getElementById("more").hidden'):
        page.execute_script('document.getElementById("more").click()')
    assert page.execute_script(rows) == count
    assert page.current_url.endswith("#causes=0")
    heading = 'return document.querySelector("#jobs h2").textContent'
    says = page.execute_script(heading)
    page.get("about:blank")
    page.get((folder / "page.html").as_uri() + "#causes=0")
    assert page.execute_script(heading) == says, "who is sent the link is told what it shows"
    assert int(page.execute_script('return document.getElementById("jobs").dataset.count')) == count
    page.get("about:blank")
    page.get((folder / "page.html").as_uri() + "#causes=99999")
    assert page.execute_script('return document.getElementById("jobs").hidden')


def test_the_keyboard_opens_a_bar(page: Any) -> None:
    from selenium.webdriver.common.keys import Keys

    mark = page.find_element("css selector", "svg.figure .mark")
    mark.send_keys(Keys.ENTER)
    assert page.find_element("id", "jobs").is_displayed()
    page.find_element("id", "close").click()
    assert not page.find_element("id", "jobs").is_displayed()


@pytest.mark.parametrize("width", [360, PHONE, DESK])
def test_nothing_stands_beyond_the_screen(page: Any, width: int) -> None:
    metrics = {"width": width, "height": 800, "deviceScaleFactor": 2, "mobile": width < DESK}
    page.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    page.execute_script(
        'document.querySelector("svg.figure .mark").dispatchEvent(new MouseEvent("click", {bubbles: true}))'
    )
    assert page.execute_script("return document.documentElement.scrollWidth <= window.innerWidth")
    smallest = page.execute_script(
        "return Math.min(...[...document.querySelectorAll('svg.figure text')].map((text) =>"
        " Number(text.getAttribute('font-size')) * text.getScreenCTM().a))"
    )
    assert smallest >= 9  # pixels of the page: small, and readable on a phone's screen


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_light_and_dark_are_readable(page: Any, scheme: str) -> None:
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    style = "return getComputedStyle(document.querySelector(arguments[0]))[arguments[1]]"
    paper, ink = (page.execute_script(style, "body", name) for name in ("backgroundColor", "color"))
    assert (luminance(paper) > 0.5) is (scheme == "light")
    assert contrast(paper, ink) > 7
    card = page.execute_script(style, ".card", "backgroundColor")
    assert contrast(card, page.execute_script(style, "svg text.pale", "fill")) > 4.5
    for number in range(8):
        assert contrast(card, page.execute_script(style, f"svg .c{number}", "fill")) > 1.9


def luminance(colour: str) -> float:
    """Of `rgb(r, g, b)`, as WCAG 2 reckons it."""
    parts = [int(part) / 255 for part in colour[colour.index("(") + 1 : -1].split(",")[:3]]
    red, green, blue = (part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)
