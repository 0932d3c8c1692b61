"""Time between operations, by the operations around it: the same as counting each nanosecond."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from ground_truth.profiles import share
from ground_truth.raw import (
    Item,
    Kind,
    RawProcess,
    RawThread,
    enter,
    leave,
    task,
    window_start,
    window_stop,
)
from ground_truth.strategies import processes
from ground_truth.written import write
from rlscope.analysis import operations
from rlscope.opening import Trace, load

Pairs = dict[tuple[str, str], tuple[int, int]]
EVERY = 1 << 20


def rows(trace: Trace, **limits: int) -> list[dict[str, Any]]:
    return operations.between_operations(trace, **{"rows": EVERY, **limits}).to_dicts()


def of(written: Sequence[RawProcess], **limits: int) -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory(prefix="rlscope-") as folder:
        write(written, Path(folder) / "run")
        with load(Path(folder) / "run") as trace:
            return rows(trace, **limits)


def pairs(found: Sequence[dict[str, Any]]) -> Pairs:
    return {
        (row["before"], row["after"]): (row["pauses"], row["duration_ns"])
        for row in found
        if row["why"] is None
    }


def of_threads(*threads: Sequence[Item]) -> Pairs:
    """(before, after) -> (pauses, ns) of a process of 100 ns."""
    members = [RawThread(list(items), main=i == 0) for i, items in enumerate(threads)]
    return pairs(of([RawProcess(end_ns=100, threads=members)]))


def counted(trace: Trace) -> Pairs:
    """Each nanosecond of the loops by itself: without an open operation, and recorded."""
    found: Counter[tuple[str, str]] = Counter()
    pauses: Counter[tuple[str, str]] = Counter()
    for process_id, from_ns, until_ns in _loops(trace):
        opened = _open(trace, process_id)
        pair = None
        for time_ns in range(from_ns, until_ns):
            if any(start <= time_ns < end for start, end, _ in opened):
                pair = None
                continue
            if pair is None:
                pair = _ended_last(opened, time_ns), _begins_first(opened, time_ns)
                pauses[pair] += 1
            found[pair] += 1
    return {pair: (pauses[pair], ns) for pair, ns in found.items()}


def _loops(trace: Trace) -> Iterator[tuple[int, int, int]]:
    yield from trace.sql(
        "SELECT process_id, start_ns + CAST(COALESCE(SUM(duration_ns) FILTER (stage = 'start-up'),"
        " 0) AS BIGINT), end_ns - CAST(COALESCE(SUM(duration_ns) FILTER (stage = 'end'), 0) AS"
        " BIGINT) FROM breakdown JOIN process USING (process_id)"
        " GROUP BY process_id, start_ns, end_ns HAVING BOOL_OR(stage = 'loop')"
    ).rows()


def _open(trace: Trace, process_id: int) -> list[tuple[int, int, str]]:
    """(start, end, outermost name) of all instances, and of the gaps between windows."""
    instances = trace.sql(
        "SELECT start_ns, start_ns + duration_ns, path FROM operation_instance"
        f" JOIN operation USING (operation_id) WHERE process_id = {process_id}"
    ).rows()
    windows = trace.sql(
        "SELECT start_ns, start_ns + duration_ns FROM recording_window"
        f" WHERE process_id = {process_id} ORDER BY start_ns"
    ).rows()
    return [
        *((start, end, _outermost(path)) for start, end, path in instances if start < end),
        *(
            (end, start, operations.NOT_RECORDED)
            for (_, end), (start, _) in pairwise(windows)
            if end < start
        ),
    ]


def _outermost(path: str) -> str:
    return path.replace("\\/", "\0").split("/")[0].replace("\0", "\\/")


def _ended_last(opened: list[tuple[int, int, str]], time_ns: int) -> str:
    """If several ended at that time, the one that began first."""
    last = max(end for _, end, _ in opened if end <= time_ns)
    return min((start, name) for start, end, name in opened if end == last)[1]


def _begins_first(opened: list[tuple[int, int, str]], time_ns: int) -> str:
    """If several begin at that time, the one that ends last."""
    first = min(start for start, _, _ in opened if start > time_ns)
    return min((-end, name) for start, end, name in opened if start == first)[1]


def between_ns(trace: Trace) -> int:
    table = operations.operation_time(trace, operations=EVERY, processes=0).to_dicts()
    return sum(row["duration_ns"] for row in table if row["operation"] == operations.BETWEEN)


def has_tasks(written: Sequence[RawProcess]) -> bool:
    threads = [thread for process in written for thread in process.threads]
    return any(item.kind is Kind.TASK for thread in threads for item in thread.items)


def check(written: Sequence[RawProcess]) -> None:
    with tempfile.TemporaryDirectory(prefix="rlscope-") as folder:
        write(written, Path(folder) / "run")
        with load(Path(folder) / "run") as trace:
            found = rows(trace)
            assert sum(row["duration_ns"] for row in found) == between_ns(trace)
            assert {row["between_ns"] for row in found} <= {between_ns(trace)}
            rest = {row["why"] for row in found if row["why"]}
            assert rest <= ({"other"} if has_tasks(written) else set())
            assert pairs(found) == counted(trace)


@share(0.1)
@given(processes())
def test_pairs_are_those_of_each_nanosecond_and_add_up(process: RawProcess) -> None:
    check([process])


@share(0.05)
@given(processes(), processes())
def test_pairs_of_two_processes_are_added(first: RawProcess, second: RawProcess) -> None:
    check([replace(first, os_pid=4242), replace(second, os_pid=4243)])


@share(0.05)
@given(processes(), st.integers(0, 9), st.integers(1, 4))
def test_what_is_not_looked_at_is_a_row(process: RawProcess, instances: int, most: int) -> None:
    with tempfile.TemporaryDirectory(prefix="rlscope-") as folder:
        write([process], Path(folder) / "run")
        with load(Path(folder) / "run") as trace:
            found = rows(trace, instances=instances, rows=most)
            assert sum(row["duration_ns"] for row in found) == between_ns(trace)
            assert len(pairs(found)) <= most + 1


def test_a_pause_is_between_the_operations_around_it() -> None:
    assert of_threads(
        [
            enter(10, "act"),
            leave(20, "act"),
            enter(23, "learn"),
            enter(25, "backprop"),
            leave(30, "backprop"),
            leave(32, "learn"),
            enter(40, "act"),
            leave(50, "act"),
            enter(52, "learn"),
            leave(60, "learn"),
        ]
    ) == {("act", "learn"): (2, 5), ("learn", "act"): (1, 8)}


def test_no_time_lies_between_operations_while_another_thread_is_in_one() -> None:
    assert of_threads(
        [enter(10, "act"), leave(20, "act"), enter(40, "act"), leave(50, "act")],
        [enter(15, "write"), leave(30, "write"), enter(45, "write"), leave(48, "write")],
    ) == {("write", "act"): (1, 10)}


def test_an_operation_that_outlasts_the_one_around_it_is_open() -> None:
    assert of_threads(
        [
            enter(10, "learn"),
            enter(12, "backprop"),
            leave(20, "learn"),
            leave(30, "backprop"),
            enter(35, "act"),
            leave(40, "act"),
        ]
    ) == {("learn", "act"): (1, 5)}


def test_start_up_and_end_are_in_no_pause_and_imports_between_are() -> None:
    assert of_threads(
        [
            enter(5, "import"),
            leave(8, "import"),
            enter(10, "act"),
            leave(20, "act"),
            enter(25, "evaluation"),
            leave(30, "evaluation"),
            enter(31, "act"),
            leave(40, "act"),
            enter(50, "saving"),
            leave(60, "saving"),
        ]
    ) == {("act", "evaluation"): (1, 5), ("evaluation", "act"): (1, 1)}


def test_an_operation_that_lasts_no_time_divides_no_pause() -> None:
    assert of_threads(
        [
            enter(10, "act"),
            leave(20, "act"),
            enter(22, "mark"),
            leave(22, "mark"),
            enter(30, "act"),
            leave(40, "act"),
        ]
    ) == {("act", "act"): (1, 10)}


def test_what_lies_beside_a_gap_between_windows_is_named_so() -> None:
    items = [
        window_start(5),
        enter(10, "act"),
        leave(20, "act"),
        window_stop(30),
        window_start(40),
        enter(43, "act"),
        leave(50, "act"),
        window_stop(60),
    ]
    assert of_threads(items) == {
        ("act", "(not recorded)"): (1, 10),
        ("(not recorded)", "act"): (1, 3),
    }


def test_time_while_suspended_tasks_have_operations_is_a_row() -> None:
    items = [
        enter(1, "learn"),
        leave(3, "learn"),
        task(5, 1),
        enter(10, "act"),
        task(20, 0),
        task(30, 1),
        leave(40, "act"),
        task(50, 2),
        enter(60, "learn"),
        leave(70, "learn"),
    ]
    found = of([RawProcess(end_ns=100, threads=[RawThread(items)])])
    assert [(row["before"], row["after"], row["why"], row["duration_ns"]) for row in found] == [
        ("act", "learn", None, 20),
        ("learn", "act", None, 7),
        (None, None, "other", 10),
    ]


def test_smaller_pairs_are_together() -> None:
    starts = {"a": 10, "b": 21, "c": 33, "d": 46, "e": 60}
    items = [
        item
        for name, start in starts.items()
        for item in (enter(start, name), leave(start + 10, name))
    ]
    found = of([RawProcess(end_ns=100, threads=[RawThread(items)])], rows=2)
    assert [(row["before"], row["after"], row["pauses"], row["duration_ns"]) for row in found] == [
        ("d", "e", 1, 4),
        ("(other operations)", "(other operations)", 2, 3),
        ("c", "d", 1, 3),
    ]
