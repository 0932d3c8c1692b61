"""What is kept of chosen iterations has each of their single records, as a whole trace has them."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ground_truth.events import Event, read_events
from ground_truth.profiles import share
from ground_truth.raw import Item, Kind, RawProcess, RawThread, enter, leave
from ground_truth.segments import FOREVER, Segments
from ground_truth.strategies import processes
from ground_truth.swept import read, sweep
from ground_truth.test_roll_up import end_is_free, without_cuda, without_news_of_the_past
from ground_truth.written import ORIGIN_NS, write
from rlscope import _trace
from rlscope.record import iteration_keeper, trace_copies
from rlscope.record.iteration_keeper import KeptIterations
from rlscope.rundir.kept_iterations import IterationRange

_ANY_SIZE = -(1 << 40)


class _Living(_trace.Directory):
    """A trace whose processes go on: those that are made up have no pid that could be asked."""

    @property
    def processes(self) -> list[dict[str, Any]]:
        return [{**process, "ended": "running"} for process in super().processes]


@contextmanager
def _everything_counts() -> Iterator[None]:
    """However small it is."""
    with (
        mock.patch.object(iteration_keeper, "_LEAST_SAVED", _ANY_SIZE),
        mock.patch.object(_trace, "Directory", _Living),
    ):
        yield


def _keep(
    process: RawProcess, directory: Path, wanted: IterationRange, chunk: int, cuts: list[int]
) -> int | None:
    """Writes, keeps and rolls up in turns; until when all was known when the range was kept, None:
    it was not over before the process ended."""
    said: list[str] = []
    segments = Segments(process, directory, chunk=chunk, cuts=cuts)
    kept = KeptIterations(str(directory), [wanted], max_size=0, min_free=0, say=said.append)
    kept_ns = None
    with _everything_counts():
        while (known_ns := segments.write_next()) is not None:
            if known_ns == FOREVER:  # the last file is open, as after a flush none is
                break
            known_ns = min(known_ns, process.end_ns)
            until_ns = kept.keep(known_ns + ORIGIN_NS, None)
            _trace.roll_up(
                str(directory), until_ns, least_saved=_ANY_SIZE, most_paths=process.most_paths
            )
            if kept_ns is None and (directory / wanted.folder).exists():
                kept_ns = known_ns
    assert said == []
    segments.end()
    if kept_ns is None:
        kept.finish(None)
    return kept_ns


def _events(rows: list[Event], wanted: IterationRange, before_ns: int) -> list[Event]:
    return sorted(
        (
            row
            for row in rows
            if wanted.first <= row.iteration <= wanted.last
            and row.start_ns + row.duration_ns < before_ns
        ),
        key=repr,
    )


def _instances(rows: list[Any], wanted: IterationRange, before_ns: int) -> list[Any]:
    return [
        row
        for row in rows
        if wanted.first <= row.iteration <= wanted.last
        and row.start_ns + row.duration_ns < before_ns
    ]


def without_automatic_segments(process: RawProcess) -> RawProcess:
    """Their names come from what follows, which may be behind the end of what is kept."""
    segments = (Kind.AUTO_SEGMENT, Kind.AUTO_RESOLVE)
    threads = tuple(
        replace(thread, items=tuple(item for item in thread.items if item.kind not in segments))
        for thread in process.threads
    )
    return replace(process, threads=threads)


def iterating(process: RawProcess, period_ns: int) -> RawProcess:
    """The process whose first thread begins an iteration now and then, and no other does; with all
    its paths, as what keeps iterations has them.
    """
    begun = [Item(at, Kind.ITERATION) for at in range(1, process.end_ns, period_ns)]
    threads = []
    for number, thread in enumerate(process.threads):
        items = [item for item in thread.items if item.kind is not Kind.ITERATION]
        for item in begun if number == 0 else ():
            behind = (place for place, each in enumerate(items) if each.time_ns > item.time_ns)
            items.insert(next(behind, len(items)), item)
        if number == 0:  # a thread that has ended begins none
            items = [item for item in items if item.kind is not Kind.THREAD_END]
        threads.append(replace(thread, items=tuple(items)))
    return replace(process, threads=tuple(threads), most_paths=RawProcess.most_paths)


def first_difference(
    process: RawProcess, wanted: IterationRange, chunk: int, cuts: list[int]
) -> str | None:
    """How records of the iterations differ between the whole trace and where they were kept."""
    with tempfile.TemporaryDirectory(prefix="rlscope-") as folder:
        directory, whole = Path(folder) / "trace", Path(folder) / "whole"
        write([process], whole)
        kept_ns = _keep(process, directory, wanted, chunk, cuts)
        kept = directory / wanted.folder
        if not kept.exists():
            return None
        before_ns = process.end_ns + 1
        if kept_ns is not None:  # the rest is cut where the trace that was kept ends
            trace = _trace.Directory(str(kept))
            if not trace.iterations(0)["complete"][wanted.last]:
                return "kept before it was over"
            (found,) = trace.processes
            before_ns = min(kept_ns, found["end_ns"] - ORIGIN_NS)
        pairs = [
            (
                _events(read_events(kept, process.most_paths), wanted, before_ns),
                _events(read_events(whole, process.most_paths), wanted, before_ns),
            ),
            (
                _instances(
                    read(kept, most_paths=process.most_paths)["operation_instance"],
                    wanted,
                    before_ns,
                ),
                _instances(sweep(process)["operation_instance"], wanted, before_ns),
            ),
        ]
    for ours, theirs in pairs:
        if ours != theirs:
            return f"- {set(ours) - set(theirs)}\n+ {set(theirs) - set(ours)}"
    return None


@share(0.4)  # traces are written, kept and read twice
@given(
    processes()
    .map(without_cuda)
    .map(without_news_of_the_past)
    .map(without_automatic_segments)
    .filter(end_is_free),
    st.integers(2, 12),
    st.integers(0, 5),
    st.integers(0, 3),
    st.integers(1, 3),
    st.lists(st.integers(1, 60), min_size=4, max_size=12),
)
def test_kept_iterations_have_the_rows_of_the_whole_trace(
    process: RawProcess, period_ns: int, first: int, more: int, chunk: int, cuts: list[int]
) -> None:
    process = iterating(process, period_ns)
    difference = first_difference(process, IterationRange(first, first + more), chunk, cuts)
    assert difference is None, f"kept - / + whole: {difference}"


def _refuse(*_: object, **__: object) -> None:
    raise OSError(errno.EPERM, os.strerror(errno.EPERM))


@pytest.mark.parametrize("has_links", [True, False])
@pytest.mark.parametrize("first", [0, 3, 9])
def test_it_does_not_matter_whether_the_disk_has_links(first: int, has_links: bool) -> None:
    steps = [item for at in range(0, 50, 2) for item in (enter(at, "step"), leave(at + 1, "step"))]
    process = iterating(RawProcess(end_ns=60, threads=[RawThread(steps)]), 4)
    link = os.link if has_links else _refuse
    with mock.patch.object(trace_copies.os, "link", link):
        difference = first_difference(process, IterationRange(first, first + 2), 2, [*range(60)])
    assert difference is None, f"kept - / + whole: {difference}"
