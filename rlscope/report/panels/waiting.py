"""Who waits for whom: operations and what they wait for, environment workers and their steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rlscope.analysis import process_verdicts, waits
from rlscope.report import collective_sentences, limits, loop_sentences, units
from rlscope.report.panel import Drawing, Grid, Nothing, Panel, Tables
from rlscope.table import Table

if TYPE_CHECKING:
    from rlscope.opening import Trace


def read(trace: Trace) -> dict[str, Table]:
    return {
        "process_wait": waits.process_waits(trace),
        "collective": waits.collectives(trace, rows=limits.ROWS),
        "worker_step": waits.worker_steps(trace),
        "critical_iteration": waits.critical_iterations(trace),
    }


def draw(tables: Tables) -> Drawing | Nothing:
    targets = tables["process_wait"].to_dicts()
    steps = tables["worker_step"].to_dicts()
    iterations = tables["critical_iteration"].to_dicts()
    waiting = [row for rows in process_verdicts.waiting_iterations(iterations) for row in rows]
    met = tables["collective"].to_dicts()
    if not targets and not met:
        return Nothing("rlscope recorded no wait of a process that counts.")
    return Drawing(
        notes=[
            _NOTE,
            *loop_sentences.workers(steps),
            *loop_sentences.critical(iterations),
        ],
        grids=[
            *([_targets(targets)] if targets else []),
            *([_collectives(met)] if met else []),
            *([_workers(steps)] if steps else []),
            *([_iterations(waiting)] if waiting else []),
        ],
    )


def _targets(rows: list[dict[str, Any]]) -> Grid:
    listed = [
        row for row in rows if process_verdicts.is_wait_listed(row["self_ns"], row["process_ns"])
    ]
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


def _collectives(rows: list[dict[str, Any]]) -> Grid:
    return Grid(
        title="Collectives: how long each process waits for the latest one of its group",
        columns=[
            "process",
            "where",
            ">meetings",
            ">time in them",
            ">waits for the latest",
            ">share",
            ">came last",
            ">later than the last but one",
        ],
        rows=[
            [
                units.visible(row["process"]),
                collective_sentences.place(row["name"]),
                units.count(row["meetings"]),
                units.duration(row["duration_ns"]),
                units.duration(row["waited_ns"]),
                units.share(row["waited_ns"], row["duration_ns"]),
                units.count(row["last"]),
                units.duration(row["late_ns"]),
            ]
            for row in rows
        ],
        open=True,
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
            ">more than the others",
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
                units.duration(row["excess_ns"]),
                f"{row['last']:,} of {row['steps']:,}",
                units.duration(row["late_ns"]),
            ]
            for row in rows[: limits.ROWS]
        ],
        open=True,
    )


def _iterations(rows: Sequence[Mapping[str, Any]]) -> Grid:
    longest = sorted(rows, key=lambda row: -row["duration_ns"])[: limits.ROWS]
    return Grid(
        title="Table: the longest iterations, and how long the process waits for others in each",
        columns=["process", ">iteration", ">duration", "waits for", ">waiting", ">share"],
        rows=[
            [
                units.visible(row["process"]),
                f"{row['iteration']:,}",
                units.duration(row["duration_ns"]),
                loop_sentences.target(row),
                units.duration(row["waited_ns"]),
                units.share(row["waited_ns"], row["duration_ns"]),
            ]
            for row in longest
        ],
    )


_NOTE = (
    "A wait is a call of the interpreter that blocked for 5 µs or more. Waits for the GIL count if "
    "they are as long. A wait belongs to the operation of its own thread. Outside of operations, "
    "the table has the waits of the thread whose operations take the most time. Relation `wait` "
    "has every thread, stage and object."
)

PANEL = Panel(
    title="Waiting",
    question="Who waits for whom?",
    read=read,
    draw=draw,
)
