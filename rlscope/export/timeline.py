"""What a viewer shows of a run: tracks with the slices on them, and readings over time.

A track is a thread, a CUDA stream, or what else a process has intervals of: its iterations, phases,
gaps between windows, CUDA synchronisations and CUPTI's own work. Slices come as columns, some
hundred thousand at a time, sorted as viewers want them: by track and start, the outer ones first.
A slice that crosses an edge of the window is cut there, and says how long it was.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rlscope import _trace
from rlscope.analysis import coverage, statement
from rlscope.export.window import Window
from rlscope.relations.trace import Trace
from rlscope.relations.workspace import Workspace

# So many take DuckDB about 100 MB to sort.
_MOST_ROWS = 250_000
_FIRST_NS, _LAST_NS = -(1 << 63), (1 << 63) - 1
# No pid and no tid of Linux is as large.
_FIRST_FREE_ID = 1 << 22
_LAST_ID = (1 << 31) - 1

CATEGORIES: tuple[str, ...] = tuple(
    dict.fromkeys([*_trace.LAYERS, *_trace.EVENT_KINDS, "iteration", "phase", "gap"])
)
"""What a slice is: the layer of what a thread did, else the kind of interval."""
LAUNCH = CATEGORIES.index("cuda_api")
"""Where arrows begin."""


class Process(NamedTuple):
    """A process that lived in the window."""

    process_id: int
    os_pid: int
    """0: not known."""
    pid: int
    """The same, or another one where two processes of the run have the same: viewers know a process
    by it."""
    name: str
    role: str
    start_ns: int


class Track(NamedTuple):
    """A place for slices. Tracks come process by process, threads first."""

    track: int
    process: Process
    kind: str
    """thread, stream, sync, overhead, iteration, phase or gap."""
    name: str
    tid: int
    """The thread's, or another number where it is no thread; two of a process differ."""
    intervals: int


class Counter(NamedTuple):
    """Readings of one quantity."""

    process: Process | None
    """None: of the machine."""
    name: str
    unit: str
    """percent, bytes or watts."""
    times_ns: NDArray[np.int64]
    values: NDArray[np.float64]


Slices = dict[str, NDArray[np.int64]]
"""Columns of analysis/sql/export_slice.sql: places in `Timeline.tracks`, CATEGORIES, `names` and
`operations`; -1: has none. `flow` is 0, or a number that a launch and its work on a GPU share."""


class Timeline:
    """Opened by `open_timeline`."""

    def __init__(self, trace: Trace, window: Window, workspace: Workspace) -> None:
        self.window = window
        self._trace = trace
        self._workspace = workspace
        self._make("track", "export_track")
        self._make("shown_name", "export_name")
        self._make("flow", "export_flow")
        tracks = workspace.rows(statement.text("export_shown_track"))
        working = {process_id for _, process_id, *_ in tracks}
        self.processes = _processes(trace, window, working)
        self.tracks = self._tracks(tracks)
        self.names = [text for (text,) in workspace.rows(statement.text("export_shown_name"))]
        operations = trace.table("operation").select("operation_id", "path")
        self.operations = [path for _, path in sorted(operations)]
        self.intervals = sum(track.intervals for track in self.tracks)

    def slices(self) -> Iterator[Slices]:
        """All of them."""
        text = statement.text("export_slice")
        for first, last, begin_ns, end_ns in self._portions():
            parameters = {
                **self.window.bounds,
                "categories": list(CATEGORIES),
                "first_track": first,
                "last_track": last,
                "begin_ns": begin_ns,
                "end_ns": end_ns,
            }
            columns = self._workspace.columns(text, parameters)
            yield {
                name: np.ascontiguousarray(values, dtype=np.int64)
                for name, values in columns.items()
            }

    def counters(self) -> Iterator[Counter]:
        """Those that have readings in the window, the machine's first."""
        by_id = {process.process_id: process for process in self.processes}
        hosts: dict[int, str] = dict(self._trace.table("host").select("host_id", "name"))
        for host_id, process_id, metric in self._workspace.rows(statement.text("export_series")):
            if process_id is not None and process_id not in by_id:
                continue
            columns = self._workspace.columns(
                statement.text("export_counter"),
                {
                    **self.window.bounds,
                    "host_id": host_id,
                    "process_id": process_id,
                    "metric": metric,
                },
            )
            if len(columns["start_ns"]):
                is_one_of_many = process_id is None and len(hosts) > 1
                yield Counter(
                    by_id.get(process_id),
                    f"{hosts[host_id]}: {metric}" if is_one_of_many else metric,
                    metric.rpartition("_")[2],
                    np.ascontiguousarray(columns["start_ns"], dtype=np.int64),
                    np.ascontiguousarray(columns["value"], dtype=np.float64),
                )

    def left_out(self) -> list[str]:
        """What the run does not have, or not all of, and why: a line each."""
        lines = [f"event: {reason}" for (reason,) in coverage.why_absent(self._trace, "event")]
        return lines + [
            f"without {what}: {reason}"
            for relation, what in _SHOWN.items()
            for (reason,) in coverage.why_absent(self._trace, relation)
        ]

    def _make(self, table: str, name: str) -> None:
        self._workspace.make(table, statement.text(name), self.window.bounds)

    def _tracks(self, rows: list[tuple[Any, ...]]) -> list[Track]:
        """Rows of `export_shown_track` with their names."""
        by_id = {process.process_id: process for process in self.processes}
        threads = {row["thread_id"]: row for row in self._trace.table("thread").to_dicts()}
        ids: dict[int, Ids] = {process_id: Ids() for process_id in by_id}
        tracks = []
        for track, process_id, kind, thread_id, device, stream, intervals in rows:
            process = by_id[process_id]
            wanted = None
            name = _OTHERS.get(kind, "")
            if kind == "thread":
                # Viewers know the main thread by the number of its process.
                os_tid = threads[thread_id]["os_tid"]
                wanted = process.pid if os_tid == process.os_pid else os_tid
                name = threads[thread_id]["name"] or f"thread {os_tid}"
            elif kind == "stream":
                name = f"GPU {device} stream {stream}"
            tid = ids[process_id].take(wanted)
            tracks.append(Track(track, process, kind, name, tid, intervals))
        return tracks

    def _portions(self) -> Iterator[tuple[int, int, int, int]]:
        """Tracks, the first and the last, and times of their starts, of a number of slices that can
        be sorted at once."""
        first, count = 0, 0
        for track in self.tracks:
            if count and count + track.intervals > _MOST_ROWS:
                yield first, track.track - 1, _FIRST_NS, _LAST_NS
                count = 0
            if track.intervals > _MOST_ROWS:
                yield from self._parts(track)
                continue
            first = first if count else track.track
            count += track.intervals
        if count:
            yield first, self.tracks[-1].track, _FIRST_NS, _LAST_NS

    def _parts(self, track: Track) -> Iterator[tuple[int, int, int, int]]:
        count = math.ceil(track.intervals / _MOST_ROWS)
        shares = [number / count for number in range(1, count)]
        rows = self._workspace.rows(
            statement.text("export_edge"),
            {**self.window.bounds, "track": track.track, "shares": shares},
        )
        edges = [_FIRST_NS, *(edge for (edge,) in rows), _LAST_NS]
        for begin_ns, end_ns in itertools.pairwise(edges):
            yield track.track, track.track, begin_ns, end_ns


# Relation -> what a viewer shows of it.
_SHOWN = {
    "native_call": "calls of simulators and frameworks",
    "wait": "waits",
    "api_call": "CUDA calls",
    "gpu_time": "GPU work",
    "machine_sample": "readings of the machine",
}
_OTHERS = {
    "sync": "CUDA synchronisation",
    "overhead": "CUPTI",
    "iteration": "iterations",
    "phase": "phases",
    "gap": "recording",
}


class Ids:
    """Numbers of which no two are the same."""

    def __init__(self) -> None:
        self._taken: set[int] = set()
        self._next = _FIRST_FREE_ID

    def take(self, wanted: int | None = None) -> int:
        """The wanted one if it can be had, else one that Linux gives nobody."""
        if wanted is None or not 0 < wanted <= _LAST_ID or wanted in self._taken:
            while self._next in self._taken:
                self._next += 1
            wanted = self._next
        self._taken.add(wanted)
        return wanted


@contextmanager
def open_timeline(trace: Trace, window: Window) -> Iterator[Timeline]:
    """The timeline of a window. Raises TraceError, QueryError."""
    with trace.workspace("event") as workspace:
        yield Timeline(trace, window, workspace)


def _processes(trace: Trace, window: Window, working: Collection[int]) -> list[Process]:
    """Those that lived in the window, or are `working`: their GPU work reaches into it."""
    ids = Ids()
    return [
        Process(
            row["process_id"],
            row["os_pid"] or 0,
            ids.take(row["os_pid"]),
            row["name"] or row["short_name"] or "",
            row["role"] or "",
            row["start_ns"],
        )
        for row in trace.table("process").to_dicts()
        if row["process_id"] in working
        or (row["start_ns"] < window.until_ns and row["end_ns"] > window.from_ns)
    ]
