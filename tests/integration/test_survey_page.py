"""The committed page of the survey, whose plotly bundle lies beside it, in a browser."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from support.files.report_page import ReportPage

pytestmark = pytest.mark.browser

PAGE = Path(__file__).parents[2] / "docs" / "survey.html"


def test_the_committed_page_draws_its_charts(report_page: ReportPage) -> None:
    report_page.open(PAGE)
    assert report_page.complaints() == []
    marks = report_page.marks()
    assert len(marks) >= 10 and all(marks.values())
    assert report_page.cut() == []
    sentences = report_page.driver.find_elements("css selector", "#findings td.long")
    assert len(sentences) >= 10 and all(each.size["width"] >= 350 for each in sentences)


def test_a_copy_without_the_bundle_says_so_and_keeps_its_tables(
    tmp_path: Path, report_page: ReportPage
) -> None:
    copy = Path(shutil.copy(PAGE, tmp_path))
    report_page.open(copy)
    driver = report_page.driver
    charts = [each.text for each in driver.find_elements("css selector", ".chart")]
    assert len(charts) >= 10
    (said,) = set(charts)
    assert "../rlscope/report/vendor/plotly-cartesian.min.js" in said
    assert "table below" in said
    assert len(driver.find_elements("css selector", "tbody tr")) >= 100
