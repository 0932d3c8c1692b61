"""The page in a real browser: it shows what SQL says, nothing fails, nothing is fetched."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from report_checks import CHECKS, cuda
from support.files import example_run
from support.files.facts import assert_says
from support.files.report_page import OPERATION, ReportPage
from support.files.report_rows import full_run

from rlscope.opening import Trace, load
from rlscope.report import answer, headline, layers, limits, panels, report_file, units, views
from rlscope.report.renderers import html

pytestmark = pytest.mark.browser

PANELS = [name for name, _ in panels.load()]
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
_LOOP = f"""
SELECT layer, gpu_busy, {OPERATION}, CAST(SUM({{0}}) AS BIGINT) AS ns
FROM breakdown WHERE stage = 'loop' GROUP BY ALL HAVING ns > 0
"""
_VIEW = re.compile(r'<script type="application/json">(.*?)</script>', re.DOTALL)


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Trace]:
    directory = tmp_path_factory.mktemp("run") / "ppo"
    example_run.write(directory)
    costs = [
        {"kind": kind, "mean_ns": ns, "low_ns": ns / 2, "high_ns": 2 * ns, "inside": 0.3}
        for kind, ns in (("operation", 3000), ("native call", 2000), ("automatic event", 1500))
    ]
    (directory / "rlscope_calibration.json").write_text(
        json.dumps({"method": "known costs", "pairs": 50, "costs": costs})
    )
    with load(directory) as opened:
        yield opened


@pytest.fixture(scope="module")
def page(trace: Trace) -> Path:
    return report_file.write(trace.path)


@pytest.fixture(scope="module")
def opened(report_page: ReportPage, page: Path) -> ReportPage:
    """The page, loaded once for the tests that leave it as it is; they are the first ones."""
    report_page.open(page)
    return report_page


def _check(page: ReportPage) -> None:
    """Every panel shows something, and the console holds no complaint."""
    assert page.panels() == PANELS
    assert page.driver.execute_script("return document.querySelectorAll('.empty').length") == 0
    assert list(page.marks()) == CHARTS
    assert page.blank() == []
    assert page.complaints() == []


def test_every_panel_is_drawn_without_complaint(opened: ReportPage) -> None:
    _check(opened)


@pytest.mark.parametrize("name", PANELS)
def test_a_panel_shows_what_sql_says(name: str, opened: ReportPage, trace: Trace) -> None:
    CHECKS[name](opened, trace)


@pytest.mark.parametrize("name", PANELS)
def test_whatever_is_emptied_in_a_panel_is_noticed(
    name: str, opened: ReportPage, trace: Trace
) -> None:
    parts = opened.parts(name)
    assert parts
    noticed = []
    for number, part in enumerate(parts):
        with opened.emptied(name, number):
            noticed += [] if _agrees(name, opened, trace) else [part]
    assert noticed == parts
    assert _agrees(name, opened, trace), "nothing is empty any more"


def _agrees(name: str, page: ReportPage, trace: Trace) -> bool:
    try:
        CHECKS[name](page, trace)
    except AssertionError:
        return False
    return True


def test_a_hostile_name_is_a_label_and_nothing_else(opened: ReportPage) -> None:
    labels = opened.driver.execute_script(
        "return [...document.querySelectorAll('#operations-chart .ytick text')]"
        ".map((text) => text.textContent)"
    )
    assert example_run.HOSTILE_PATH in labels
    assert opened.driver.execute_script("return document.querySelectorAll('b').length") == 0


def test_the_page_fetches_nothing(opened: ReportPage) -> None:
    script = "return performance.getEntriesByType('resource').length"
    assert opened.driver.execute_script(script) == 0


def test_the_headline_names_the_largest_group(opened: ReportPage, trace: Trace) -> None:
    sums = trace.sql(
        "SELECT CAST(SUM(duration_ns) FILTER (operation LIKE '%simulation') AS BIGINT),"
        " CAST(SUM(duration_ns) FILTER (operation LIKE 'update%') AS BIGINT),"
        " CAST(SUM(duration_ns) FILTER (operation LIKE '%inference') AS BIGINT) FROM breakdown"
    )
    ((simulation, learning, inference),) = sums
    assert simulation > max(learning, inference)
    headline = opened.driver.find_element("css selector", ".where").text
    assert headline.startswith("Simulation takes ")
    simulation_of = dict(
        trace.sql(
            "SELECT name, CAST(SUM(duration_ns) AS BIGINT) FROM breakdown JOIN process"
            " USING (process_id) WHERE operation LIKE '%simulation' GROUP BY ALL"
        )
    )
    for name in ("trainer", "worker"):
        assert f"{name}: {units.duration(simulation_of[name])} of" in headline


def test_choosing_a_process_shows_its_bars_in_every_chart(opened: ReportPage, trace: Trace) -> None:
    label = views.labels(trace.table("process"))[1]
    rows = trace.sql(
        "SELECT layer, gpu_busy, operation, CAST(SUM(duration_ns) AS BIGINT) AS ns FROM breakdown"
        " WHERE process_id = 1 AND operation <> '(none)' GROUP BY ALL UNION ALL"
        " SELECT layer, gpu_busy, '(between operations)', CAST(SUM(duration_ns) AS BIGINT)"
        " FROM breakdown WHERE process_id = 1 AND stage = 'loop' AND operation = '(none)'"
        " GROUP BY ALL"
    )
    expected = {(layers.label(layer, busy), name): ns for layer, busy, name, ns in rows}
    _choose(opened, "operations-chart", label, expected)
    select = opened.driver.find_element("css selector", "#timeline-chart select")
    assert select.get_attribute("value") == label


def test_time_without_the_cost_of_recording_is_shown_in_every_chart_that_knows_it(
    opened: ReportPage, trace: Trace
) -> None:
    """And with it again, of all processes and of one."""
    boxes = opened.driver.find_elements("css selector", "figure input")
    names = [each.find_element("xpath", "./ancestor::figure").get_attribute("id") for each in boxes]
    assert names == ["operations-chart", "gpu-chart"]
    recorded, corrected = (
        {(layers.label(layer, busy), name): ns for layer, busy, name, ns in trace.sql(statement)}
        for statement in (_LOOP.format(time) for time in ("duration_ns", "corrected_ns"))
    )
    assert sum(corrected.values()) < sum(recorded.values())
    _choose(opened, "operations-chart", views.ALL, recorded)
    opened.click(boxes[1])
    _wait_for(opened, "operations-chart", corrected)
    assert boxes[0].is_selected()
    caption = "return getComputedStyle(document.querySelector(arguments[0]), '::after').content"
    assert opened.driver.execute_script(caption, "#gpu-chart figcaption") == (
        '", without what recording cost"'
    )
    states = sum(opened.bars("gpu-chart").values())
    assert states == 2 * sum(corrected.values())  # of all together, and of each operation
    opened.click(boxes[0])
    _wait_for(opened, "operations-chart", recorded)
    assert sum(opened.bars("gpu-chart").values()) == 2 * sum(recorded.values())


@pytest.mark.parametrize(
    ("view", "column"), [("while the operation owned", "while_ns"), ("launched by", "launched_ns")]
)
def test_gpu_time_is_seen_from_both_ends_of_a_launch(
    view: str, column: str, opened: ReportPage, trace: Trace
) -> None:
    options = opened.driver.find_elements("css selector", "#cuda-chart option")
    (label,) = (each.text for each in options if each.text.startswith(view))
    _choose(opened, "cuda-chart", label, cuda.device_times(trace, column))


def _choose(page: ReportPage, chart: str, label: str, expected: dict[tuple[str, str], int]) -> None:
    """Chooses a view of a chart, and waits until it shows the expected bars."""
    from selenium.webdriver.support.ui import Select

    select = page.driver.find_element("css selector", f"#{chart} select")
    Select(select).select_by_value(label)
    _wait_for(page, chart, expected)


def _wait_for(page: ReportPage, chart: str, expected: dict[tuple[str, str], int]) -> None:
    page.wait_until(lambda: page.bars(chart) == expected)
    assert page.complaints() == []


def test_every_chart_without_data_is_noticed(
    report_page: ReportPage, page: Path, tmp_path: Path
) -> None:
    emptied = tmp_path / "emptied.html"
    emptied.write_text(_VIEW.sub(_emptied, page.read_text(encoding="utf-8")), encoding="utf-8")
    report_page.open(emptied)
    assert report_page.blank() == CHARTS
    with pytest.raises(AssertionError, match="operations-chart"):
        _check(report_page)


def _emptied(view: re.Match[str]) -> str:
    figure = {**json.loads(view[1]), "data": []}
    return f'<script type="application/json">{json.dumps(figure)}</script>'


def test_a_script_error_is_noticed(report_page: ReportPage, page: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken.html"
    text = page.read_text(encoding="utf-8")
    broken.write_text(text.replace("</body>", "<script>nothing()</script></body>"))
    report_page.open(broken)
    with pytest.raises(AssertionError, match="nothing is not defined"):
        _check(report_page)


def test_a_browser_that_cannot_unpack_the_charts_says_so(
    report_page: ReportPage, page: Path
) -> None:
    with report_page.without("DecompressionStream"):
        report_page.open(page)
    charts = report_page.driver.find_elements("css selector", ".chart")
    (said,) = {each.text for each in charts}
    assert_says(said, "cannot draw this chart", "older than 2023", "table below")
    assert report_page.complaints() == []


def test_no_text_of_a_chart_is_cut_on_a_phone(report_page: ReportPage, page: Path) -> None:
    with report_page.as_wide_as(390):
        report_page.open(page)
        assert report_page.cut() == []
        assert report_page.blank() == []
        names = report_page.names_in("operations-chart")
        assert any(name.startswith("rollout/simulation") for name in names)
        assert any(name.startswith("update/backprop") for name in names)


@pytest.mark.parametrize("name", ["x" * 70, "a<b>&c" * 12])
def test_long_names_are_shortened_on_a_phone(
    report_page: ReportPage, tmp_path: Path, name: str
) -> None:
    page = tmp_path / "long.html"
    page.write_text(html.render(full_run(name=name, operations=6)))  # type: ignore[arg-type]
    with report_page.as_wide_as(390):
        report_page.open(page)
        assert report_page.cut() == []
        shown = [each for each in report_page.names_in("operations-chart") if name[:8] in each]
        assert shown
        assert all("…" in each for each in shown)


@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_serious_keeps_people_out(report_page: ReportPage, page: Path, width: int) -> None:
    with report_page.as_wide_as(width):
        report_page.open(page)
        report_page.open_tables()
        assert report_page.barriers() == []


def test_a_barrier_is_noticed(report_page: ReportPage, page: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken.html"
    text = page.read_text(encoding="utf-8").replace('role="group"', 'role="img"')
    broken.write_text(text, encoding="utf-8")
    report_page.open(broken)
    assert "nested-interactive" in report_page.barriers()


@pytest.mark.parametrize("width", [390, 1280])
def test_no_cell_of_a_table_is_cut(report_page: ReportPage, page: Path, width: int) -> None:
    with report_page.as_wide_as(width):
        report_page.open(page)
        report_page.open_tables()
        assert report_page.cells_cut() == []


def test_a_cell_says_on_a_phone_which_column_it_is_of(report_page: ReportPage, page: Path) -> None:
    with report_page.as_wide_as(390):
        report_page.open(page)
        report_page.open_tables()
        script = (
            "return getComputedStyle(document.querySelector('#operations td:nth-child(2)'),"
            " '::before').content"
        )
        assert report_page.driver.execute_script(script) == '"total"'


def test_a_legend_of_readings_stands_beside_its_lines(opened: ReportPage, page: Path) -> None:
    opened.open(page)
    script = """
    const chart = document.querySelector("#machine-chart .chart");
    const boxes = (kind) =>
      [...chart.querySelectorAll(kind)].map((each) => each.getBoundingClientRect());
    const ends = boxes(".scatterlayer .js-line").map((line) => line.right);
    const legends = boxes(".infolayer > [class^=legend]");
    return legends.map((legend) => legend.left > Math.max(...ends));
    """
    axes = "return Object.keys(document.querySelector('#machine-chart .chart')._fullLayout)"
    rows = len(opened.driver.execute_script(f"{axes}.filter((key) => /^yaxis\\d*$/.test(key))"))
    assert opened.driver.execute_script(script) == [True] * rows
    assert rows > 1


def test_scripts_write_numbers_as_texts_do(opened: ReportPage) -> None:
    """And no line of the page ends between a number and its unit."""
    times = [0, 1, 999, 1_234, 31_200_000, 999_700_000, 599 * 10**9, 7_512 * 10**9, 199_513 * 10**9]
    durations = opened.driver.execute_script("return arguments[0].map(amounts.duration)", times)
    assert durations == [units.unbroken(units.duration(each)) for each in times]
    parts = [0, 1, 499, 501, 31_234, 10**6]
    script = "return arguments[0].map((part) => amounts.share(part, 1e6))"
    shares = opened.driver.execute_script(script, parts)
    assert shares == [units.unbroken(units.share(each, 10**6)) for each in parts]
    headline = opened.driver.execute_script("return document.querySelector('h1').textContent")
    assert headline == units.unbroken(headline) != headline.replace("\u00a0", " ")


def test_the_page_begins_with_what_the_engine_says(opened: ReportPage, trace: Trace) -> None:
    """One sentence, above the list of findings and the sentence on where the time goes."""
    texts = opened.driver.execute_script(
        "return [...document.querySelectorAll('header h1, header .where')].map((e) => e.innerText)"
    )
    found = answer.read(trace, most=limits.FINDINGS)
    assert [each.replace("\u00a0", " ") for each in texts] == [
        found.sentence,
        headline.first_sentence(trace),
    ]
    listed = opened.driver.find_elements("css selector", ".findings > li")
    assert len(listed) == len(found.findings)


def test_the_contents_stay_in_sight_and_lead_to_a_heading_below_them(opened: ReportPage) -> None:
    script = """
    document.documentElement.style.scrollBehavior = "auto";
    document.querySelector("nav a[href='#source']").click();
    const box = (kind) => document.querySelector(kind).getBoundingClientRect();
    const [nav, heading] = [box("nav"), box("#source h2")];
    document.querySelector("nav a[href='#top']").click();
    return [nav.top, nav.bottom <= heading.top, heading.bottom < innerHeight, scrollY];
    """
    with opened.as_wide_as(1280):
        assert opened.driver.execute_script(script) == [0, True, True, 0]
