"""What a page holds and draws is bounded by aggregates: fifty times the events change neither."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.files import dense_run
from support.files.report_page import ReportPage

from rlscope.opening import load
from rlscope.report import limits, report_file
from rlscope.report.markup import packed_element
from rlscope.report.page import PLOTLY, resource

# The smaller run's lines are at their limit too: two passes are one point.
PASSES = 2 * limits.POINTS

_FIGURE = re.compile(r'<figure id="([^"]+)">(.*?)</figure>', re.DOTALL)
_VIEW = re.compile(r'<script type="application/json">(.*?)</script>', re.DOTALL)

# The points and bars that plotly draws in each chart, and all elements that it makes of them.
_DRAWN = """
return [...document.querySelectorAll("figure .chart")].map((chart) => [
  chart.parentNode.id,
  chart.calcdata.reduce((sum, points) => sum + points.length, 0),
  chart.querySelectorAll("*").length,
]);
"""


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The pages of a run, and of one with fifty times its events."""
    root = tmp_path_factory.mktemp("runs")
    dense_run.write(root / "small", PASSES)
    dense_run.write(root / "large", 50 * PASSES)
    return report_file.write(root / "small"), report_file.write(root / "large")


def test_one_run_has_fifty_times_the_events_of_the_other(pages: tuple[Path, Path]) -> None:
    for page, passes in zip(pages, (PASSES, 50 * PASSES), strict=True):
        with load(page.parent) as trace:
            assert trace.table("process")["events"][0] == dense_run.EVENTS * passes
            assert sum(trace.table("iteration")["complete"]) == passes
            assert len(trace.table("machine_sample")) == passes


def test_every_figure_holds_as_many_numbers(pages: tuple[Path, Path]) -> None:
    small, large = (_numbers_by_view(page.read_text(encoding="utf-8")) for page in pages)
    assert min(small.values()) > 0
    assert large == small


def test_the_page_is_as_large(pages: tuple[Path, Path]) -> None:
    plotly = len(packed_element(resource(PLOTLY), "plotly"))
    small, large = (page.stat().st_size - plotly for page in pages)
    assert large == pytest.approx(small, rel=0.01)  # numbers in texts have more digits


@pytest.mark.browser
def test_every_chart_draws_as_many_points(
    pages: tuple[Path, Path], report_page: ReportPage
) -> None:
    small, large = (_drawn(report_page, page) for page in pages)
    assert min(points for points, _ in small.values()) > 0
    assert {chart: points for chart, (points, _) in large.items()} == {
        chart: points for chart, (points, _) in small.items()
    }
    for chart, (_, elements) in large.items():  # an axis may have a tick more
        assert elements == pytest.approx(small[chart][1], rel=0.1)


def _drawn(report_page: ReportPage, page: Path) -> dict[str, tuple[int, int]]:
    report_page.open(page)
    charts = report_page.driver.execute_script(_DRAWN)
    return {chart: (points, elements) for chart, points, elements in charts}


def _numbers_by_view(page: str) -> dict[tuple[str, int], int]:
    """(chart, number of the view) -> values in the data of its figure."""
    return {
        (chart, view): _values(json.loads(text)["data"])
        for chart, content in _FIGURE.findall(page)
        for view, text in enumerate(_VIEW.findall(content))
    }


def _values(part: Any) -> int:
    if isinstance(part, dict) and "bdata" in part:
        return len(base64.b64decode(part["bdata"])) // np.dtype(part["dtype"]).itemsize
    if isinstance(part, dict | list):
        return sum(map(_values, part.values() if isinstance(part, dict) else part))
    return 1
