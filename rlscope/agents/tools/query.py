"""A statement of an agent over the relations of a run: it reads, for so long, and gets so much."""

from __future__ import annotations

import json
from typing import Any

from rlscope.agents import quoted
from rlscope.agents.answer import Answer, answer, opened
from rlscope.agents.folder import Folder
from rlscope.errors import QueryError
from rlscope.relations.schema import store
from rlscope.table import Table

MOST_ROWS = 500
SECONDS = 20.0
_MOST_STATEMENT = 20_000
_MOST_CHARACTERS = 60_000
"""Characters of an answer's rows, whatever they hold."""


def query(folder: Folder, run: str, *, sql: str, rows: int, seconds: float = SECONDS) -> Answer:
    """At most `rows` rows of the result.

    Raises QueryError: the statement fails, does more than read, or takes longer than `seconds`.
    """
    if len(sql) > _MOST_STATEMENT:
        raise QueryError(f"the statement has more than {_MOST_STATEMENT:,} characters")
    notes: list[str] = []
    with opened(folder.run(run), notes) as trace:
        found, has_more = trace.cut_rows(
            sql, min(rows, MOST_ROWS), characters=quoted.NAME + 1, seconds=seconds
        )
    shown = _fitting(found, sql)
    return answer(
        {
            "run": quoted.text(quoted.unmarked(run)),
            "rows": shown,
            "is_cut": has_more or len(shown) < len(found),
            "notes": [quoted.text(each, quoted.SENTENCE) for each in notes],
            "query": quoted.lines(sql),
        }
    )


def schema() -> Answer:
    """Every relation: what it holds, and its columns."""
    return answer(
        {
            "relations": {
                name: {
                    "holds": str(table.comment),
                    "columns": {
                        column.name: f"{store.type_name(column.type)}: {column.comment}"
                        for column in table.columns
                    },
                }
                for name, table in store.relations().items()
            }
        }
    )


def _fitting(table: Table, sql: str) -> list[dict[str, Any]]:
    """The first rows of an answer that is not too long."""
    names = [_column(name, sql) for name in table.names]
    shown: list[dict[str, Any]] = []
    size = 0
    for row in table:
        values = dict(zip(names, map(quoted.value, row), strict=True))
        size += len(json.dumps(values, ensure_ascii=False))
        if size > _MOST_CHARACTERS:
            break
        shown.append(values)
    return shown


def _column(name: str, sql: str) -> str:
    """A column's name. Some statements make names of values (PIVOT): those that neither rlscope nor
    the statement has are the program's."""
    return name if name in _columns() or name in sql else quoted.text(name)


def _columns() -> set[str]:
    return {column.name for table in store.relations().values() for column in table.columns}
