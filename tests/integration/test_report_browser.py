"""The page in a real browser: what it draws is what SQL says, nothing fails, nothing is fetched."""

from __future__ import annotations

import html
import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import example_run
import pytest

from rlscope.commands.report import write_report
from rlscope.load import Trace, load
from rlscope.report import layers, units, views

webdriver = pytest.importorskip("selenium.webdriver")
CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
CHROMEDRIVER = shutil.which("chromedriver")
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(
        not (CHROMIUM and CHROMEDRIVER), reason="chromium and chromedriver are not installed"
    ),
]

CHARTS = [
    "operations-chart",
    "gpu-chart",
    "cuda-chart",
    "kernel-chart",
    "timeline-chart",
    "iterations-chart",
    "processes-chart",
    "machine-chart",
]
_VIEW = re.compile(r'<script type="application/json">(.*?)</script>', re.DOTALL)

# Every bar that is in the picture: series, name, exact ns of its data, and ns by its width.
_BARS = """
const chart = document.querySelector(`#${arguments[0]} .chart`);
const axis = chart._fullLayout.xaxis;
const unit = (axis.range[1] - axis.range[0]) / axis._length;
return [...chart.querySelectorAll(".bars .point > path")].map((path) => {
  const trace = path.closest(".trace").__data__[0].trace;
  const index = path.parentNode.__data__.i;
  return {
    series: trace.name,
    name: trace.y[index],
    ns: trace.customdata[index][0],
    drawn: path.getBBox().width * unit,
    value: trace.x[index],
    pixel: unit,
  };
});
"""

# What a reader sees of each chart: marks of bars, areas, lines and heat strips with a size.
_MARKS = """
return [...document.querySelectorAll("figure")].map((figure) => {
  const marks = figure.querySelectorAll(
    ".bars .point > path, .scatterlayer .js-line, .scatterlayer .fills path, .heatmaplayer image");
  const visible = [...marks].filter((mark) => {
    const box = mark.getBBox();
    return box.width > 0 || box.height > 0;
  });
  return [figure.id, visible.length];
});
"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1280,1600"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    service = webdriver.ChromeService(executable_path=CHROMEDRIVER)
    driver = webdriver.Chrome(options=options, service=service)
    yield driver
    driver.quit()


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Trace]:
    directory = tmp_path_factory.mktemp("run") / "ppo"
    example_run.write(directory)
    with load(directory) as opened:
        yield opened


@pytest.fixture(scope="module")
def page(trace: Trace) -> Path:
    return write_report(trace.path)


def _open(browser: Any, page: Path) -> None:
    from selenium.webdriver.support.ui import WebDriverWait

    browser.get_log("browser")  # what an earlier page said
    browser.get(page.as_uri())
    done = "return document.documentElement.dataset.drawn === 'true'"
    WebDriverWait(browser, 30).until(lambda driver: driver.execute_script(done))


def _check(browser: Any) -> None:
    """Every panel shows something, and the console holds no complaint."""
    assert browser.execute_script("return document.querySelectorAll('.empty').length") == 0
    assert [chart for chart, _ in browser.execute_script(_MARKS)] == CHARTS
    assert _blank(browser) == []
    complaints = [each for each in browser.get_log("browser") if each["level"] == "SEVERE"]
    assert complaints == []


def _blank(browser: Any) -> list[str]:
    """Charts that show nothing."""
    return [chart for chart, number in browser.execute_script(_MARKS) if not number]


def _bars(browser: Any, chart: str) -> dict[tuple[str, str], int]:
    """(series, name) -> ns of every bar; its width on the screen must agree to a pixel."""
    bars = browser.execute_script(_BARS, chart)
    for bar in bars:
        assert bar["drawn"] == pytest.approx(bar["value"], abs=1.5 * bar["pixel"])
    return {(bar["series"], html.unescape(bar["name"])): bar["ns"] for bar in bars}


def _layers_by_operation(trace: Trace, processes: str) -> dict[tuple[str, str], int]:
    rows = trace.sql(
        "SELECT layer, gpu_busy, operation, CAST(SUM(duration_ns) AS BIGINT) AS ns FROM breakdown"
        " WHERE process_id IN (SELECT process_id FROM process WHERE name LIKE $processes)"
        " GROUP BY ALL HAVING ns > 0",
        {"processes": processes},
    )
    return {(layers.label(layer, busy), operation): ns for layer, busy, operation, ns in rows}


def test_every_panel_is_drawn_without_complaint(browser: Any, page: Path) -> None:
    _open(browser, page)
    _check(browser)


def test_bars_of_operations_are_the_breakdown(browser: Any, page: Path, trace: Trace) -> None:
    _open(browser, page)
    expected = _layers_by_operation(trace, "%")
    assert _bars(browser, "operations-chart") == expected
    walls = trace.sql("SELECT CAST(SUM(end_ns - start_ns) AS BIGINT) AS ns FROM process")["ns"]
    assert sum(expected.values()) == walls[0]


def test_choosing_a_process_shows_its_bars_in_every_chart(
    browser: Any, page: Path, trace: Trace
) -> None:
    from selenium.webdriver.support.ui import Select, WebDriverWait

    _open(browser, page)
    label = views.labels(trace.table("process"))[1]
    Select(browser.find_element("css selector", "#operations-chart select")).select_by_value(label)
    rows = trace.sql(
        "SELECT layer, gpu_busy, operation, CAST(SUM(duration_ns) AS BIGINT) AS ns FROM breakdown"
        " WHERE process_id = 1 GROUP BY ALL"
    )
    expected = {(layers.label(layer, busy), name): ns for layer, busy, name, ns in rows}
    WebDriverWait(browser, 10).until(lambda d: _bars(d, "operations-chart") == expected)
    chosen = browser.find_element("css selector", "#timeline-chart select").get_attribute("value")
    assert chosen == label


def test_bars_of_gpu_states_are_the_breakdown(browser: Any, page: Path, trace: Trace) -> None:
    _open(browser, page)
    rows = trace.sql(
        "SELECT CASE WHEN layer = 'none' THEN IF(gpu_busy, 'gpu', 'idle')"
        " ELSE IF(gpu_busy, 'cpu+gpu', 'cpu') END AS state, CAST(SUM(duration_ns) AS BIGINT) AS ns"
        " FROM breakdown GROUP BY ALL"
    )
    drawn = _bars(browser, "gpu-chart")
    totals = {state: ns for (state, name), ns in drawn.items() if name == "all operations"}
    assert totals == dict(zip(rows["state"], rows["ns"], strict=True))
    assert set(totals) == {"cpu", "cpu+gpu", "gpu", "idle"}


def test_bars_of_cuda_are_gpu_time_and_kernels(browser: Any, page: Path, trace: Trace) -> None:
    from selenium.webdriver.support.ui import Select, WebDriverWait

    _open(browser, page)
    for view, column in (("while the operation owned", "while_ns"), ("launched by", "launched_ns")):
        select = Select(browser.find_element("css selector", "#cuda-chart select"))
        (name,) = (each.text for each in select.options if each.text.startswith(view))
        select.select_by_visible_text(name)
        rows = trace.sql(
            f"SELECT device, operation, CAST(SUM({column}) AS BIGINT) AS ns FROM gpu_time"
            f" GROUP BY ALL HAVING ns > 0"
        )
        expected = {(f"GPU {device}", operation): ns for device, operation, ns in rows}
        WebDriverWait(browser, 10).until(lambda d, e=expected: _bars(d, "cuda-chart") == e)
    rows = trace.sql(
        "SELECT function, CAST(SUM(duration_ns) AS BIGINT) AS ns FROM kernel GROUP BY ALL"
    )
    expected = {("kernels", units.kernel(function)): ns for function, ns in rows}
    assert ("kernels", "gemm_grad<float>") in expected
    assert _bars(browser, "kernel-chart") == expected


def test_the_table_of_cuda_is_the_relations(browser: Any, page: Path, trace: Trace) -> None:
    _open(browser, page)
    rows = browser.find_elements("css selector", "#cuda details[open] tbody tr")
    shown = {}
    for row in rows:
        operation, *cells = (cell.text for cell in row.find_elements("css selector", "td"))
        shown[operation] = cells
    ((launched, ran, waited),) = trace.sql(
        "SELECT SUM(launched_ns)::BIGINT, SUM(while_ns)::BIGINT,"
        " (SELECT SUM(waiting_ns)::BIGINT FROM sync WHERE operation = 'update/optimizer')"
        " FROM gpu_time WHERE operation = 'update/optimizer'"
    )
    cells = shown["update/optimizer"]
    assert cells[:2] == [units.duration(launched), units.duration(ran)]
    assert cells[-1] == units.duration(waited) != ""
    ((launches, bound),) = trace.sql(
        "SELECT SUM(count)::BIGINT, SUM(launch_bound)::BIGINT FROM kernel"
        " WHERE operation = 'update/forward'"
    )
    assert shown["update/forward"][2:4] == [units.count(launches), units.share(bound, launches)]
    assert "(unlinked)" in shown


def test_areas_of_the_timeline_are_the_timeline(browser: Any, page: Path, trace: Trace) -> None:
    _open(browser, page)
    areas = browser.execute_script(
        "return document.querySelector('#timeline-chart .chart')._fullData"
        ".filter((trace) => trace.stackgroup)"
        ".map((trace) => [trace.name, [...trace.y].slice(0, -1)])"
    )
    rows = trace.sql(
        "SELECT layer, gpu_busy, SUM(duration_ns) / ANY_VALUE(bucket_ns) AS buckets FROM timeline"
        " WHERE process_id = 0 AND level = (SELECT MIN(level) FROM ("
        "   SELECT level, COUNT(DISTINCT start_ns) AS n FROM timeline WHERE process_id = 0"
        "   GROUP BY level) WHERE n <= 1000)"
        " GROUP BY layer, gpu_busy"
    )
    expected = {layers.label(layer, busy): buckets for layer, busy, buckets in rows}
    drawn = {name: sum(shares) for name, shares in areas}
    assert drawn == pytest.approx(expected, rel=1e-5)


def test_automatic_operations_are_told_with_their_rule(
    browser: Any, page: Path, trace: Trace
) -> None:
    _open(browser, page)
    tables = browser.find_elements("css selector", "#operations details[open]")
    (table,) = (each for each in tables if each.text.startswith("Found automatically: 1 operation"))
    rows = table.find_elements("css selector", "tbody tr")
    cells = [[cell.text for cell in row.find_elements("css selector", "td")] for row in rows]
    ((instances, duration_ns),) = trace.sql(
        "SELECT COUNT(*), CAST(SUM(duration_ns) AS BIGINT) FROM operation_instance"
        " JOIN operation USING (operation_id) WHERE source = 'automatic'"
    )
    (share,) = trace.sql(
        "SELECT SUM(duration_ns) FILTER (source = 'automatic')"
        " / SUM(duration_ns) FILTER (source IS NOT NULL) AS share"
        " FROM breakdown WHERE process_id = 1"
    )["share"]
    assert cells == [
        ["simulation", units.count(instances), units.duration(duration_ns), units.share(share, 1),
         example_run.RULE]
    ]  # fmt: skip


def test_a_hostile_name_is_a_label_and_nothing_else(browser: Any, page: Path) -> None:
    _open(browser, page)
    labels = browser.execute_script(
        "return [...document.querySelectorAll('#operations-chart .ytick text')]"
        ".map((text) => text.textContent)"
    )
    assert example_run.HOSTILE_PATH in labels
    assert browser.execute_script("return document.querySelectorAll('b').length") == 0


def test_the_page_fetches_nothing(browser: Any, page: Path) -> None:
    _open(browser, page)
    assert browser.execute_script("return performance.getEntriesByType('resource').length") == 0


def test_the_headline_names_the_largest_operation(browser: Any, page: Path, trace: Trace) -> None:
    _open(browser, page)
    largest = trace.sql(
        "SELECT operation FROM breakdown WHERE operation <> '(none)'"
        " GROUP BY operation ORDER BY SUM(duration_ns) DESC LIMIT 1"
    )
    headline = browser.find_element("css selector", "h1").text
    assert headline.startswith(f"{largest['operation'][0]} takes ")
    assert f"each of {example_run.ITERATIONS - 1} iterations" in headline


def test_an_emptied_panel_is_noticed(browser: Any, page: Path, tmp_path: Path) -> None:
    _open(browser, _emptied(page, tmp_path, ["timeline-chart"]))
    assert _blank(browser) == ["timeline-chart"]
    with pytest.raises(AssertionError, match="timeline-chart"):
        _check(browser)


def test_every_emptied_panel_is_noticed(browser: Any, page: Path, tmp_path: Path) -> None:
    _open(browser, _emptied(page, tmp_path, CHARTS))
    assert _blank(browser) == CHARTS


def _emptied(page: Path, folder: Path, charts: list[str]) -> Path:
    """A copy of the page with no data in these charts."""
    text = page.read_text(encoding="utf-8")
    for chart in charts:
        text = _without_marks(text, chart)
    emptied = folder / "emptied.html"
    emptied.write_text(text, encoding="utf-8")
    return emptied


def _without_marks(text: str, chart: str) -> str:
    """The page with no data in any view of one chart."""
    begin = text.index(f'<figure id="{chart}">')
    end = text.index("</figure>", begin)
    return text[:begin] + _VIEW.sub(_emptied_view, text[begin:end]) + text[end:]


def _emptied_view(view: re.Match[str]) -> str:
    figure = {**json.loads(view[1]), "data": []}
    return f'<script type="application/json">{json.dumps(figure)}</script>'


def test_a_script_error_is_noticed(browser: Any, page: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken.html"
    text = page.read_text(encoding="utf-8")
    broken.write_text(text.replace("</body>", "<script>nothing()</script></body>"))
    _open(browser, broken)
    with pytest.raises(AssertionError, match="nothing is not defined"):
        _check(browser)
