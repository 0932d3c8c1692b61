"""Columns that many relations of rlscope.relations.schema.store share."""

from __future__ import annotations

from typing import Any

from sqlalchemy import BigInteger, Boolean, Column, Double, MetaData, Table, Text

METADATA = MetaData()

RUN = "run"
PROCESS = "process"

PHASE = 'phase of the process; "(none)": outside of phases'
LAYER = "deepest layer: none, wait, python, simulator, framework or cuda_api"
GPU_BUSY = "whether GPU work of the process ran"
COUNTED = "count over the trace"
SOURCE = "explicit: annotated; automatic: found by rlscope"


def integer(name: str, comment: str) -> Column[Any]:
    return Column(name, BigInteger, comment=comment)


def text(name: str, comment: str) -> Column[Any]:
    return Column(name, Text, comment=comment)


def flag(name: str, comment: str) -> Column[Any]:
    return Column(name, Boolean, comment=comment)


def real(name: str, comment: str) -> Column[Any]:
    return Column(name, Double, comment=comment)


def process_id() -> Column[Any]:
    return integer("process_id", "process.process_id")


def thread_id() -> Column[Any]:
    return integer("thread_id", "thread.thread_id")


def start() -> Column[Any]:
    return integer("start_ns", "when it began, ns of CLOCK_MONOTONIC")


def operation(meaning: str = "operation", more: str = "") -> tuple[Column[Any], ...]:
    """The operation that a row is about: an annotated one and one that rlscope found by itself are
    different operations, also where they have the same path."""
    return (
        text("operation", f"path of the {meaning} (operation.path){'; ' if more else ''}{more}"),
        text("source", f"{SOURCE}; NULL: outside of operations"),
    )


def relation(name: str, comment: str, *columns: Column[Any], layout: str = RUN) -> Table:
    return Table(name, METADATA, *columns, comment=comment, info={"layout": layout})
