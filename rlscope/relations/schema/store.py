"""The relations of a trace as SQLAlchemy tables: the schema that queries and reports rely on.

    run_tables.py     the run, its processes and threads, what they reported
    sweep_tables.py   operations, breakdowns, calls
    cuda_tables.py    CUDA calls, and GPU work by operation
    advice_tables.py  what is worth mending

Every time is an int64 in nanoseconds of CLOCK_MONOTONIC, every id is dense within a run.
`operation` and `phase` as columns of other relations are text; "(none)" is no operation and no
phase, "(not recorded)" the gaps between windows, and "(unlinked)" GPU work whose launch is not in
the trace. What a trace cannot fill is NULL and listed in `absent`.

A relation lies in DIR/tables in one of two layouts (`layout_of`):

    run       tables/<relation>/part.parquet                small: one file for the whole run
    process   tables/<relation>/part-<process_id>.parquet   of this process, maybe further ones
"""

from __future__ import annotations

from functools import cache
from types import ModuleType
from typing import Any

from sqlalchemy import BigInteger, Boolean, Column, Double, MetaData, Table, Text
from sqlalchemy.types import TypeEngine

from rlscope.relations.schema import advice_tables, cuda_tables, run_tables, sweep_tables
from rlscope.relations.schema.advice_tables import finding
from rlscope.relations.schema.columns import METADATA, PROCESS, RUN
from rlscope.relations.schema.run_tables import absent, process, run, thread
from rlscope.relations.schema.sweep_tables import (
    breakdown,
    breakdown_by_thread,
    event,
    iteration_breakdown,
    operation,
    operation_instance,
)

__all__ = [
    "METADATA",
    "ON_REQUEST",
    "PROCESS",
    "RUN",
    "absent",
    "breakdown",
    "breakdown_by_thread",
    "descriptions",
    "event",
    "finding",
    "iteration_breakdown",
    "layout_of",
    "operation",
    "operation_instance",
    "process",
    "relations",
    "relations_in",
    "relations_of_runs",
    "run",
    "swept_relations",
    "thread",
    "type_name",
    "unit",
]

# Made on request only: one is as large as the trace itself, the other is made of the others.
ON_REQUEST = frozenset({"event", "finding"})


def relations() -> dict[str, Table]:
    """Every relation by name, in the order of the files above."""
    return dict(_relations())


@cache  # who opens a trace asks a hundred times
def _relations() -> dict[str, Table]:
    return {
        table.name: table
        for module in (run_tables, sweep_tables, cuda_tables, advice_tables)
        for table in relations_in(module)
    }


def relations_in(module: ModuleType) -> list[Table]:
    """The relations of one of the files, in order."""
    return [
        table
        for value in vars(module).values()
        for table in (value if isinstance(value, tuple) else (value,))
        if isinstance(table, Table)
    ]


def relations_of_runs() -> dict[str, Table]:
    """Every relation of several runs: with the column run_id in front, and `run` also with the
    directory of each."""
    return dict(_relations_of_runs())


@cache  # to make their columns takes 8 ms
def _relations_of_runs() -> dict[str, Table]:
    return {name: _of_runs(relation) for name, relation in _relations().items()}


def _of_runs(relation: Table) -> Table:
    name = relation.name
    others = [
        Column(column.name, column.type, comment=column.comment)
        for column in relation.columns
        if column.name != "run_id"
    ]
    meaning = "identity of the run" if name == run.name else "run.run_id"
    if name == run.name:
        others.append(Column("directory", Text, comment="trace directory, as it was named"))
    identity = Column("run_id", Text, comment=meaning)
    return Table(name, MetaData(), identity, *others, comment=relation.comment)


def swept_relations() -> list[Table]:
    """The relations that opening a trace makes."""
    return [relation for name, relation in relations().items() if name not in ON_REQUEST]


def layout_of(relation: Table) -> str:
    """RUN or PROCESS: where the relation lies in DIR/tables."""
    return str(relation.info["layout"])


def descriptions(relation: Table) -> dict[str, str]:
    """The meaning of each column."""
    return {column.name: str(column.comment) for column in relation.columns}


_UNITS = {"ns": "ns", "bytes": "bytes", "hz": "Hz", "percent": "%"}


def unit(column: str) -> str:
    """The unit of a column, which is the end of its name; "" where it has none."""
    return _UNITS.get(column.rpartition("_")[2], "")


def type_name(type_: TypeEngine[Any]) -> str:
    """The SQL type of a column, as DuckDB and PostgreSQL spell it."""
    names = {BigInteger: "BIGINT", Text: "TEXT", Boolean: "BOOLEAN", Double: "DOUBLE"}
    return names[type(type_)]
