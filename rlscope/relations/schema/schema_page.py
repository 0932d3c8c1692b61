"""The SQL reference, made of the schema: every relation and column with type, unit and meaning.

python -m rlscope.relations.schema.schema_page docs/reference/sql.md
"""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import sqlalchemy as sa

from rlscope.relations.schema import advice_tables, cuda_tables, run_tables, store, sweep_tables

_BEGINNING = """\
# SQL reference

This page lists every relation that [`rlscope query`](../guide/query.md) and `trace.sql` read.
`rlscope query DIR --schema RELATION` prints the same. [What the numbers mean](semantics.md) defines
each of them. The [cookbook](../guide/cookbook.md) has questions with their answers.

`python -m rlscope.relations.schema.schema_page docs/reference/sql.md` makes this page from the
schema.

Times are integers in nanoseconds of CLOCK_MONOTONIC, which counts from the boot of a machine. Ids
count from 0 within a run. NULL means unknown, never 0. `absent` lists everything that a trace
cannot fill, with the reason. If a query reads several runs, every relation begins with a column
`run_id`, and `run` also has the `directory`.
"""
_PARTS: tuple[tuple[str, ModuleType], ...] = (
    ("The run, its processes and threads", run_tables),
    ("Operations, breakdowns and calls", sweep_tables),
    ("CUDA", cuda_tables),
    ("Advice", advice_tables),
)


def text() -> str:
    """The page."""
    parts = [(title, store.relations_in(module)) for title, module in _PARTS]
    lines = [_BEGINNING, "| relation | |", "|---|---|"]
    for _, relations in parts:
        lines += [_row(f"[`{each.name}`](#{each.name})", each.comment) for each in relations]
    for title, relations in parts:
        lines += ["", f"## {title}"]
        for relation in relations:
            lines += ["", *_section(relation)]
    return "\n".join(lines) + "\n"


def _section(relation: sa.Table) -> list[str]:
    columns = [
        _row(f"`{each.name}`", store.type_name(each.type), store.unit(each.name), each.comment)
        for each in relation.columns
    ]
    heading = [f"### {relation.name}", "", str(relation.comment), ""]
    return [*heading, "| column | type | unit | meaning |", "|---|---|---|---|", *columns]


def _row(*cells: str | None) -> str:
    """A row of a table in Markdown; the last cell is a meaning, which has marks of its own."""
    meaning = str(cells[-1])
    for mark in "\\|<*":
        meaning = meaning.replace(mark, f"\\{mark}")
    return f"| {' | '.join([*map(str, cells[:-1]), meaning])} |"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(text(), encoding="utf-8")
