"""Operations of threads that do not own their process are in the summary and on the page."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from ground_truth.raw import RawProcess, RawThread, call, enter, leave
from ground_truth.written import write
from support.files.facts import assert_says

from rlscope.analysis import threads
from rlscope.opening import Trace, load
from rlscope.report.panel import Drawing, Nothing
from rlscope.report.panels.threads import PANEL
from rlscope.report.renderers.terminal import render_summary

MS = 1_000_000
MAIN = RawThread(items=[enter(10 * MS, "learn"), leave(60 * MS, "learn")])
# Begins before the main thread does and ends after it: 50 of its 80 ms are not the process's.
SAVER = RawThread(
    items=[enter(0, "save"), call(20 * MS, 80 * MS, "matmul"), leave(80 * MS, "save")], main=False
)


@pytest.fixture
def traces(tmp_path: Path) -> Iterator[dict[str, Trace]]:
    written = {"alone": [MAIN], "both": [MAIN, SAVER]}
    opened = {}
    for name, found in written.items():
        write([RawProcess(end_ns=100 * MS, threads=found)], tmp_path / name)
        opened[name] = load(tmp_path / name)
    yield opened
    for trace in opened.values():
        trace.close()


def test_time_that_the_process_view_hides_is_told_by_thread(traces: dict[str, Trace]) -> None:
    (row,) = threads.beside_owner(traces["both"], rows=9).to_dicts()
    assert (row["operation"], row["duration_ns"], row["beside_ns"]) == ("save", 80 * MS, 50 * MS)
    assert (row["layer"], row["layer_ns"]) == ("framework", 60 * MS)


def test_the_summary_says_it(traces: dict[str, Trace]) -> None:
    text = " ".join(render_summary(traces["both"], width=200).split())
    said = text.partition(" spent ")[2].partition(" owned the process")[0]
    assert_says(said, "80.0 ms", "save", "all threads", "50.0 ms", "while another one")


def test_the_page_shows_it(traces: dict[str, Trace]) -> None:
    drawing = PANEL.draw(PANEL.read(traces["both"]))
    assert isinstance(drawing, Drawing)
    ((row,),) = (grid.rows for grid in drawing.grids)
    assert [row[0], row[4], row[6]] == ["save", "80.0 ms", "50.0 ms"]


def test_one_thread_has_nothing_beside_its_process(traces: dict[str, Trace]) -> None:
    assert not threads.beside_owner(traces["alone"], rows=9)
    assert "another one owned" not in render_summary(traces["alone"], width=200)
    assert isinstance(PANEL.draw(PANEL.read(traces["alone"])), Nothing)
