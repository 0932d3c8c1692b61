"""A trace that was rolled up answers as one of which everything was kept, to the nanosecond."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ground_truth.compare import first_difference
from ground_truth.profiles import share
from ground_truth.raw import (
    Item,
    Kind,
    Node,
    RawProcess,
    RawThread,
    call,
    call_begin,
    call_end,
    enter,
    gap,
    leave,
    phase,
    progress,
)
from ground_truth.relations import RELATIONS, Rows, StateReading
from ground_truth.segments import Segments, write_segments
from ground_truth.strategies import looping_processes, processes
from ground_truth.swept import read, sweep
from ground_truth.written import ORIGIN_NS
from rlscope import _trace

_WHOLE = [name for name in RELATIONS if name not in ("operation_instance", "state_reading")]
_ANY_SIZE = -(1 << 40)


def without_cuda(process: RawProcess) -> RawProcess:
    """Processes with CUDA are kept whole."""
    threads = tuple(replace(thread, cuda_calls=()) for thread in process.threads)
    return replace(process, gpu=(), threads=threads)


def without_news_of_the_past(process: RawProcess) -> RawProcess:
    """A chunk that is missing closes what is open where the one before ended. The first record of
    the main thread says that it was in Python since the interpreter's begin, and a window that
    starts before any stops that nothing was recorded so far."""
    items = [item for thread in process.threads for item in thread.items]
    stops = (item.time_ns for item in items if item.kind is Kind.WINDOW_STOP)
    first_stop_ns = min(stops, default=process.end_ns)
    threads = tuple(
        replace(
            thread,
            missing=None,
            items=tuple(
                item
                for item in thread.items
                if item.kind is not Kind.WINDOW_START or item.time_ns > first_stop_ns
            ),
        )
        for thread in process.threads
    )
    return replace(process, threads=threads, python_begin_ns=None)


def end_is_free(process: RawProcess) -> bool:
    """Nothing is recorded behind the end, or the interpreter's, before these are known."""
    ends = [item.end_ns for thread in process.threads for item in thread.items]
    return process.python_end_ns is None and max(ends, default=0) <= process.end_ns


def roll_up(process: RawProcess, directory: Path, until_ns: int) -> dict[str, int]:
    return _trace.roll_up(
        str(directory),
        until_ns + ORIGIN_NS,
        least_saved=_ANY_SIZE,
        buckets=8,
        most_paths=process.most_paths,
    )


def is_rolled_up(directory: Path) -> bool:
    return any(len(path.name.split(".")[3]) > 6 for path in (directory / "trace").iterdir())


def ended_from(rows: Rows, time_ns: int) -> set[tuple[object, ...]]:
    """The instances that ended at this time, or later."""
    return {row for row in rows["operation_instance"] if row.start_ns + row.duration_ns >= time_ns}  # type: ignore[attr-defined]


@share(0.5)  # each is written, rolled up and read
@given(
    (processes() | looping_processes()).map(without_cuda),
    st.integers(1, 7),
    st.lists(st.integers(1, 12), max_size=6),
    st.lists(st.integers(-1, 70), min_size=1, max_size=4),
    st.booleans(),
)
def test_what_was_rolled_up_is_in_the_sums(
    process: RawProcess, chunk: int, cuts: list[int], times: list[int], is_running: bool
) -> None:
    whole = sweep(process)
    with tempfile.TemporaryDirectory(prefix="rlscope-") as folder:
        directory = Path(folder) / "trace"
        segments = write_segments(process, directory, chunk=chunk, cuts=cuts)
        known_at_once = not (is_running and end_is_free(process))
        if known_at_once:
            segments.end()
        else:
            times = [min(time_ns, process.end_ns) for time_ns in times]
        for time_ns in sorted(times):
            roll_up(process, directory, time_ns)
        if not known_at_once:
            segments.end()
        rows = read(directory, most_paths=process.most_paths)
        rows["loss"] = [row for row in rows["loss"] if row[0] != "rolled_up"]
        until_ns = max(times) if is_rolled_up(directory) else -1
    difference = first_difference(rows, whole, _WHOLE)
    assert difference is None, f"rolled up - / + whole: {difference}"
    kept = set(rows["operation_instance"])
    assert ended_from(whole, until_ns) <= kept <= set(whole["operation_instance"])


def first_difference_in_turns(
    process: RawProcess, chunk: int, cuts: Sequence[int], earlier: Sequence[int]
) -> str | None:
    """Rolls up after each file all that is known by then, or so much less; once the process has
    ended, what differs from the whole trace."""
    with tempfile.TemporaryDirectory(prefix="rlscope-") as folder:
        directory = Path(folder) / "trace"
        segments = Segments(process, directory, chunk=chunk, cuts=cuts)
        less = [*earlier, 0, *(0 for _ in cuts)]
        while (known_ns := segments.write_next()) is not None:
            roll_up(process, directory, min(known_ns, process.end_ns) - less.pop(0))
        segments.end()
        rows = read(directory, most_paths=process.most_paths)
    rows["loss"] = [row for row in rows["loss"] if row[0] != "rolled_up"]
    return first_difference(rows, sweep(process), _WHOLE)


@share(0.5)  # each is written, rolled up and read
@given(
    (processes() | looping_processes())
    .map(without_cuda)
    .map(without_news_of_the_past)
    .filter(end_is_free),
    st.integers(1, 7),
    st.lists(st.integers(1, 12), max_size=6),
    st.lists(st.integers(0, 5), max_size=4),
)
def test_a_drainer_and_a_roll_take_turns(
    process: RawProcess, chunk: int, cuts: list[int], earlier: list[int]
) -> None:
    difference = first_difference_in_turns(process, chunk, cuts, earlier)
    assert difference is None, f"rolled up - / + whole: {difference}"


def window(kind: Kind, time_ns: int) -> Item:
    return Item(time_ns, kind)


@pytest.mark.parametrize("is_stopped", [False, True])
@pytest.mark.parametrize("is_long", [False, True])
def test_a_wait_that_is_open_at_the_edge_is_one_wait(is_long: bool, is_stopped: bool) -> None:
    """A record tells of it when it has ended: until then the page of its ring. Of a wait that the
    stop of a window ended nothing more counts, when its record comes behind the next start."""
    wait = [call_begin(10, "gil"), call_end(45)] if is_long else [call(10, 45, "gil")]
    busy = [item for at in (5, 20, 30, 40) for item in (enter(at, "step"), leave(at + 2, "step"))]
    pause = [window(Kind.WINDOW_STOP, 24), window(Kind.WINDOW_START, 26)]
    process = RawProcess(
        end_ns=60,
        python_begin_ns=None,
        threads=[
            RawThread([enter(2, "train"), *wait, leave(50, "train")]),
            RawThread(sorted([*busy, *(pause if is_stopped else ())]), main=False),
        ],
    )
    for cut in range(1, 20):  # frames are names, too
        assert first_difference_in_turns(process, 2, list(range(cut, 40, 2)), []) is None


def test_each_gap_counts_its_own_lost_records() -> None:
    """As many as its second slot says, wherever a chunk begins or a roll has ended in one. Reports
    of progress have second slots, too."""
    items = [
        item
        for time_ns, name in enumerate(["first", "second", "third", "fourth"])
        for item in (
            *progress(10 * time_ns + 2, 1, 4),
            phase(10 * time_ns + 4, name),
            gap(10 * time_ns + 6, lost=time_ns + 2),
        )
    ]
    process = RawProcess(end_ns=60, python_begin_ns=None, threads=[RawThread(items)])
    lost = [row for row in sweep(process)["bookkeeping"] if row.kind == "lost record"]  # type: ignore[attr-defined]
    counts = {row.phase: row.inside for row in lost}  # type: ignore[attr-defined]
    assert counts == {"first": 2, "second": 3, "third": 4, "fourth": 5}
    for chunk in range(3, 8):
        for less in range(12):
            assert first_difference_in_turns(process, chunk, range(1, 20), [less] * 20) is None


def with_calls_and_operations_only(process: RawProcess) -> RawProcess:
    """Records of phases, iterations and windows come late only where a thread lost the CPU for a
    second between its clock and its record."""
    of_process = (Kind.PHASE, Kind.ITERATION, Kind.WINDOW_START, Kind.WINDOW_STOP)
    threads = tuple(
        replace(thread, items=tuple(i for i in thread.items if i.kind not in of_process))
        for thread in process.threads
    )
    return replace(process, threads=threads)


def durations(rows: Rows, relation: str) -> list[int]:
    return [row.duration_ns for row in rows[relation]]  # type: ignore[attr-defined]


@share(0.5)  # each is written, rolled up and read
@given(
    processes()
    .map(without_cuda)
    .map(without_news_of_the_past)
    .map(with_calls_and_operations_only)
    .filter(end_is_free),
    st.integers(1, 7),
    st.lists(st.integers(1, 12), max_size=6),
    st.lists(st.integers(-1, 70), max_size=6),
)
def test_what_comes_late_takes_no_time_back(
    process: RawProcess, chunk: int, cuts: list[int], times: list[int]
) -> None:
    """As a native call that began before the edge, or a thread that was not scheduled."""
    with tempfile.TemporaryDirectory(prefix="rlscope-") as folder:
        directory = Path(folder) / "trace"
        segments = Segments(process, directory, chunk=chunk, cuts=cuts)
        while segments.write_next() is not None:
            if times:
                roll_up(process, directory, min(times.pop(0), process.end_ns))
        segments.end()
        rows = read(directory, most_paths=process.most_paths)
    for relation in ("breakdown", "breakdown_by_thread", "native_call", "wait"):
        assert min(durations(rows, relation), default=0) >= 0, relation
    assert sum(durations(rows, "breakdown")) == sum(durations(sweep(process), "breakdown"))


def test_stacks_of_a_file_that_is_gone_are_known(tmp_path: Path) -> None:
    """Their nodes were in the first file, and the last one has a reading of them."""
    items = [enter(2, "step"), leave(5, "step"), enter(20, "step"), leave(30, "step")]
    process = RawProcess(
        end_ns=60,
        threads=[RawThread(items)],
        nodes=[Node(0, "main", 3), Node(1, "", 5), Node(1, "f", 7)],
        states=[(25, frozenset({1}))],
        stacks={25: {1: 3}},
    )
    directory = tmp_path / "trace"
    segments = write_segments(process, directory, chunk=1, cuts=[5])
    for until_ns in (8, 12):
        roll_up(process, directory, until_ns)
    segments.end()
    assert is_rolled_up(directory)
    assert not (directory / "trace" / "host.4242.1.0.rls").exists()
    known = StateReading("loop", "step", "python", "main:3;f:7", 1, 0)
    assert read(directory)["state_reading"] == [known]


def test_a_process_without_new_records_is_left_alone(tmp_path: Path) -> None:
    items = [enter(2, "step"), leave(5, "step"), enter(20, "step"), leave(30, "step")]
    process = RawProcess(end_ns=60, threads=[RawThread(items)])
    directory = tmp_path / "trace"
    segments = write_segments(process, directory, chunk=1, cuts=[3, 5])
    segments.end()
    assert roll_up(process, directory, 100)["removed"] > 0
    again = roll_up(process, directory, 200)
    assert (again["removed"], again["written"]) == (0, 0)
