"""Files with the columns of relation `event`, read in batches: Parquet by DuckDB, CSV by Python.

CSV is not DuckDB's: some damaged files are empty tables to it (an open quote, a line of 40 MB).
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Protocol

import duckdb
import numpy as np
import numpy.typing as npt

from rlscope.errors import RlscopeError
from rlscope.importing.importer import Source

NEEDED = ("kind", "name", "start_ns", "duration_ns")
TEXTS = ("kind", "name", "layer")
# The other columns, with what stands for one that is not there, and for NULL.
NUMBERS = {
    "start_ns": -(1 << 62),  # no time of the trace format
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
ON_THREADS = ("operation", "call", "wait", "callback", "cuda_call")
"""Kinds of rows that a thread has."""

Numbers = npt.NDArray[np.int64]
Batch = Mapping[str, npt.NDArray[Any]]

_PARQUET = b"PAR1"
_INTEGERS = re.compile(r"U?(TINYINT|SMALLINT|INTEGER|BIGINT|HUGEINT)")
_BATCH = 5000
_MOST_TEXT = 4096  # what is longer is cut
_MOST_THREADS = 1 << 16
_LONGEST_HEADER = 16 << 10
_LONGEST_LINE = 1 << 20
# No file is written beside ours.
_SETTINGS: Mapping[str, Any] = {"threads": 1, "memory_limit": "192MB", "temp_directory": ""}


class EventTable(Protocol):
    """A file that is open."""

    def threads(self) -> list[tuple[int, int]]:
        """(process, thread) of all rows of threads; of each process the main thread first.

        No row says which it is: the one whose first operation began first, as the operations of the
        main thread are those that count for the process.
        """

    def batches(self) -> Iterator[Batch]:
        """Rows, column by column: TEXTS, in which None is NULL, and NUMBERS.

        Raises RlscopeError: a value is of the wrong type, or the file is damaged.
        """

    def close(self) -> None:
        """Lets go of the file."""


def is_event_table(head: bytes) -> bool:
    """Whether a file is one, by its first bytes: any Parquet, or a CSV with columns of times."""
    return head.startswith(_PARQUET) or {"start_ns", "duration_ns"} <= set(_header(head))


def open_table(source: Source) -> EventTable:
    """Raises RlscopeError: a column is missing or of the wrong type, or the file is damaged."""
    with Source(source.path) as first:
        head = first.read(_LONGEST_HEADER)
    return _Parquet(source) if head.startswith(_PARQUET) else _Csv(source)


def _check(source: Source, columns: Sequence[str]) -> None:
    for column in NEEDED:
        if column not in columns:
            raise RlscopeError(f"{source.path} has no column {column}, as relation event has")


# ---- Parquet ------------------------------------------------------------------------------------


class _Parquet:
    def __init__(self, source: Source) -> None:
        self._source = source
        path = source.uncompressed_path()
        self._database = duckdb.connect(config=dict(_SETTINGS))
        self._from = f"read_parquet('{path}')"
        described = self._execute(f"DESCRIBE SELECT * FROM {self._from}").fetchall()
        self._types = {str(name): str(kind) for name, kind, *_ in described}
        _check(source, [*self._types])
        for column in (*TEXTS, *NUMBERS):
            self._check_type(column)

    def close(self) -> None:
        self._database.close()

    def threads(self) -> list[tuple[int, int]]:
        process, thread, start = map(self._value, ("process_id", "thread_id", "start_ns"))
        query = f"""SELECT {process} AS process, {thread} AS thread FROM {self._from}
            WHERE list_contains($kinds, kind::VARCHAR) GROUP BY ALL ORDER BY process,
            min({start}) FILTER (WHERE kind = 'operation') NULLS LAST, thread LIMIT $most"""
        rows = self._execute(query, {"kinds": [*ON_THREADS], "most": _MOST_THREADS}).fetchall()
        for place, name in enumerate(("process_id", "thread_id")):
            self._check_numbers(name, [row[place] for row in rows])
        return [(int(process), int(thread)) for process, thread in rows]

    def batches(self) -> Iterator[Batch]:
        names = (*TEXTS, *NUMBERS)
        cursor = self._execute(f"SELECT {', '.join(map(self._value, names))} FROM {self._from}")
        while rows := self._fetch(cursor):
            columns = zip(names, zip(*rows, strict=True), strict=True)
            yield {name: self._column(name, column) for name, column in columns}

    def _column(self, name: str, values: Sequence[Any]) -> npt.NDArray[Any]:
        if name in TEXTS:
            return np.array(values, dtype=object)
        self._check_numbers(name, values)
        return np.array(values, dtype=np.int64)

    def _check_numbers(self, name: str, values: Sequence[Any]) -> None:
        """DuckDB believes a damaged file that a column has no NULL, and then coalesce() lets one
        through."""
        if None in values:
            path = self._source.path
            raise RlscopeError(f"{path} is damaged: column {name} has a NULL and says it has none")

    def _check_type(self, column: str) -> None:
        kind = self._types.get(column)
        if column in TEXTS:
            good = kind is None or kind == "VARCHAR" or kind.startswith("ENUM")
        else:
            good = kind is None or _INTEGERS.fullmatch(kind) is not None
        if not good:
            wanted = "text" if column in TEXTS else "whole numbers"
            raise RlscopeError(f"{self._source.path}: column {column} is {kind}, not {wanted}")

    def _value(self, column: str) -> str:
        if column in TEXTS:
            text = f"left(CAST({column} AS VARCHAR), {_MOST_TEXT})"
            return text if column in self._types else "NULL"
        value = f"CAST({column} AS BIGINT)" if column in self._types else "NULL"
        return f"coalesce({value}, {NUMBERS[column]})::BIGINT"

    def _execute(self, query: str, values: Mapping[str, Any] | None = None) -> Any:
        try:
            return self._database.execute(query, dict(values) if values else None)
        except (duckdb.Error, UnicodeDecodeError) as error:
            raise self._damaged(error) from error

    def _fetch(self, cursor: Any) -> list[tuple[Any, ...]]:
        try:
            rows: list[tuple[Any, ...]] = cursor.fetchmany(_BATCH)
        except (duckdb.Error, UnicodeDecodeError) as error:
            raise self._damaged(error) from error
        return rows

    def _damaged(self, error: Exception) -> RlscopeError:
        path = self._source.path
        if isinstance(error, duckdb.ConversionException):
            return RlscopeError(f"{path} has a number that is none of 64 bits: {_first(error)}")
        said = _first(error).replace(self._source.uncompressed_path(), path.name)
        return RlscopeError(f"{path} is damaged: {said}")


def _first(error: Exception) -> str:
    return str(error).partition("\n")[0][:200]


# ---- CSV ----------------------------------------------------------------------------------------


class _Stream(io.RawIOBase):
    """A source as a file of Python."""

    def __init__(self, source: Source) -> None:
        self._source = source

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        content = self._source.read(len(buffer))
        buffer[: len(content)] = content
        return len(content)


class _Csv:
    def __init__(self, source: Source) -> None:
        self._source = source
        self._columns = next(self._rows(source), [])
        _check(source, self._columns)

    def close(self) -> None:
        pass

    def threads(self) -> list[tuple[int, int]]:
        first: dict[tuple[int, int], float] = {}
        columns = ("process_id", "thread_id", "kind", "start_ns")
        with Source(self._source.path) as source:
            for batch in self._batches(source, columns):
                rows = zip(*(batch[name].tolist() for name in columns), strict=True)
                for process, thread, kind, start in rows:
                    key = process, thread
                    if kind not in ON_THREADS or not (key in first or len(first) < _MOST_THREADS):
                        continue
                    begin = start if kind == "operation" else np.inf
                    first[key] = min(begin, first.get(key, np.inf))
        return sorted(first, key=lambda each: (each[0], first[each], each[1]))

    def batches(self) -> Iterator[Batch]:
        with Source(self._source.path, self._source.tell) as source:
            yield from self._batches(source, (*TEXTS, *NUMBERS))

    def _batches(self, source: Source, wanted: Sequence[str]) -> Iterator[Batch]:
        rows = self._rows(source)
        next(rows)
        while some := [row for _, row in zip(range(_BATCH), rows, strict=False)]:
            columns = dict(zip(self._columns, zip(*some, strict=True), strict=False))
            yield {name: self._column(name, columns.get(name), len(some)) for name in wanted}

    def _column(self, column: str, values: Sequence[str] | None, count: int) -> Any:
        of = _texts if column in TEXTS else partial(self._numbers, column)
        return of(values, count)

    def _numbers(self, column: str, values: Sequence[str] | None, count: int) -> Numbers:
        nothing = NUMBERS[column]
        if values is None:
            return np.full(count, nothing, dtype=np.int64)
        try:
            whole = list(map(int, values)) if "" not in values else _with(nothing, values)
            return np.array(whole, dtype=np.int64)
        except (ValueError, OverflowError):
            value = next(value for value in values if value and not _fits(value))
            raise RlscopeError(
                f"{self._source.path}: column {column} has {value[:80]!r}, no whole number"
            ) from None

    def _rows(self, source: Source) -> Iterator[list[str]]:
        """All of the file, each with as many values as it has columns."""
        reader = csv.reader(self._lines(source), strict=True)
        columns = 0
        try:
            for row in reader:
                columns = columns or len(row)
                if row and len(row) != columns:
                    raise csv.Error(f"{len(row)} values, not {columns}")
                if row:
                    yield [value[:_MOST_TEXT] for value in row]
        except csv.Error as error:
            raise RlscopeError(f"{self._source.path}, line {reader.line_num}: {error}") from error

    def _lines(self, source: Source) -> Iterator[str]:
        stream = io.BufferedReader(_Stream(source), 1 << 16)
        text = io.TextIOWrapper(stream, "utf-8-sig", errors="replace", newline="")
        while line := text.readline(_LONGEST_LINE + 1):
            if len(line) > _LONGEST_LINE:
                raise csv.Error(f"it is longer than {_LONGEST_LINE:,} characters")
            yield line


def _header(head: bytes) -> list[str]:
    line = head[:_LONGEST_HEADER].decode("utf-8-sig", errors="replace").partition("\n")[0]
    return [column.strip('" \r') for column in line.split(",")]


def _with(nothing: int, values: Sequence[str]) -> list[int]:
    return [int(value) if value else nothing for value in values]


def _texts(values: Sequence[str] | None, count: int) -> npt.NDArray[Any]:
    texts = [value or None for value in values] if values is not None else [None] * count
    return np.array(texts, dtype=object)


def _fits(value: str) -> bool:
    try:
        return -(1 << 63) <= int(value) < 1 << 63
    except ValueError:
        return False
