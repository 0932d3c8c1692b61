"""SQLite exports of Nsight Systems: `nsys export --type sqlite`.

rlscope/importing/nsight_export.py reads the file. A serialized id holds, from the lowest bits,
24 bits of the thread, 24 of the process, 8 of the virtual machine and 8 of the hardware.
Correlation ids are unique within one process.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing
from typing import Any

import numpy as np
import numpy.typing as npt

from rlscope import _trace
from rlscope.errors import RlscopeError
from rlscope.importing import nsight_schema as schema
from rlscope.importing.importer import Importer, ProcessScan, Scan, Source, with_rows
from rlscope.importing.name_kinds import (
    CUDA_CALL,
    FUNCTION,
    KERNEL,
    OPERATION,
    WAIT_LAYER,
)
from rlscope.importing.nsight_export import NOTHING, NsightExport
from rlscope.importing.nsight_schema import EventTable

_MAGIC = b"SQLite format 3\0"
# A file of a stranger may have as many as it likes: memory is bounded.
_MOST_PROCESSES = 64
_MOST_KNOWN = 1 << 14
_NO_ROWS = "it has no table of Nsight Systems with rows to import"

# "cudaLaunchKernel_v7000": the version of the function's interface.
_VERSION = re.compile(r"_v\d+(_ptsz|_ptds)?$")

_Numbers = npt.NDArray[np.int64]
_Batch = Mapping[str, _Numbers]


# ---- processes ----------------------------------------------------------------------------------


class _Process:
    """Rows of one process, and what ids of the export are in them."""

    def __init__(
        self, export: NsightExport, rows: _trace.ImportedRows, pid: int, name: str
    ) -> None:
        self._export = export
        self.rows = rows
        rows.os_pid = pid & 0xFFFFFF
        rows.name = name.rpartition("/")[2]
        self._is_python = rows.name.startswith("python")
        self._threads: dict[int, int] = {}
        self._texts: dict[tuple[int, int | str], int] = {}

    def threads(self, tids: _Numbers, names: Mapping[int, str]) -> _Numbers:
        """Numbers of threads in the rows; -1: there are too many."""
        return _each(tids, lambda tid: self._thread(tid, names))

    def _thread(self, tid: int, names: Mapping[int, str]) -> int:
        if tid not in self._threads:
            os_tid = tid & 0xFFFFFF
            number = self.rows.thread(
                str(tid),
                os_tid=os_tid,
                name=names.get(tid, ""),
                is_python=self._is_python and os_tid == self.rows.os_pid,
            )
            self._threads[tid] = NOTHING if number is None else number
        return self._threads[tid]

    def texts(self, ids: _Numbers, find: Callable[[str], int], kind: int) -> _Numbers:
        """What `find` makes of the names of ids, asked once for each."""
        return _each(ids, lambda name_id: self.text(kind, name_id, find))

    def text(self, kind: int, name: int | str, find: Callable[[str], int]) -> int:
        """The same of one id, or of a text that stands in the row."""
        if (kind, name) not in self._texts:
            if len(self._texts) >= _MOST_KNOWN:
                self._texts.clear()
            text = name if isinstance(name, str) else self._export.string(name)
            self._texts[kind, name] = find(text)
        return self._texts[kind, name]

    def streams(self, batch: _Batch) -> _Numbers:
        """Numbers of streams in the rows; -1: there are too many."""
        places = np.stack([batch[name] for name in ("deviceId", "contextId", "streamId")], axis=1)
        places = np.where(places < 0, 0, places) & 0xFFFFFFFF
        found, which = np.unique(places, axis=0, return_inverse=True)
        numbers = [self.rows.stream(*map(int, place)) for place in found]
        return _numbers([NOTHING if number is None else number for number in numbers])[
            which.reshape(-1)
        ]

    def count(self, what: str, rows: int, added: int) -> None:
        self.rows.count(what, added, taken=True)
        self.rows.count(f"{what} without a time or an end", rows - added, taken=False)


def _each(ids: _Numbers, of: Callable[[int], int]) -> _Numbers:
    found, places = np.unique(ids, return_inverse=True)
    return _numbers([of(int(each)) for each in found])[places.reshape(-1)]


def _numbers(values: Sequence[int]) -> _Numbers:
    return np.array(values, dtype=np.int64)


def _u32(values: _Numbers) -> npt.NDArray[np.uint32]:
    return values.astype(np.uint32)


class _Reader:
    """Reads an export from table to table."""

    def __init__(
        self, export: NsightExport, spill: _trace.SpillFile, tell: Callable[[float], None]
    ) -> None:
        self._export = export
        self._spill = spill
        self._tell = tell
        self._processes: dict[int, _Process] = {}
        self._lost: dict[str, int] = {}  # rows of no process
        self._process_names = export.process_names()
        self._thread_names = export.thread_names()
        self._meanings = {each.table: export.meanings(each) for each in schema.ENUMERATIONS}
        self._rows = max(sum(export.rows_of(table) for table in schema.EVENT_TABLES), 1)
        self._read = 0

    def read(self) -> list[_trace.ImportedRows]:
        """The rows of all processes."""
        for table, add in (
            (schema.RUNTIME, self._add_runtime),
            (schema.NVTX, self._add_ranges),
            (schema.OS_RUNTIME, self._add_waits),
        ):
            for process, batch in self._batches(table, "globalTid"):
                add(process, batch)
        for table in schema.GPU_TABLES:
            for process, batch in self._batches(table, "globalPid"):
                self._add_gpu(table, process, batch)
        processes = [process.rows for process in self._processes.values()]
        if not processes:
            raise RlscopeError(_NO_ROWS)
        for what, rows in [*self._lost.items(), *self._export.others()]:
            processes[0].count(what, rows, taken=False)
        for process_rows in processes:
            process_rows.finish()
        return processes

    def _batches(self, table: EventTable, owner: str) -> Iterator[tuple[_Process, _Batch]]:
        """Rows of a table, process by process."""
        for rows in self._export.batches(table):
            self._read += len(rows)
            self._tell(self._read / self._rows)
            batch = self._columns(table, rows)
            pids = batch[owner] >> 24
            if owner == "globalPid":
                pids = np.where(batch[owner] < 0, self._only_process(), pids)
            for pid in np.unique(pids):
                which = pids == pid
                process = self._process(int(pid))
                if process is None:
                    self._lose(f"{table.name} of no process", int(which.sum()))
                else:
                    yield process, {name: column[which] for name, column in batch.items()}

    def _columns(self, table: EventTable, rows: list[tuple[Any, ...]]) -> _Batch:
        """Columns of rows whose numbers are numbers; the others are counted."""
        try:
            return _as_columns(table, rows)
        except TypeError:  # a None, where all others are numbers
            numbers = [place for place, name in enumerate(table.columns) if name not in _TEXTS]
            good = [row for row in rows if None not in (row[place] for place in numbers)]
            self._lose(f"{table.name} with what is no number", len(rows) - len(good))
            return _as_columns(table, good)

    def _process(self, pid: int) -> _Process | None:
        if pid < 0:
            return None
        if pid not in self._processes:
            part = len(self._processes) + 1
            if part > _MOST_PROCESSES:
                return None
            rows = _trace.ImportedRows(self._spill, part)
            name = self._process_names.get(pid, "")
            self._processes[pid] = _Process(self._export, rows, pid, name)
        return self._processes[pid]

    def _only_process(self) -> int:
        """That of GPU work in exports that do not say whose it is; -1: there are several."""
        pids = list(self._processes) or [0]
        return pids[0] if len(pids) == 1 else NOTHING

    def _lose(self, what: str, rows: int) -> None:
        if rows:
            self._lost[what] = self._lost.get(what, 0) + rows

    # ---- rows of threads ------------------------------------------------------------------------

    def _add_runtime(self, process: _Process, batch: _Batch) -> None:
        def find(name: str) -> int:
            return process.rows.text(CUDA_CALL, _VERSION.sub("", name))

        threads, batch = self._threads(schema.RUNTIME, process, batch)
        added = process.rows.add_cuda_calls(
            _u32(threads),
            _u32(process.texts(batch["nameId"], find, CUDA_CALL)),
            batch["start"],
            batch["end"],
            batch["correlationId"],
        )
        process.count(schema.RUNTIME.name, len(threads), added)

    def _add_ranges(self, process: _Process, batch: _Batch) -> None:
        def find(name: str) -> int:
            return process.rows.text(OPERATION, name or "(no text)")

        batch = self._ranges(process, batch)
        threads, batch = self._threads(schema.NVTX, process, batch)
        names = [
            process.text(OPERATION, text_id if text is None else str(text), find)
            for text, text_id in zip(batch["text"], batch["textId"].tolist(), strict=True)
        ]
        added = process.rows.add_operations(
            _u32(threads), _u32(_numbers(names)), batch["start"], batch["end"]
        )
        process.count(schema.NVTX.name, len(threads), added)

    def _ranges(self, process: _Process, batch: _Batch) -> _Batch:
        """The rows that are ranges of one thread."""
        meanings = self._meanings[schema.NVTX_TYPES.table]
        if not self._export.has(schema.NVTX.name, "eventType"):
            meanings = {NOTHING: schema.PUSH_POP}
        types = _each(batch["eventType"], lambda kind: meanings.get(kind, 0))
        for kind, rows in zip(
            *np.unique(batch["eventType"][types == 0], return_counts=True), strict=True
        ):
            process.rows.count(f"{schema.NVTX.name} of type {kind}", int(rows), taken=False)
        ends = batch["endGlobalTid"]
        crosses = (types == schema.START_END) & (ends > 0) & (ends != batch["globalTid"])
        process.rows.count(
            f"{schema.NVTX.name} that end on another thread", int(crosses.sum()), taken=False
        )
        return _where((types > 0) & ~crosses, batch)

    def _add_waits(self, process: _Process, batch: _Batch) -> None:
        def find(name: str) -> int:
            kind = _WAIT_KINDS.get(name)
            text = f"{kind}|{name}"
            return NOTHING if kind is None else process.rows.text(FUNCTION, text, WAIT_LAYER)

        what = schema.OS_RUNTIME.name
        names = process.texts(batch["nameId"], find, FUNCTION)
        process.rows.count(f"{what} that are no waits", int((names < 0).sum()), taken=False)
        long = batch["end"] - batch["start"] >= schema.LEAST_WAIT_NS
        short = int(((names >= 0) & ~long).sum())
        process.rows.count(f"{what} of less than 5 us", short, taken=False)
        waits = (names >= 0) & long
        threads, batch = self._threads(
            schema.OS_RUNTIME, process, _where(waits, {**batch, "name": names})
        )
        added = process.rows.add_calls(
            _u32(threads), _u32(batch["name"]), batch["start"], batch["end"]
        )
        process.count(what, len(threads), added)

    def _threads(
        self, table: EventTable, process: _Process, batch: _Batch
    ) -> tuple[_Numbers, _Batch]:
        """The threads of rows, and the rows whose threads are read."""
        threads = process.threads(batch["globalTid"], self._thread_names)
        process.rows.count(
            f"{table.name} beyond the limit of threads", int((threads < 0).sum()), taken=False
        )
        return threads[threads >= 0], _where(threads >= 0, batch)

    # ---- work of GPUs ---------------------------------------------------------------------------

    def _add_gpu(self, table: EventTable, process: _Process, batch: _Batch) -> None:
        streams = process.streams(batch)
        process.rows.count(
            f"{table.name} beyond the limit of streams", int((streams < 0).sum()), taken=False
        )
        batch = _where(streams >= 0, batch)
        nothing = np.zeros(len(batch["start"]), dtype=np.int64)
        added = process.rows.add_gpu(
            table.gpu_kind,
            _u32(streams[streams >= 0]),
            _u32(self._kernel_names(process, batch) if "shortName" in batch else nothing),
            batch["start"],
            batch["end"],
            np.maximum(batch["correlationId"], 0),
            np.maximum(batch.get("bytes", nothing), 0),
            _u32(self._how(batch, nothing)),
            _u32(np.maximum(batch.get("graphId", nothing), 0)),
        )
        process.count(table.name, len(batch["start"]), added)

    def _kernel_names(self, process: _Process, batch: _Batch) -> _Numbers:
        long, short = batch["demangledName"], batch["shortName"]
        ids = np.where(long >= 0, long, short)
        return process.texts(ids, lambda name: process.rows.text(KERNEL, name), KERNEL)

    def _how(self, batch: _Batch, nothing: _Numbers) -> _Numbers:
        """GpuDetail::how: of a copy its direction and the host's memory or the source's."""
        if "copyKind" in batch:
            directions = self._meant(schema.COPY_KINDS, batch["copyKind"])
            to_host = np.isin(directions, schema.TO_HOST)
            memories = np.where(to_host, batch["dstKind"], batch["srcKind"])
            return directions | self._meant(schema.MEMORY_KINDS, memories) << 4
        if "memKind" in batch:
            return self._meant(schema.MEMORY_KINDS, batch["memKind"])
        if "syncType" in batch:
            return self._meant(schema.SYNC_TYPES, batch["syncType"])
        return nothing

    def _meant(self, enumeration: schema.Enumeration, numbers: _Numbers) -> _Numbers:
        meanings = self._meanings[enumeration.table]
        return _each(numbers, lambda number: meanings.get(number, 0))


_TEXTS = schema.TEXT_COLUMNS
_WAIT_KINDS = {name: kind for kind, names in schema.WAITS.items() for name in names}


def _as_columns(table: EventTable, rows: list[tuple[Any, ...]]) -> dict[str, _Numbers]:
    columns = list(zip(*rows, strict=True)) or [()] * len(table.columns)
    return {
        name: np.array(column, dtype=object if name in _TEXTS else np.int64)
        for name, column in zip(table.columns, columns, strict=True)
    }


def _where(which: npt.NDArray[np.bool_], batch: _Batch) -> dict[str, _Numbers]:
    return {name: column[which] for name, column in batch.items()}


# ---- the importer -------------------------------------------------------------------------------


def _recognises(head: bytes) -> bool:
    return head.startswith(_MAGIC)


def _scan(source: Source, spill: _trace.SpillFile, _operations: Collection[str]) -> Sequence[Scan]:
    path = source.uncompressed_path()
    try:
        with closing(NsightExport(path)) as export:
            rows = _Reader(export, spill, source.tell).read()
            base_ns, host, notes = export.session_start_ns(), export.host(), export.notes()
    except RlscopeError as error:
        raise RlscopeError(f"{source.path} cannot be imported: {error}") from error
    except (sqlite3.Error, OverflowError, UnicodeDecodeError) as error:
        said = str(error).partition("\n")[0][:200]
        raise RlscopeError(f"{source.path} is damaged: {said}") from error
    scans = [ProcessScan(each, base_ns=base_ns, host=host, noted=notes) for each in rows]
    return with_rows(source, scans)


IMPORTER = Importer(
    "Nsight Systems (SQLite export)",
    _recognises,
    _scan,
    {"operation": "an NVTX range", "wait": "a call of 5 us or more in table OSRT_API"},
)
