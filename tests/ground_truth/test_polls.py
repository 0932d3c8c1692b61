"""What a poll was for that timed out: the end of its series decides."""

from __future__ import annotations

from pathlib import Path

import pytest

from ground_truth.brute import tables
from ground_truth.events import read_events
from ground_truth.raw import Item, RawProcess, RawThread, call, enter, leave
from ground_truth.relations import Wait
from ground_truth.swept import sweep
from ground_truth.written import write

TURN, READ, LOCK = "sleep|posix.read", "pipe 7|posix.read", "lock|_thread.lock.acquire"


def lengths(folder: Path, *items: Item) -> dict[str, int]:
    """Name of the wait -> ns of a process, as the sweep, the twin and the events say."""
    process = RawProcess(end_ns=1000, threads=[RawThread(list(items))])
    rows = [row for row in sweep(process)["wait"] if isinstance(row, Wait)]
    assert rows == tables(process)["wait"]
    write([process], folder / "trace")
    found: dict[str, int] = {}
    for event in read_events(folder / "trace", process.most_paths):
        if event.kind == "wait":
            found[event.name] = found.get(event.name, 0) + event.duration_ns
    assert found == {
        name: sum(row.duration_ns for row in rows if row.wait == name)
        for name in {row.wait for row in rows}
    }
    return found


def test_turns_are_for_what_ends_their_series(tmp_path: Path) -> None:
    turns = [call(0, 100, TURN), call(110, 210, TURN), call(220, 250, READ)]
    assert lengths(tmp_path, *turns) == {READ: 230}


@pytest.mark.parametrize(("pause", "expected"), [(10, {READ: 150}), (11, {TURN: 100, READ: 50})])
def test_a_program_that_works_in_between_waits_for_time(
    tmp_path: Path, pause: int, expected: dict[str, int]
) -> None:
    assert lengths(tmp_path, call(0, 100, TURN), call(100 + pause, 150 + pause, READ)) == expected


def test_a_series_without_such_an_end_was_for_time(tmp_path: Path) -> None:
    """Though the function returned what it waits for before."""
    turns = [call(0, 20, READ), call(100, 200, TURN), call(205, 305, TURN)]
    assert lengths(tmp_path, *turns) == {READ: 20, TURN: 200}


def test_a_wait_for_the_gil_ends_no_series(tmp_path: Path) -> None:
    turns = [call(0, 100, TURN), call(101, 105, "gil"), call(106, 120, READ)]
    assert lengths(tmp_path, *turns) == {READ: 114, "gil": 4}


@pytest.mark.parametrize(("length", "expected"), [(2, {READ: 2, TURN: 200}), (3, {READ: 203})])
def test_what_is_far_shorter_than_a_turn_does_not_end_its_series(
    tmp_path: Path, length: int, expected: dict[str, int]
) -> None:
    assert lengths(tmp_path, call(0, 200, TURN), call(205, 205 + length, READ)) == expected


@pytest.mark.parametrize(("length", "of_time"), [(2, 0), (3, 200)])
def test_a_series_goes_on_after_a_lock_that_was_free(
    tmp_path: Path, length: int, of_time: int
) -> None:
    lock = call(205, 205 + length, LOCK)
    turns = [call(0, 200, TURN), lock, call(209, 309, TURN), call(310, 320, READ)]
    assert lengths(tmp_path, *turns).get(TURN, 0) == of_time


def test_a_series_ends_with_its_operation(tmp_path: Path) -> None:
    turns = [enter(0, "a"), call(0, 100, TURN), leave(101, "a"), call(102, 120, READ)]
    assert lengths(tmp_path, *turns) == {READ: 18, TURN: 100}


def test_turns_keep_their_stages(tmp_path: Path) -> None:
    """Of a thread that polls while the loop of another one begins and ends."""
    loop = [enter(150, "act"), leave(400, "act"), enter(500, "act"), leave(560, "act")]
    polls = [call(100 * n, 100 * n + 95, TURN) for n in range(7)] + [call(700, 710, READ)]
    process = RawProcess(end_ns=1000, threads=[RawThread(loop), RawThread(polls)])
    rows = sweep(process)["wait"]
    assert rows == tables(process)["wait"]
    found = {
        row.stage: (row.wait, row.count, row.duration_ns) for row in rows if isinstance(row, Wait)
    }
    assert found == {
        "start-up": (READ, 1, 95),
        "loop": (READ, 4, 380),
        "end": (READ, 3, 200),
    }
