"""Rows of single intervals, as rlscope._trace streams them, with a process's own numbers."""

from __future__ import annotations

from functools import cache
from typing import Any

import duckdb

from rlscope import _trace
from rlscope.relations.rows.operations import sources_of_rows

MOST_PATHS = 16_384
_TIMES = ("iteration", "operation", "layer", "gpu_busy", "duration_ns")


def known_operations(
    trace: _trace.Directory, process: int, most_paths: int = MOST_PATHS
) -> list[tuple[str, str, int]]:
    """Path, source and row of the operations that a sweep finds."""
    swept = trace.sweep(process, buckets=0, most_paths=most_paths)["operation"]
    return list(zip(swept["path"], swept["source"], range(len(swept["path"])), strict=True))


def read_rows(rows: _trace.RowStream) -> list[tuple[Any, ...]]:
    """All rows of a stream."""
    return _asked("SELECT * FROM streamed", rows)


def total(rows: _trace.RowStream, column: str) -> int:
    """The exact sum of a column of a stream, whose rows are not held."""
    ((found,),) = _asked(f"SELECT COALESCE(SUM({column}), 0) FROM streamed", rows)
    return int(found)


def _asked(statement: str, rows: _trace.RowStream) -> list[tuple[Any, ...]]:
    database = _database()
    database.register("streamed", rows)
    try:
        found: list[tuple[Any, ...]] = database.execute(statement).fetchall()
        return found
    finally:
        database.unregister("streamed")


@cache
def _database() -> duckdb.DuckDBPyConnection:
    """One for all: to make one takes longer than to read a small trace."""
    return duckdb.connect(config={"threads": 1})


def read_iteration_times(swept: dict[str, Any]) -> dict[str, list[Any]]:
    """The columns of iteration_breakdown: iteration -1 outside, operations as rows of the sweep's
    table `operation`, layers as numbers."""
    operation = swept["operation"]
    keys = zip(operation["path"], sources_of_rows(operation), strict=True)
    row_of = {key: row for row, key in enumerate(keys)}
    iterations, layers = swept["iteration"], list(_trace.LAYERS)
    columns: dict[str, list[Any]] = {name: [] for name in _TIMES}
    for number, found, complete, path, source, layer, *rest in read_rows(
        swept["iteration_breakdown"]
    ):
        inside = number is not None
        known = (
            [iterations[key][number] for key in ("source", "complete")] if inside else [None] * 2
        )
        assert [found, complete] == known
        row = (number if inside else -1, row_of[path, source], layers.index(layer), *rest)
        for name, value in zip(_TIMES, row, strict=True):
            columns[name].append(value)
    return columns


def read_instances(
    trace: _trace.Directory, process: int, most_paths: int = MOST_PATHS
) -> dict[str, list[Any]]:
    """The columns of operation_instance: thread and operation as numbers of the process (rows of
    the sweep's table `operation`), iteration -1 where none had begun."""
    known = known_operations(trace, process, most_paths)
    stream = trace.instance_rows(process, first_thread=0, operations=known, most_paths=most_paths)
    threads = trace.threads(process)["thread"]
    rows = [
        (int(threads[thread]), operation, -1 if iteration is None else iteration, *rest)
        for thread, operation, iteration, *rest in read_rows(stream)
    ]
    names = ("thread", "operation", "iteration", "start_ns", "duration_ns", "self_ns", "ended")
    columns = zip(*rows, strict=True) if rows else ([] for _ in names)
    return dict(zip(names, map(list, columns), strict=True))
