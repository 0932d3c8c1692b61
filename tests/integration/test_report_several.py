"""`rlscope report A B C` on traces that the real writer made: one page of all of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.files import example_run
from support.files.report_page import ReportPage
from support.files.tiny_traces import write_trace
from support.process.command_line import assert_states_failure, rlscope

CHARTS = ["operations-chart", "iterations-chart", "timeline-chart"]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    for name in ("seed-1", "seed-2"):
        example_run.write(folder / name)
    write_trace("windows", folder / "whole")
    return folder


@pytest.fixture(scope="module")
def page(runs: Path) -> Path:
    path = runs / "seeds.html"
    done = rlscope("report", runs / "seed-1", runs / "seed-2", runs / "whole", "-o", path)
    assert done.stdout == f"{path}\n"
    return path


def test_a_pattern_means_its_runs(runs: Path, tmp_path: Path) -> None:
    path = tmp_path / "seeds.html"
    assert rlscope("report", runs / "seed-*", "-o", path).returncode == 0
    assert ">2 runs<" in path.read_text()


def test_several_runs_are_a_page_only(runs: Path) -> None:
    done = rlscope("report", runs / "seed-1", runs / "seed-2", "--format", "json")
    assert done.returncode == 2
    assert "several runs are one page" in done.stderr


def test_what_is_no_run_is_named(runs: Path, tmp_path: Path) -> None:
    done = rlscope("report", runs / "seed-1", tmp_path, "-o", tmp_path / "page.html")
    assert_states_failure(done, str(tmp_path))
    assert not (tmp_path / "page.html").exists()


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_the_page_is_whole_on_any_screen(
    width: int, scheme: str, report_page: ReportPage, page: Path
) -> None:
    assert report_page.faults(page, width, scheme) == []


@pytest.mark.browser
def test_the_page_has_a_row_and_a_mark_for_each_run(report_page: ReportPage, page: Path) -> None:
    report_page.open(page)
    rows = report_page.table("runs", "runs, in the order in which they were named")
    assert [row[0] for row in rows] == ["seed-1", "seed-2", "whole"]
    assert list(report_page.marks()) == CHARTS
    assert list(report_page.lines("iterations-chart")) == ["seed-1", "seed-2"]
