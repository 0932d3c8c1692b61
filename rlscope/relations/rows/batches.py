"""Rows of many small processes in few files.

A file of Parquet costs milliseconds to write and to open, whatever it holds: with one for each
process and relation, a run of 1,000 short processes spent nearly all of its time there.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import sqlalchemy as sa

from rlscope import _trace
from rlscope.relations.files.sink import Sink
from rlscope.relations.numpy_columns import array_of
from rlscope.relations.schema import store

# Rows of a relation that wait for others; some MiB.
_MOST_ROWS = 100_000
# If a process has more events, its rows of single intervals are streamed, not collected.
_MOST_EVENTS = 20_000


class Batches:
    """A sink in front of another one. Rows of a relation in layout PROCESS are put together, with
    their process_id, until they are enough for a file; `finish` puts what is left."""

    def __init__(self, sink: Sink, processes: Sequence[Mapping[str, Any]]) -> None:
        self._sink = sink
        self._events = [int(process["events"]) for process in processes]
        self._waiting: dict[str, list[_Part]] = {}
        self._rows: dict[str, int] = {}

    def put(
        self, relation: sa.Table, columns: Mapping[str, Any], process_id: int | None = None
    ) -> None:
        """Takes rows of one process, or of the run."""
        if process_id is None:
            self._sink.put(relation, columns)
        elif len(next(iter(columns.values()), ())):
            self._add(relation, _Part(relation, columns, process_id))

    def put_rows(
        self,
        relation: sa.Table,
        rows: _trace.RowStream,
        process_id: int,
        *,
        unknown: Collection[str] = (),
    ) -> None:
        """Takes rows that are made meanwhile; `unknown` columns are NULL."""
        if self._events[process_id] > _MOST_EVENTS:
            self._sink.put_rows(relation, rows, process_id, unknown=unknown)
            return
        columns = rows.columns()
        self.put(
            relation,
            {name: values for name, values in columns.items() if name not in unknown},
            process_id,
        )

    def finish(self) -> None:
        """Puts the rows that still wait."""
        for name, parts in self._waiting.items():
            self._flush(store.relations()[name], parts)
        self._sink.finish()

    def _add(self, relation: sa.Table, part: _Part) -> None:
        parts = self._waiting.setdefault(relation.name, [])
        parts.append(part)
        rows = self._rows.get(relation.name, 0) + part.rows
        if rows >= _MOST_ROWS:
            self._flush(relation, parts)
            rows = 0
        self._rows[relation.name] = rows

    def _flush(self, relation: sa.Table, parts: list[_Part]) -> None:
        if parts:
            self._sink.put(relation, dict(_columns(relation, parts)), parts[0].process_id)
            parts.clear()


class _Part:
    """Rows of one process as arrays, by column: (values, which of them are valid or None: all)."""

    def __init__(self, relation: sa.Table, columns: Mapping[str, Any], process_id: int) -> None:
        self.process_id = process_id
        self.rows = len(next(iter(columns.values())))
        given = {**columns, "process_id": np.full(self.rows, process_id)}
        self.arrays = {
            column.name: array_of(given[column.name], column.type)
            for column in relation.columns
            if column.name in given
        }


def _columns(relation: sa.Table, parts: Sequence[_Part]) -> Iterator[tuple[str, Any]]:
    """The columns that any of the parts has, one part after the other."""
    for column in relation.columns:
        present = [part.arrays[column.name] for part in parts if column.name in part.arrays]
        if not present:
            continue
        absent = np.zeros(0, dtype=present[0][0].dtype)
        arrays = [part.arrays.get(column.name) or _nulls(absent, part.rows) for part in parts]
        values = np.concatenate([plain for plain, _ in arrays])
        if all(valid is None for _, valid in arrays):
            yield column.name, values
            continue
        valid = np.concatenate(
            [np.ones(len(plain), np.bool_) if valid is None else valid for plain, valid in arrays]
        )
        yield column.name, np.ma.MaskedArray(values, ~valid)


def _nulls(like: Any, rows: int) -> tuple[Any, Any]:
    if like.dtype == object:
        return np.full(rows, None, dtype=object), None
    return np.zeros(rows, dtype=like.dtype), np.zeros(rows, np.bool_)
