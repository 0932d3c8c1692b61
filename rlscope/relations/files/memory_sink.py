"""Keeps relations in memory, for a trace directory that cannot be written."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

import sqlalchemy as sa

from rlscope import _trace
from rlscope.relations.database import Database


class MemorySink:
    """Takes relations as columns and keeps them in memory, for a trace that cannot be written."""

    def __init__(self, database: Database, relations: Iterable[sa.Table]) -> None:
        self._database = database
        for relation in relations:
            database.create(relation)

    def finish(self) -> None:
        """All rows are there at once."""

    def put(
        self, relation: sa.Table, columns: Mapping[str, Any], process_id: int | None = None
    ) -> None:
        """Adds rows to the relation's table."""
        if _length(columns):
            self._database.insert(relation, columns)

    def put_rows(
        self,
        relation: sa.Table,
        rows: _trace.RowStream,
        process_id: int,
        *,
        unknown: Collection[str] = (),
    ) -> None:
        """Adds rows that are made meanwhile; `unknown` columns are NULL."""
        self._database.insert_rows(relation, rows, process_id, unknown=unknown)


def _length(columns: Mapping[str, Any]) -> int:
    return len(next(iter(columns.values()), ()))
