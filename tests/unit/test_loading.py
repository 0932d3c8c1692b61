"""The line that verbs show while tables are made, and the parts that Progress gives it."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from support.files.dense_run import write

from rlscope.opening import load
from rlscope.relations.rows.progress import Progress
from rlscope.terminal.shown_opening import load_shown


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def tell(monkeypatch: pytest.MonkeyPatch) -> list[Callable[[float], None]]:
    """What load_shown() gives to load()."""
    given: list[Callable[[float], None]] = []
    monkeypatch.setattr("rlscope.opening.Trace", lambda *_, progress, **__: given.append(progress))
    return given


def test_a_terminal_shows_how_far_tables_are(
    monkeypatch: pytest.MonkeyPatch, tell: list[Callable[[float], None]], tmp_path: Path
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr("sys.stderr", Terminal())
    load_shown(tmp_path)
    for part in (0.25, 0.5, 1.0):
        tell[0](part)
    assert isinstance(sys.stderr, Terminal)
    lines = sys.stderr.getvalue().split("\r")
    assert [each.strip() for each in lines if each.strip()] == [
        "making tables: 25%...",
        "making tables: 50%...",
    ]
    assert lines[-1] == "", "the line is empty again"


def test_the_steps_of_a_verb_name_it_too(
    tell: list[Callable[[float], None]], tmp_path: Path
) -> None:
    steps: list[str] = []
    load_shown(tmp_path, step=steps.append)
    for part in (0.25, 1.0):
        tell[0](part)
    assert steps == ["making tables: 25%"]


def test_the_last_part_that_is_told_is_the_whole(tmp_path: Path) -> None:
    write(tmp_path, 100)
    told: list[float] = []
    with load(tmp_path, progress=told.append) as trace:
        assert told[-1] == 1
        assert all(0 <= part <= 1 for part in told)
        told.clear()
        assert len(trace.table("event"))
        assert told[-1] == 1


def test_nothing_is_told_of_tables_that_are_there(tmp_path: Path) -> None:
    write(tmp_path, 100)
    load(tmp_path).close()
    told: list[float] = []
    load(tmp_path, progress=told.append).close()
    assert not told


def test_parts_are_of_passes_weighted_by_events() -> None:
    progress = Progress(TwoProcesses(), None)  # type: ignore[arg-type]
    with progress.of(2):
        parts = [progress.fraction()]
        for index in (0, 0, 1):
            progress.end_pass(index)
            parts.append(progress.fraction())
    # 3 of 4 weights are the first process's, which is half through a pass; the other has not begun.
    assert parts == [1.5 / 8, 4.5 / 8, 6 / 8, 7 / 8]


class TwoProcesses:
    processes = (
        {"index": 0, "start_ns": 0, "end_ns": 100, "events": 2},
        {"index": 1, "start_ns": 0, "end_ns": 100, "events": 0},
    )

    def reached_ns(self, index: int) -> int:
        return (50, 0)[index]
