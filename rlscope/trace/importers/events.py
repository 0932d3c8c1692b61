"""Tables with the columns of relation `event`, as Parquet or CSV: what any tool can write.

DuckDB reads them, as a stream. A row is one interval; the columns `kind`, `name`, `start_ns` and
`duration_ns` must be there. Others are read where they are there, and may be NULL.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing
from typing import Any

import duckdb
import numpy as np
import numpy.typing as npt

from rlscope import _trace
from rlscope.errors import RlscopeError
from rlscope.trace.imported import Importer, ProcessScan, Scan, Source, with_rows
from rlscope.trace.name_kinds import CUDA_CALL, FUNCTION, KERNEL, LAYERS, OPERATION

_NEEDED = ("kind", "name", "start_ns", "duration_ns")
_TEXTS = ("kind", "name", "layer")
_NO_TIME = -(1 << 62)  # no time of the trace format
# Others, with what stands for a column that is not there, and for NULL.
_NUMBERS = {
    "start_ns": _NO_TIME,
    "duration_ns": -1,
    "process_id": 0,
    "thread_id": 0,
    "correlation_id": 0,
    "device": 0,
    "stream": 0,
    "bytes": 0,
    "graph": 0,
    "iteration": -1,
}
_INTEGERS = re.compile(r"U?(TINYINT|SMALLINT|INTEGER|BIGINT|HUGEINT)")
_BATCH = 20_000
_MOST_PROCESSES = 64
_MOST_THREADS = 1 << 16
_MAIN = 0  # of a process the thread that is made first
_MOST_TEXTS = 1 << 18
_MOST_ITERATIONS = 1 << 20
_MOST_TEXT = 16 << 10
_LONGEST_HEADER = 16 << 10
# The buffers of a CSV of long lines are the largest part. No file is written beside ours.
_SETTINGS: Mapping[str, Any] = {"threads": 1, "memory_limit": "192MB", "temp_directory": ""}

_PARQUET = b"PAR1"
_GPU_KINDS = {kind["name"]: number for number, kind in enumerate(_trace.GPU_KINDS)}
_ON_THREADS = ("operation", "call", "wait", "callback", "cuda_call")
# Of the kinds that have one: what the name is of, and the layer, None where the row says it.
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

_Numbers = npt.NDArray[np.int64]
_Batch = Mapping[str, npt.NDArray[Any]]


# ---- the table ----------------------------------------------------------------------------------


class _Table:
    """The file, as DuckDB sees it."""

    def __init__(self, source: Source, reader: str, *arguments: str) -> None:
        self._source = source
        self._path = source.path
        self._database = duckdb.connect(config=dict(_SETTINGS))
        path = source.uncompressed_path()
        self._from = f"{reader}({', '.join([_quoted(path), *arguments])})"
        described = self._database.execute(f"DESCRIBE SELECT * FROM {self._from}").fetchall()
        self._types = {str(name): str(kind) for name, kind, *_ in described}
        for column in _NEEDED:
            if column not in self._types:
                raise RlscopeError(f"{self._path} has no column {column}, as relation event has")
        for column in (*_TEXTS, *_NUMBERS):
            if column in self._types:
                self._check_type(column)

    def close(self) -> None:
        self._database.close()

    def batches(self) -> Iterator[_Batch]:
        """Rows, column by column: texts, in which None is NULL, and numbers."""
        wanted = ", ".join([*map(self._text, _TEXTS), *map(self._number, _NUMBERS)])
        cursor = self._database.execute(f"SELECT {wanted} FROM {self._from}")
        while rows := cursor.fetchmany(_BATCH):
            found = zip((*_TEXTS, *_NUMBERS), zip(*rows, strict=True), strict=True)
            yield {
                name: np.array(column, dtype=object if name in _TEXTS else np.int64)
                for name, column in found
            }

    def threads(self) -> list[tuple[int, int]]:
        """(process, thread) of all rows of threads; of each process the main thread first.

        No row says which it is: the one whose first operation began first, as the operations of the
        main thread are those that count for the process.
        """
        process, thread, start = map(self._number, ("process_id", "thread_id", "start_ns"))
        kinds = ", ".join(map(_quoted, _ON_THREADS))
        query = (
            f"SELECT {process} AS process, {thread} AS thread"
            f" FROM {self._from} WHERE kind IN ({kinds}) GROUP BY ALL ORDER BY process,"
            f" min({start}) FILTER (WHERE kind = 'operation') NULLS LAST, thread"
        )
        rows = self._database.execute(f"{query} LIMIT {_MOST_THREADS}").fetchall()
        return [(int(process), int(thread)) for process, thread in rows]

    def _check_type(self, column: str) -> None:
        kind = self._types[column]
        is_text = kind == "VARCHAR" or kind.startswith("ENUM")
        good = is_text if column in _TEXTS else is_text or _INTEGERS.fullmatch(kind)
        if not good:
            wanted = "text" if column in _TEXTS else "whole numbers"
            raise RlscopeError(f"{self._path}: column {column} is {kind}, not {wanted}")

    def _text(self, column: str) -> str:
        return f"CAST({column} AS VARCHAR)" if column in self._types else "NULL"

    def _number(self, column: str) -> str:
        if column not in self._types:
            return f"{_NUMBERS[column]}::BIGINT"
        # DuckDB would round a fraction: what is no whole number is made something to refuse.
        whole = f"if({self._is_whole(column)}, {column}::VARCHAR, 'no number')"
        return f"coalesce(if({column} IS NULL, NULL, CAST({whole} AS BIGINT)), {_NUMBERS[column]})"

    def _is_whole(self, column: str) -> str:
        return f"regexp_full_match({column}::VARCHAR, '\\s*[+-]?[0-9]+\\s*')"

    def blame(self, error: duckdb.Error) -> RlscopeError:
        """What is wrong with the values, by the first one of a column that is no whole number."""
        for column in _NUMBERS:
            if column not in self._types:
                continue
            query = (
                f"SELECT {column} FROM {self._from} WHERE {column} IS NOT NULL AND"
                f" (NOT {self._is_whole(column)} OR TRY_CAST({column} AS BIGINT) IS NULL) LIMIT 1"
            )
            try:
                row = self._database.execute(query).fetchone()
            except duckdb.Error:
                break
            if row is not None:
                value = repr(row[0])[:80]
                return RlscopeError(f"{self._path}: column {column} has {value}, no whole number")
        return _damaged(self._source, error)


def _quoted(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def _damaged(source: Source, error: duckdb.Error) -> RlscopeError:
    said = str(error).splitlines()[0].replace(source.uncompressed_path(), source.path.name)
    return RlscopeError(f"{source.path} is damaged: {said[:200]}")


# ---- its processes ------------------------------------------------------------------------------


class _Process:
    """Rows of one process."""

    def __init__(self, spill: _trace.SpillFile, part: int) -> None:
        self.rows = _trace.ProcessRows(spill, part)
        self.first_iteration: int | None = None
        self._threads: dict[int, int] = {}
        self._texts: dict[tuple[int, int, str], int] = {}
        self._begins: dict[int, int] = {}  # of iterations

    def add(self, kind: str, batch: _Batch) -> None:
        """Rows of one kind."""
        count = len(batch["start_ns"])
        if kind in _GPU_KINDS:
            added = self._add_gpu(kind, batch)
        elif kind in _ON_THREADS:
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
        self.first_iteration = min(self._begins, default=None)
        self.rows.finish()

    def _add_on_threads(self, kind: str, batch: _Batch) -> int:
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

    def _add_gpu(self, kind: str, batch: _Batch) -> int:
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

    def _streams(self, batch: _Batch) -> _Numbers:
        places = np.stack([batch["device"], batch["stream"]], axis=1) & 0xFFFFFFFF
        found, which = np.unique(places, axis=0, return_inverse=True)
        numbers = [self.rows.stream(device, 0, stream) for device, stream in found.tolist()]
        known = np.array([-1 if number is None else number for number in numbers], dtype=np.int64)
        of_rows: _Numbers = known[which.reshape(-1)]
        return of_rows

    def _name(self, kind: str, batch: _Batch) -> _Numbers:
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
            if len(self._texts) >= _MOST_TEXTS:
                self._texts.clear()
            text = "" if name is None else str(name)[:_MOST_TEXT]
            text = _own_name(text) if of == OPERATION else text
            number = _CALL_LAYERS.get(layer, -1)
            self._texts[key] = number if number < 0 else self.rows.text(of, text, number)
        return self._texts[key]

    def _see_iterations(self, batch: _Batch) -> None:
        """An iteration begins with the first of its rows."""
        order = np.argsort(batch["start_ns"], kind="stable")
        numbers, first = np.unique(batch["iteration"][order], return_index=True)
        starts = batch["start_ns"][order[first]]
        for number, start_ns in zip(numbers.tolist(), starts.tolist(), strict=True):
            if number >= 0 and (number in self._begins or len(self._begins) < _MOST_ITERATIONS):
                self._begins[number] = min(start_ns, self._begins.get(number, start_ns))


def _each(values: _Numbers, of: Callable[[int], int]) -> _Numbers:
    found, places = np.unique(values, return_inverse=True)
    return np.array([of(each) for each in found.tolist()], dtype=np.int64)[places.reshape(-1)]


def _where(which: npt.NDArray[np.bool_], batch: _Batch) -> _Batch:
    return {name: column[which] for name, column in batch.items()}


def _own_name(path: str) -> str:
    """The last name of an operation's path: "a/b" is b; inside of a name a slash is written \\/."""
    names = [found for found in _NAME.findall(path) if found]
    return re.sub(r"\\(.)", r"\1", names[-1]) if names else "(no name)"


# ---- the importer -------------------------------------------------------------------------------


def _recognises(head: bytes) -> bool:
    if head.startswith(_PARQUET):
        return True
    first = head.partition(b"\n")[0][:_LONGEST_HEADER].decode(errors="replace")
    columns = next(csv.reader(io.StringIO(first.lstrip("\ufeff"))), [])
    return {"start_ns", "duration_ns"} <= {column.strip() for column in columns}


def _scan(source: Source, spill: _trace.SpillFile, _operations: Collection[str]) -> Sequence[Scan]:
    with open(source.uncompressed_path(), "rb") as file:
        is_parquet = file.read(len(_PARQUET)) == _PARQUET
    # Everything as text: what is no number is said by its value, not by a type that was guessed.
    how = ("read_parquet",) if is_parquet else ("read_csv", "header = true", "all_varchar = true")
    try:
        with closing(_Table(source, *how)) as table:
            try:
                processes = _read(table, spill)
            except duckdb.Error as error:
                raise table.blame(error) from error
    except duckdb.Error as error:
        raise _damaged(source, error) from error
    return with_rows(source, [_process_scan(each) for each in processes])


def _read(table: _Table, spill: _trace.SpillFile) -> list[_Process]:
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
                what = "rows of more processes than are read"
                first.rows.count(what, len(of_process["kind"]), taken=False)
                continue
            for kind in dict.fromkeys(of_process["kind"]):
                rows = _where(of_process["kind"] == kind, of_process)
                process.add(str(kind), rows)
    for process in processes.values():
        process.finish()
    return [*processes.values()] or [_Process(spill, 1)]


def _process_scan(process: _Process) -> ProcessScan:
    noted = {} if process.first_iteration is None else {"first_step": process.first_iteration}
    return ProcessScan(process.rows, noted=noted)


IMPORTER = Importer("table of events (Parquet or CSV)", _recognises, _scan)
