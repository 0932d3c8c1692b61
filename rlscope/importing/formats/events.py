"""Tables with the columns of relation `event`, as Parquet or CSV: what any tool can write.

A row is one interval; the columns `kind`, `name`, `start_ns` and `duration_ns` must be there.
Others are read where they are there, and may be NULL (rlscope/importing/event_tables.py).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import closing
from typing import Any

import numpy as np
import numpy.typing as npt

from rlscope import _trace
from rlscope.importing.event_tables import (
    ON_THREADS,
    Batch,
    EventTable,
    Numbers,
    is_event_table,
    open_table,
)
from rlscope.importing.importer import Importer, ProcessScan, Scan, Source, with_rows
from rlscope.importing.name_kinds import CUDA_CALL, FUNCTION, KERNEL, LAYERS, OPERATION
from rlscope.relations import step_numbers

_MOST_PROCESSES = 64
_MOST_KNOWN = 1 << 14
_MOST_ITERATIONS = 1 << 20
_MAIN = 0  # of a process the thread that is made first

_GPU_KINDS = {kind["name"]: number for number, kind in enumerate(_trace.GPU_KINDS)}
# For kinds with a name: what the name is of, and the layer; None: the row says the layer.
_NAMES: Mapping[str, tuple[int, str | None]] = {
    "operation": (OPERATION, "none"),
    "call": (FUNCTION, None),
    "wait": (FUNCTION, "wait"),
    "cuda_call": (CUDA_CALL, "none"),
    "kernel": (KERNEL, "none"),
}
_NAMED_LAYERS = ("none", "simulator", "framework", "wait")
_CALL_LAYERS: Mapping[str | None, int] = {
    None: LAYERS["none"],
    **{name: LAYERS[name] for name in _NAMED_LAYERS},
}
# A name inside of a path: "a\/b/c" are the names "a/b" and "c".
_NAME = re.compile(r"(?:[^\\/]|\\.)*")


# ---- its processes ------------------------------------------------------------------------------


class _Process:
    """Rows of one process."""

    def __init__(self, spill: _trace.SpillFile, part: int) -> None:
        self.rows = _trace.ImportedRows(spill, part)
        self.steps: list[int] = []
        """Numbers that the file gives the iterations, in order."""
        self._threads: dict[int, int] = {}
        self._texts: dict[tuple[int, int, str], int] = {}
        self._begins: dict[int, int] = {}  # of iterations

    def add(self, kind: str, batch: Batch) -> None:
        """Rows of one kind."""
        count = len(batch["start_ns"])
        if kind in _GPU_KINDS:
            added = self._add_gpu(kind, batch)
        elif kind in ON_THREADS:
            added = self._add_on_threads(kind, batch)
        else:
            self.rows.count(f"kind {kind}", count, taken=False)
            return
        self._see_iterations(batch)
        self.rows.count(kind, added, taken=True)
        self.rows.count(f"{kind} without a time, a length or a layer", count - added, taken=False)

    def finish(self) -> None:
        """All rows were added."""
        if self._threads:
            for start_ns in sorted(self._begins.values()):
                self.rows.add_iteration(_MAIN, start_ns)
        self.steps = sorted(self._begins, key=lambda number: self._begins[number])
        self.rows.finish()

    def _add_on_threads(self, kind: str, batch: Batch) -> int:
        batch = {**batch, "thread": _each(batch["thread_id"], self.thread)}
        batch = {**batch, "text": self._name(kind, batch)}
        batch = _where((batch["thread"] >= 0) & (batch["text"] >= 0), batch)
        rows, times = self.rows, (batch["start_ns"], batch["start_ns"] + batch["duration_ns"])
        threads, texts = batch["thread"].astype(np.uint32), batch["text"].astype(np.uint32)
        if kind == "operation":
            return rows.add_operations(threads, texts, *times)
        if kind == "callback":
            return rows.add_python(threads, *times)
        if kind == "cuda_call":
            return rows.add_cuda_calls(threads, texts, *times, batch["correlation_id"])
        return rows.add_calls(threads, texts, *times)

    def _add_gpu(self, kind: str, batch: Batch) -> int:
        nothing = np.zeros(len(batch["start_ns"]), dtype=np.uint32)
        streams = self._streams(batch)
        texts = self._name(kind, batch).astype(np.uint32)
        batch = {**batch, "number": streams, "text": texts}
        batch = _where(streams >= 0, batch)
        return self.rows.add_gpu(
            _GPU_KINDS[kind],
            batch["number"].astype(np.uint32),
            batch["text"],
            batch["start_ns"],
            batch["start_ns"] + batch["duration_ns"],
            batch["correlation_id"],
            batch["bytes"],
            nothing[: len(batch["start_ns"])],
            batch["graph"].astype(np.uint32),
        )

    def thread(self, number: int) -> int:
        """Number of a thread in the rows; -1: there are too many."""
        if number not in self._threads:
            found = self.rows.thread(str(number))
            self._threads[number] = -1 if found is None else found
        return self._threads[number]

    def _streams(self, batch: Batch) -> Numbers:
        places = np.stack([batch["device"], batch["stream"]], axis=1) & 0xFFFFFFFF
        found, which = np.unique(places, axis=0, return_inverse=True)
        numbers = [self.rows.stream(device, 0, stream) for device, stream in found.tolist()]
        known = np.array([-1 if number is None else number for number in numbers], dtype=np.int64)
        of_rows: Numbers = known[which.reshape(-1)]
        return of_rows

    def _name(self, kind: str, batch: Batch) -> Numbers:
        """Numbers of names in the rows; -1: of a call of no layer that calls can have."""
        if kind not in _NAMES:
            return np.zeros(len(batch["name"]), dtype=np.int64)
        of, layer = _NAMES[kind]
        layers = batch["layer"] if layer is None else [layer] * len(batch["name"])
        pairs = zip(batch["name"], layers, strict=True)
        return np.array([self._text(of, name, layer) for name, layer in pairs], dtype=np.int64)

    def _text(self, of: int, name: Any, layer: Any) -> int:
        key = of, layer, name
        if key not in self._texts:
            if len(self._texts) >= _MOST_KNOWN:
                self._texts.clear()
            text = "" if name is None else str(name)
            text = _own_name(text) if of == OPERATION else text
            number = _CALL_LAYERS.get(layer, -1)
            self._texts[key] = number if number < 0 else self.rows.text(of, text, number)
        return self._texts[key]

    def _see_iterations(self, batch: Batch) -> None:
        """An iteration begins with the first of its rows."""
        order = np.argsort(batch["start_ns"], kind="stable")
        numbers, first = np.unique(batch["iteration"][order], return_index=True)
        starts = batch["start_ns"][order[first]]
        for number, start_ns in zip(numbers.tolist(), starts.tolist(), strict=True):
            has_room = number in self._begins or len(self._begins) < _MOST_ITERATIONS
            if number >= 0 and has_room:
                self._begins[number] = min(start_ns, self._begins.get(number, start_ns))


def _each(values: Numbers, of: Callable[[int], int]) -> Numbers:
    found, places = np.unique(values, return_inverse=True)
    return np.array([of(each) for each in found.tolist()], dtype=np.int64)[places.reshape(-1)]


def _where(which: npt.NDArray[np.bool_], batch: Batch) -> Batch:
    return {name: column[which] for name, column in batch.items()}


def _own_name(path: str) -> str:
    """The last name of an operation's path: "a/b" is b; inside of a name a slash is written \\/."""
    names = [found for found in _NAME.findall(path) if found]
    return re.sub(r"\\(.)", r"\1", names[-1]) if names else "(no name)"


# ---- the importer -------------------------------------------------------------------------------


def _scan(source: Source, spill: _trace.SpillFile, _operations: Collection[str]) -> Sequence[Scan]:
    with closing(open_table(source)) as table:
        processes = _read(table, spill)
    return with_rows(source, [_process_scan(each) for each in processes])


def _read(table: EventTable, spill: _trace.SpillFile) -> list[_Process]:
    processes: dict[int, _Process] = {}

    def find(number: int) -> _Process | None:
        if number not in processes and len(processes) < _MOST_PROCESSES:
            processes[number] = _Process(spill, len(processes) + 1)
        return processes.get(number)

    # The first thread is the main one: all have the number that the process has, which is none.
    for number, thread in table.threads():
        if (process := find(number)) is not None:
            process.thread(thread)
    for batch in table.batches():
        for number in np.unique(batch["process_id"]).tolist():
            process = find(number)
            of_process = _where(batch["process_id"] == number, batch)
            if process is None:
                first = next(iter(processes.values()))
                what = "rows beyond the limit of processes"
                first.rows.count(what, len(of_process["kind"]), taken=False)
                continue
            for kind in dict.fromkeys(of_process["kind"]):
                rows = _where(of_process["kind"] == kind, of_process)
                process.add(str(kind), rows)
    for process in processes.values():
        process.finish()
    return [*processes.values()] or [_Process(spill, 1)]


def _process_scan(process: _Process) -> ProcessScan:
    return ProcessScan(process.rows, noted=step_numbers.note("iteration ", process.steps))


IMPORTER = Importer(
    "events (Parquet or CSV)",
    is_event_table,
    _scan,
    {
        "operation": "a row of kind operation",
        "iteration": "column iteration",
        "native_call": "a row of kind call",
        "wait": "a row of kind wait",
    },
)
