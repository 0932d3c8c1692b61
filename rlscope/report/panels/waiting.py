"""Who waits for whom: operations and what they wait for, environment workers and their steps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rlscope.analysis import verdicts, waits
from rlscope.report import limits, loop_sentences, units
from rlscope.report.panel import Drawing, Grid, Nothing, Panel, Tables
from rlscope.table import Table

if TYPE_CHECKING:
    from rlscope.opening import Trace


def read(trace: Trace) -> dict[str, Table]:
    return {
        "process_wait": waits.process_waits(trace),
        "worker_step": waits.worker_steps(trace),
        "critical_process": waits.critical_processes(trace),
        "critical_iteration": waits.critical_iterations(trace, iterations=limits.ROWS),
    }


def draw(tables: Tables) -> Drawing | Nothing:
    targets = tables["process_wait"].to_dicts()
    steps = tables["worker_step"].to_dicts()
    longest = tables["critical_iteration"].to_dicts()
    if not targets:
        return Nothing("rlscope recorded no wait of a process that counts.")
    return Drawing(
        notes=[
            _NOTE,
            *loop_sentences.workers(steps),
            *loop_sentences.critical(tables["critical_process"].to_dicts()),
        ],
        grids=[
            _targets(targets),
            *([_workers(steps)] if steps else []),
            *([_iterations(longest)] if longest else []),
        ],
    )


def _targets(rows: list[dict[str, Any]]) -> Grid:
    listed = [row for row in rows if verdicts.is_wait_listed(row["self_ns"], row["process_ns"])]
    return Grid(
        title="Table: what each process waits for, added up over its threads",
        columns=["process", "operation", "waits for", ">time", ">share of its waits"],
        rows=[
            [
                units.visible(row["process"] or "?"),
                units.operation(row["operation"]),
                loop_sentences.target(row),
                units.duration(row["self_ns"]),
                units.share(row["self_ns"], row["process_ns"]),
            ]
            for row in listed[: limits.ROWS]
        ],
    )


def _workers(rows: list[dict[str, Any]]) -> Grid:
    return Grid(
        title="Table: environment workers, and the operation that waits for them",
        columns=[
            "worker",
            "operation",
            "of",
            ">steps for",
            ">share of the operation",
            ">pickling beside its steps",
            ">last in",
            ">later than the others",
        ],
        rows=[
            [
                units.visible(row["worker"]),
                units.operation(row["operation"]),
                units.visible(row["process"]),
                units.duration(row["stepped_ns"]),
                units.share(row["stepped_ns"], row["operation_ns"]),
                "-" if row["pickled_ns"] is None else units.duration(row["pickled_ns"]),
                f"{row['last']:,} of {row['steps']:,}",
                units.duration(row["late_ns"]),
            ]
            for row in rows[: limits.ROWS]
        ],
        open=True,
    )


def _iterations(rows: list[dict[str, Any]]) -> Grid:
    return Grid(
        title="Table: the longest iterations, and the process that takes most of each",
        columns=["process", ">iteration", ">duration", "critical", ">belongs to it", ">share"],
        rows=[
            [
                units.visible(row["process"]),
                f"{row['iteration']:,}",
                units.duration(row["duration_ns"]),
                units.visible(row["critical"]),
                units.duration(row["critical_ns"]),
                units.share(row["critical_ns"], row["duration_ns"]),
            ]
            for row in rows
        ],
    )


_NOTE = (
    "A wait is a call of the interpreter that blocked for 5 µs or more. Waits for the GIL count if "
    "they are as long. A wait belongs to the operation of its own thread. Relation `wait` has "
    "every thread and object."
)

PANEL = Panel(
    title="Waiting",
    question="Who waits for whom?",
    read=read,
    draw=draw,
)
