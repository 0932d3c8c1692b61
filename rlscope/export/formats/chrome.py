"""Chrome's Trace Event Format, a JSON that many viewers read.

Times are microseconds with three decimals since the start of the run: as absolute ones they would
lose their nanoseconds in the floating-point numbers of a viewer.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO

from rlscope import _trace
from rlscope.export.exporter import Exported, Tell
from rlscope.export.timeline import CATEGORIES, LAUNCH, Counter, Ids, Slices, Timeline, Track
from rlscope.export.viewers import viewer_file
from rlscope.export.window import Window
from rlscope.relations.trace import Trace

_SEPARATOR = ",\n"


class _Chrome:
    ending = ".chrome.json"

    def write(
        self, trace: Trace, window: Window, path: Path, *, force: bool, tell: Tell
    ) -> Exported:
        with viewer_file(trace, window, path, force=force, tell=tell) as opened:
            events = _Events(opened.timeline)
            opened.file.write(_head(trace, window).encode())
            opened.file.write(_SEPARATOR.join(events.names()).encode())
            for slices in opened.slices():
                _write(opened.file, events.slices(slices))
            for counter in opened.counters():
                _write(opened.file, events.readings(counter))
            opened.file.write(b"\n]}\n")
        return opened.exported


def _head(trace: Trace, window: Window) -> str:
    (name,) = trace.table("run")["name"]
    facts = {"run": name, "recorder": "rlscope", "run_start_ns": window.run_start_ns}
    return f'{{"displayTimeUnit": "ns",\n"otherData": {json.dumps(facts)},\n"traceEvents": [\n'


def _write(file: IO[bytes], lines: Iterable[str]) -> None:
    for line in lines:
        file.write(f"{_SEPARATOR}{line}".encode())


class _Events:
    """The lines of the file: an event each."""

    def __init__(self, timeline: Timeline) -> None:
        self._processes = timeline.processes
        self._tracks = timeline.tracks
        self._origin_ns = timeline.window.run_start_ns
        self._names = [json.dumps(name) for name in timeline.names]
        self._operations = [json.dumps(path) for path in timeline.operations]
        self._lanes = _trace.Lanes()
        self._places: dict[tuple[int, int], str] = {}
        pids, self._tids = Ids(), {process: Ids() for process in timeline.processes}
        for process in timeline.processes:
            pids.take(process.pid)
        for track in timeline.tracks:
            self._tids[track.process].take(track.tid)
        self._machine = pids.take()

    def names(self) -> Iterator[str]:
        """Names of the machine and of the processes, which stand in order of their start."""
        yield _described(self._machine, "process_name", "name", "machine")
        for place, process in enumerate(self._processes):
            yield _described(process.pid, "process_name", "name", process.name)
            yield _described(process.pid, "process_labels", "labels", process.role)
            yield _described(process.pid, "process_sort_index", "sort_index", place)

    def slices(self, slices: Slices) -> Iterator[str]:
        """A line for each, and two in front of the first one of a lane."""
        lanes = self._lanes.add(slices["track"], slices["start_ns"], slices["end_ns"])
        columns = (
            slices["track"],
            lanes,
            slices["start_ns"] - self._origin_ns,
            slices["end_ns"] - slices["start_ns"],
            slices["category"],
            slices["name"],
        )
        rows = zip(*(column.tolist() for column in columns), strict=True)
        for row, details in zip(rows, self._details(slices), strict=True):
            track, lane, start_ns, length_ns, category, name = row
            if (track, lane) not in self._places:
                yield from self._begin(track, lane)
            yield (
                f'{{"ph":"X",{self._places[track, lane]},"ts":{_us(start_ns)},'
                f'"dur":{_us(length_ns)},"cat":"{CATEGORIES[category]}",'
                f'"name":{self._names[name]}{details}}}'
            )

    def readings(self, counter: Counter) -> Iterator[str]:
        """A line for each."""
        pid = self._machine if counter.process is None else counter.process.pid
        name = json.dumps(counter.name)
        for time_ns, value in zip(counter.times_ns.tolist(), counter.values.tolist(), strict=True):
            time = _us(time_ns - self._origin_ns)
            yield (
                f'{{"ph":"C","pid":{pid},"ts":{time},"name":{name},'
                f'"args":{{"{counter.unit}":{value!r}}}}}'
            )

    def _begin(self, number: int, lane: int) -> Iterator[str]:
        """Names a lane. Viewers know it as a thread."""
        track: Track = self._tracks[number]
        tid, name = track.tid, track.name
        if lane:
            tid, name = self._tids[track.process].take(), f"{name} ({lane + 1})"
        pid = track.process.pid
        self._places[number, lane] = f'"pid":{pid},"tid":{tid}'
        yield _described(pid, "thread_name", "name", name, tid)
        yield _described(pid, "thread_sort_index", "sort_index", number, tid)

    def _details(self, slices: Slices) -> Iterator[str]:
        """The arrow and the annotations of each."""
        names = ("category", "flow", *_ANNOTATED, "start_ns", "whole_start_ns", "end_ns")
        for row in zip(*(slices[name].tolist() for name in (*names, "whole_end_ns")), strict=True):
            category, flow, operation, *values, start_ns, whole_start_ns, end_ns, whole_end_ns = row
            parts = [
                f'"{key}":{value}'
                for key, value in zip(("correlation_id", "bytes", "graph"), values, strict=True)
                if value >= 0
            ]
            if operation >= 0:
                parts.append(f'"operation":{self._operations[operation]}')
            if whole_start_ns != start_ns or whole_end_ns != end_ns:
                parts.append(f'"whole_start_ns":{whole_start_ns}')
                parts.append(f'"whole_duration_ns":{whole_end_ns - whole_start_ns}')
            arrow = ""
            if flow:
                end = "flow_out" if category == LAUNCH else "flow_in"
                arrow = f',"bind_id":"0x{flow:x}","{end}":true'
            yield f'{arrow},"args":{{{",".join(parts)}}}' if parts else arrow


_ANNOTATED = ("operation", "correlation", "bytes", "graph")


def _us(time_ns: int) -> str:
    whole, part = divmod(time_ns, 1000)
    return f"{whole}.{part:03}"


def _described(pid: int, what: str, key: str, value: str | int, tid: int = 0) -> str:
    text = json.dumps(value)
    return f'{{"ph":"M","pid":{pid},"tid":{tid},"name":"{what}","args":{{"{key}":{text}}}}}'


EXPORTER = _Chrome()
