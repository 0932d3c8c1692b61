"""The SQL twin: raw tuples into DuckDB, missing.sql and twin.sql (and cuda.sql), rows out."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import duckdb

from ground_truth.raw import RawProcess
from ground_truth.relations import (
    CUDA_RELATIONS,
    LAYERS,
    Breakdown,
    IterationTime,
    Rows,
    StateReading,
    ThreadBreakdown,
)

FOLDER = Path(__file__).parent
SCRIPTS = [(FOLDER / name).read_text() for name in ("missing.sql", "twin.sql")]
CUDA_SCRIPT = (FOLDER / "cuda.sql").read_text()

INPUTS = {
    "process": "start_ns BIGINT, end_ns BIGINT, python_begin_ns BIGINT, python_end_ns BIGINT, "
    "most_paths INT",
    "thread": "thread INT, is_main BOOLEAN, is_python BOOLEAN",
    "item": "thread INT, ord INT, time_ns BIGINT, kind TEXT, name TEXT, duration_ns BIGINT, "
    "number INT",
    "missing": "thread INT, first INT, last INT",
    "cuda_call": "thread INT, ord INT, start_ns BIGINT, end_ns BIGINT, name TEXT, "
    "correlation BIGINT, status INT, site INT",
    "gpu_work": "id INT, start_ns BIGINT, end_ns BIGINT, kind TEXT, device INT, stream BIGINT, "
    "context INT, correlation BIGINT, name TEXT, size BIGINT, how INT, graph INT",
    "function": "name TEXT, layer INT",
    "state": "time_ns BIGINT, awake INT[]",
    "thread_stack": "time_ns BIGINT, thread INT, node INT",
    "node": "node INT, parent INT, function TEXT, line INT",
}


def tables(process: RawProcess) -> Rows:
    """The process view, whole and by iteration, the per-thread view, and readings of the threads'
    states, in canonical form."""
    connection = _replayed(process)
    key = "phase, operation, layer, busy, duration_ns, count"
    whole = connection.execute(f"SELECT stage, {key} FROM breakdown").fetchall()
    threads = connection.execute(f"SELECT thread, {key} FROM breakdown_by_thread").fetchall()
    iterations = connection.execute(
        "SELECT iteration, operation, layer, busy, duration_ns FROM iteration_breakdown"
    ).fetchall()
    readings = connection.execute("FROM state_reading").fetchall()
    return {
        "state_reading": sorted(
            StateReading(s, o, LAYERS[n], *rest) for s, o, n, *rest in readings
        ),
        "iteration_breakdown": sorted(
            IterationTime(i, o, LAYERS[n], *rest) for i, o, n, *rest in iterations
        ),
        "breakdown": sorted(Breakdown(s, p, o, LAYERS[n], *rest) for s, p, o, n, *rest in whole),
        "breakdown_by_thread": sorted(
            ThreadBreakdown(t, p, o, LAYERS[n], *rest) for t, p, o, n, *rest in threads
        ),
    }


def cuda_tables(process: RawProcess) -> Rows:
    """The relations of CUDA calls and GPU work, in canonical form."""
    connection = _replayed(process)
    connection.execute(CUDA_SCRIPT)
    return {
        relation: sorted(map(row._make, connection.execute(f"FROM x_{relation}").fetchall()))
        for relation, row in CUDA_RELATIONS.items()
    }


def _replayed(process: RawProcess) -> duckdb.DuckDBPyConnection:
    connection = _connection()
    for relation, rows in _inputs(process).items():
        _fill(connection, relation, rows)
    for script in SCRIPTS:
        connection.execute(script)
    return connection


@cache
def _connection() -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect(":memory:", config={"threads": 1})
    for relation, columns in INPUTS.items():
        connection.execute(f"CREATE TABLE {relation} ({columns})")
    return connection


def _fill(connection: duckdb.DuckDBPyConnection, relation: str, rows: list[Sequence[Any]]) -> None:
    connection.execute(f"DELETE FROM {relation}")
    if rows:
        marks = ", ".join(f"({', '.join('?' * len(row))})" for row in rows)
        connection.execute(
            f"INSERT INTO {relation} VALUES {marks}", [value for row in rows for value in row]
        )


def _inputs(process: RawProcess) -> dict[str, list[Sequence[Any]]]:
    numbered = process.numbered()
    ends = (process.start_ns, process.end_ns, process.python_begin_ns, process.python_end_ns)
    return {
        "process": [(*ends, process.most_paths)],
        "thread": [(number, thread.main, thread.is_python) for number, thread in numbered],
        "item": [
            (number, order, i.time_ns, i.kind.name, i.name, i.duration_ns, i.number)
            for number, thread in numbered
            for order, i in enumerate(thread.items)
        ],
        "missing": [(number, *thread.missing) for number, thread in numbered if thread.missing],
        "cuda_call": [
            (number, order, *call)
            for number, thread in numbered
            for order, call in enumerate(thread.cuda_calls)
        ],
        "gpu_work": [
            (number, *work[:2], work.kind.name, *work[3:])
            for number, work in enumerate(process.gpu)
        ],
        "state": [(time_ns, sorted(awake)) for time_ns, awake in process.states],
        "thread_stack": [
            (time_ns, thread, node)
            for time_ns, nodes in process.stacks.items()
            for thread, node in nodes.items()
        ],
        "node": [(number, *node) for number, node in enumerate(process.nodes, start=1)],
        "function": [
            (name, LAYERS.index(layer)) for name, layer in process.function_layers.items()
        ],
    }
