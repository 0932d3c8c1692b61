"""Probes, as a sweep finds them in a trace: how long they took, and where they count."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from ground_truth.raw import Auto, Kind

from rlscope import _trace

ORIGIN_NS = 1 << 40
BEGAN, ENDED = 1, 4  # ProcessEvent of csrc/trace/layout/shared_pages.h
EMPTY, PLAIN_CALL, RECORDED_CALL, IDLE_OPERATION, RECORDED_OPERATION, WAIT, SHORT_WAIT = range(7)
OPERATION, FUNCTION = 1, 3  # NameKind of trace.proto
FRAMEWORK = 3

Item = tuple[int, Kind, int, int]
"""Time, kind, id, duration."""


def probe(time_ns: int, kind: int, ticks: int) -> Item:
    return time_ns, Kind.PROBE, kind, ticks


class Trace:
    """A process of two operations, step and step/inner, and a function."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        (folder / "trace").mkdir(parents=True)
        (folder / "run.json").write_text("{}\n")
        identity: dict[str, Any] = {
            "pid": 7, "parent_pid": 1, "start_time": 1, "began_ns": ORIGIN_NS
        }  # fmt: skip
        log = _trace.process_record(BEGAN, time_ns=ORIGIN_NS, name="python", **identity)
        log += _trace.process_record(ENDED, time_ns=ORIGIN_NS + 100_000, **identity)
        (folder / "processes.log").write_bytes(log)
        path = str(folder / "trace" / "host.7.1.1.rls")
        self._writer = _trace.Writer(
            path, os_pid=7, began_ns=ORIGIN_NS, start_time=1, host="host", main_thread=7
        )
        self.step = self._writer.name(OPERATION, "step", 0)
        self.inner = self._writer.name(OPERATION, "inner", 0)
        self.call = self._writer.name(FUNCTION, "library:function", FRAMEWORK)
        for thread in (1, 2):
            self._writer.thread(thread, 6 + thread)

    def write(self, thread: int, items: Sequence[Item]) -> None:
        columns = list(zip(*items, strict=True))
        self._writer.items(
            thread,
            ORIGIN_NS + np.array(columns[0], np.int64),
            np.array(columns[1], np.uint32),
            np.array(columns[2], np.uint32),
            np.array(columns[3], np.int64),
        )

    def swept(self) -> dict[str, Any]:
        self._writer.end(ORIGIN_NS + 100_000)
        self._writer.close()
        return _trace.Directory(str(self._folder)).sweep(0)

    def rows(self) -> list[tuple[Any, ...]]:
        """Kind, recorded, duration_ps, inside_ps; None where that is NaN."""
        columns = self.swept()["probe"]
        assert list(columns) == ["kind", "recorded", "duration_ps", "inside_ps"]
        inside = [None if np.isnan(each) else each for each in columns["inside_ps"]]
        return [*zip(*(columns[name] for name in list(columns)[:3]), inside, strict=True)]

    def counted(self) -> list[tuple[int, str, str, int, int]]:
        """Thread, path and source of the operation, probes inside and outside."""
        swept = self.swept()
        operation, found = swept["operation"], swept["bookkeeping_by_thread"]
        columns = (found[name] for name in ("thread", "operation", "kind", "inside", "outside"))
        return [
            (thread, operation["path"][row], operation["source"][row], inside, outside)
            for thread, row, kind, inside, outside in zip(*columns, strict=True)
            if kind == "probe"
        ]


def test_probes_of_every_thread_are_found(tmp_path: Path) -> None:
    trace = Trace(tmp_path)
    trace.write(1, [
        probe(11, EMPTY, 5), probe(13, PLAIN_CALL, 6), probe(14, RECORDED_CALL, 7),
        probe(15, IDLE_OPERATION, 8), probe(17, RECORDED_OPERATION, 9),
    ])  # fmt: skip
    trace.write(2, [(10, Kind.CALL, trace.call, 3), probe(14, EMPTY, 10)])
    by_duration = sorted(trace.rows(), key=lambda row: row[2])
    assert by_duration == [
        ("empty", False, 5_000, None),
        ("native_call", False, 6_000, None),
        ("native_call", True, 7_000, None),
        ("annotation", False, 8_000, None),
        ("annotation", True, 9_000, None),
        ("empty", False, 10_000, None),
    ]


def test_a_probe_counts_in_its_threads_innermost_operation(tmp_path: Path) -> None:
    trace = Trace(tmp_path)
    trace.write(1, [
        (10, Kind.ENTER, trace.step, 0), probe(11, EMPTY, 5),
        (12, Kind.ENTER, trace.inner, 0), probe(13, PLAIN_CALL, 6),
        (14, Kind.EXIT, trace.inner, 0), probe(15, IDLE_OPERATION, 7),
        (16, Kind.EXIT, trace.step, 0), probe(17, RECORDED_OPERATION, 8),
    ])  # fmt: skip
    trace.write(2, [(10, Kind.CALL, trace.call, 3), probe(14, EMPTY, 9)])
    assert sorted(trace.counted()) == [
        (1, "(none)", "explicit", 1, 1),
        (1, "step", "explicit", 2, 2),
        (1, "step/inner", "explicit", 1, 1),
        (2, "(none)", "explicit", 1, 1),
    ]


def test_a_probe_counts_in_the_automatic_operation(tmp_path: Path) -> None:
    trace = Trace(tmp_path)
    trace.write(1, [(10, Kind.AUTO_SEGMENT, Auto.SIMULATION, 0), probe(12, EMPTY, 5)])
    assert trace.counted() == [(1, "simulation", "automatic", 1, 1)]


def test_a_recorded_call_lies_inside_its_probe(tmp_path: Path) -> None:
    trace = Trace(tmp_path)
    trace.write(1, [
        (10, Kind.PROBE_RECORD, 0, 30), probe(60, RECORDED_CALL, 50),
        probe(70, RECORDED_CALL, 51), probe(80, PLAIN_CALL, 20),
    ])  # fmt: skip
    assert [inside_ps for *_, inside_ps in trace.rows()] == [30_000, None, None]


def test_a_wait_is_recorded_without_a_plain_one(tmp_path: Path) -> None:
    trace = Trace(tmp_path)
    trace.write(1, [probe(60, WAIT, 50), probe(80, SHORT_WAIT, 5)])
    assert trace.rows() == [("wait", True, 50_000, None), ("short_wait", True, 5_000, None)]


def test_probes_keep_their_durations_from_chunk_to_chunk(tmp_path: Path) -> None:
    trace = Trace(tmp_path)
    items: list[Item] = []
    for number in range(20_000):
        items.append((2 * number, Kind.CALL, trace.call, 1))
        if number % 3 == 0:
            items.append(probe(2 * number + 1, EMPTY, number))
    trace.write(1, items)
    assert [duration_ps for _, _, duration_ps, _ in trace.rows()] == [
        1_000 * number for number in range(0, 20_000, 3)
    ]


def test_probes_between_windows_are_none(tmp_path: Path) -> None:
    trace = Trace(tmp_path)
    trace.write(1, [
        probe(5, EMPTY, 1), (10, Kind.WINDOW_STOP, 0, 0), probe(15, EMPTY, 2),
        (20, Kind.WINDOW_START, 0, 0), probe(25, EMPTY, 3),
    ])  # fmt: skip
    assert [duration_ps for _, _, duration_ps, _ in trace.rows()] == [1_000, 3_000]


def test_a_trace_without_probes_has_no_rows(tmp_path: Path) -> None:
    trace = Trace(tmp_path)
    trace.write(1, [(10, Kind.CALL, trace.call, 3)])
    assert trace.rows() == []
