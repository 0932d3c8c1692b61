"""Relations from hand-written rows, in the DuckDB that a trace queries: input of SQL tests.

    trace = Relations(breakdown=[{"process_id": 0, "operation": "train", "duration_ns": 5}])
    trace.sql("SELECT sum(duration_ns) FROM breakdown")

Answers `sql` and `table` as rlscope.opening.Trace does. Columns that a row leaves out are NULL.
"""

from __future__ import annotations

import re
import weakref
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from rlscope.relations.database import Database
from rlscope.relations.rows import training_loop
from rlscope.relations.schema import store
from rlscope.table import Table

SECOND = 1_000_000_000
# Rows that are literals of a statement: so few take less time than arrays, and more take longer.
_FEW = 50
_WORD = re.compile(r"\w+")
# Of relations that are gone: to start another one takes 10 ms.
_idle: list[Database] = []


class Relations:
    path = Path("no such folder")
    """Of the run, for what lies beside its relations."""

    def __init__(self, **rows: Sequence[Mapping[str, Any]]) -> None:
        rows["breakdown"] = _with_stages(rows.get("breakdown", ()))
        rows["wait"] = [{"stage": "loop", **row} for row in rows.get("wait", ())]
        rows.setdefault("wait_peer", _peers(rows.get("wait", ())))
        rows["training_loop"] = _loop_rows(rows["breakdown"], rows.get("process", ()))
        self._database = _idle.pop() if _idle else _started()
        self._made: set[str] = set()
        weakref.finalize(self, _leave, self._database, self._made).atexit = False
        self._answers: dict[str, Table] = {}
        unknown = rows.keys() - store.relations().keys()
        assert not unknown, f"no such relation: {unknown}"
        for name, given in rows.items():
            if given:
                self._insert(name, given)

    def _make(self, names: Collection[str]) -> None:
        """Makes those of the relations that are not there yet: to make all takes 10 ms."""
        known = store.relations()
        wanted = known.keys() & names - self._made
        self._database.create(*(known[name] for name in wanted))
        self._made |= wanted

    def _insert(self, name: str, rows: Sequence[Mapping[str, Any]]) -> None:
        self._make({name})
        relation = store.relations()[name]
        names = [column.name for column in relation.columns]
        unknown = {key for row in rows for key in row} - set(names)
        assert not unknown, f"{name} has no {unknown}"
        if len(rows) > _FEW:
            self._database.insert(relation, {key: [row.get(key) for row in rows] for key in names})
            return
        values = (", ".join(_literal(row.get(key)) for key in names) for row in rows)
        with self._database.workspace() as tables:
            tables.rows(f"INSERT INTO {name} VALUES {', '.join(f'({each})' for each in values)}")

    def sql(self, statement: str, parameters: Mapping[str, Any] | None = None) -> Table:
        """Answers each question once: the rows never change."""
        question = repr((statement, parameters))
        if question not in self._answers:
            self._make({word.lower() for word in _WORD.findall(statement)})
            self._answers[question] = self._database.sql(statement, parameters)
        return self._answers[question]

    def table(self, relation: str) -> Table:
        self._make({relation})
        return self._database.select(store.relations()[relation].select())


def _started() -> Database:
    database = Database()
    database.use_one_thread()  # as for a trace of few rows
    return database


def _leave(database: Database, made: Collection[str]) -> None:
    """Empties it, for other relations."""
    database.drop(store.relations()[name] for name in made)
    _idle.append(database)


def _literal(value: object) -> str:
    if isinstance(value, str):
        return "'" + value.replace("'", "''").replace("\0", "' || chr(0) || '") + "'"
    assert value is None or isinstance(value, (bool, int, float)), value
    return "NULL" if value is None else str(value)


def share(
    process_id: int, operation: str, layer: str, duration_ns: int, **more: Any
) -> dict[str, Any]:
    """A row of `breakdown`."""
    row = {"process_id": process_id, "phase": "(none)", "operation": operation, "layer": layer}
    return {**row, "gpu_busy": False, "duration_ns": duration_ns, "count": 1, **more}


def process(process_id: int, start_ns: int, end_ns: int, **more: Any) -> dict[str, Any]:
    """A row of `process`; its pid is 100 more than its id."""
    row = {"process_id": process_id, "os_pid": 100 + process_id, "name": f"p{process_id}"}
    return {**row, "start_ns": start_ns, "end_ns": end_ns, "ended": "exit", "exit": 0, **more}


def _with_stages(breakdown: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Rows of `breakdown` that leave it out are of the training loop, if the process has any."""
    operating = {row["process_id"] for row in breakdown if row["operation"][0] != "("}
    stages = {row["process_id"]: "whole" for row in breakdown} | dict.fromkeys(operating, "loop")
    return [{"stage": stages[row["process_id"]], **row} for row in breakdown]


def _peers(waits: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Rows of `wait_peer` for waits that are for one process each."""
    names = ("process_id", "kind", "object", "function", "peer_process_id")
    found = {tuple(row.get(name) for name in names) for row in waits if "peer_process_id" in row}
    return [dict(zip(names, each, strict=True)) for each in found]


def _loop_rows(
    breakdown: Sequence[Mapping[str, Any]], processes: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Rows of `training_loop`, which rlscope makes of those of breakdown."""
    names = [column.name for column in store.breakdown.columns]
    times = {
        each["process_id"]: {
            name: [row.get(name) for row in breakdown if row["process_id"] == each["process_id"]]
            for name in names
        }
        for each in processes
    }
    lengths = {process_id: training_loop.length(rows) for process_id, rows in times.items()}
    loops = {process_id: length for process_id, length in lengths.items() if length is not None}
    roles = {each["process_id"]: each.get("role") for each in processes}
    return [
        dict(zip(names, row, strict=True))
        for process_id in training_loop.counted(roles, loops)
        for row in zip(*training_loop.rows(times[process_id]).values(), strict=True)
    ]
