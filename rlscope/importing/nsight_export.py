"""Reads an SQLite export of Nsight Systems: `nsys export --type sqlite`.

Tables and columns are probed, since they differ by version and by what was traced
(rlscope/importing/nsight_schema.py). The file may be a stranger's: what is read of it is bounded.
"""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Iterator
from typing import Any

from rlscope.importing import nsight_schema as schema
from rlscope.importing.nsight_schema import EventTable

NOTHING = -1
"""Where a column is not there, or NULL."""
_NO_TIME = -(1 << 62)  # the same of times: none of the trace format

_BATCH = 5000
_MOST_DEVICES = 64
_MOST_ROWS = 1 << 16  # of tables that are kept
_MOST_TEXT = 4096
_MOST_SHORT_TEXT = 255
_LONGEST_VALUE = 16 << 20
_TIMES = ("start", "end")
_TIMES_OF_EVENTS = ("start", "timestamp", "rawTimestamp")


class NsightExport:
    """The file, opened for reading: the tables and columns that are there. All raise sqlite3.Error,
    OverflowError or UnicodeDecodeError of a file that is damaged."""

    def __init__(self, path: str) -> None:
        self._connection = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
        self._connection.text_factory = lambda text: text.decode(errors="replace")
        if sys.version_info >= (3, 11):
            self._connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST_VALUE)
        self._connection.execute("PRAGMA trusted_schema = OFF")
        self._connection.execute("PRAGMA cell_size_check = ON")
        self._columns = {name: self._columns_of(name) for name in self._tables()}

    def close(self) -> None:
        self._connection.close()

    def _tables(self) -> list[str]:
        """Those of the file itself: no view, and nothing that a module of SQLite makes up."""
        rows = self._connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0"
        )
        return [str(name) for (name,) in rows]

    def _columns_of(self, table: str) -> set[str]:
        rows = self._connection.execute(f"PRAGMA table_info({_quoted(table)})")
        return {str(row[1]) for row in rows}

    def has(self, table: str, *columns: str) -> bool:
        return table in self._columns and self._columns[table].issuperset(columns)

    def others(self) -> Iterator[tuple[str, int]]:
        """Tables of events that are not read, with the number of their rows."""
        known = {table.name for table in schema.EVENT_TABLES}
        for name, columns in self._columns.items():
            if name in known and not columns.issuperset(_TIMES):
                yield f"{name} (no columns start and end)", self._count(name)
            elif name not in known and not columns.isdisjoint(_TIMES_OF_EVENTS):
                yield name, self._count(name)

    def _count(self, table: str) -> int:
        ((rows,),) = self._connection.execute(f"SELECT count(*) FROM {_quoted(table)}")
        return int(rows)

    def rows_of(self, table: EventTable) -> int:
        return self._count(table.name) if self.has(table.name, *_TIMES) else 0

    def batches(self, table: EventTable) -> Iterator[list[tuple[Any, ...]]]:
        """Rows of a table, in the order of its columns; None: what should be a number is none."""
        if not self.has(table.name, *_TIMES):
            return
        there = self._columns[table.name]
        wanted = ", ".join(_value(name, name in there) for name in table.columns)
        cursor = self._connection.execute(f"SELECT {wanted} FROM {_quoted(table.name)}")
        while rows := cursor.fetchmany(_BATCH):
            yield rows

    def string(self, name_id: int) -> str:
        """The text that a number stands for; empty if there is none."""
        return self._find("StringIds", "id", name_id, "value")

    def _find(self, table: str, key: str, wanted: int | str, value: str) -> str:
        """The text in the row with this key; empty where there is none."""
        if not self.has(table, key, value):
            return ""
        query = f"SELECT {_value(value)} FROM {_quoted(table)} WHERE {_quoted(key)} = ? LIMIT 1"
        row = self._connection.execute(query, (wanted,)).fetchone()
        return "" if row is None or row[0] is None else str(row[0])

    def _pairs(self, table: str, key: str, value: str) -> list[tuple[Any, Any]]:
        """Two columns of a small table, with short texts; nothing where they are not there."""
        if not self.has(table, key, value):
            return []
        columns = ", ".join(_value(name, most=_MOST_SHORT_TEXT) for name in (key, value))
        query = f"SELECT {columns} FROM {_quoted(table)} LIMIT {_MOST_ROWS}"
        return self._connection.execute(query).fetchall()

    def session_start_ns(self) -> int:
        """By the world's clock; 0: not known."""
        if not self.has("TARGET_INFO_SESSION_START_TIME", "utcEpochNs"):
            return 0
        query = "SELECT utcEpochNs FROM TARGET_INFO_SESSION_START_TIME"
        row = self._connection.execute(query).fetchone()
        found = row[0] if row is not None else 0
        return found if isinstance(found, int) and 0 <= found < 1 << 61 else 0

    def meanings(self, numbers: schema.Enumeration) -> dict[int, int]:
        """Number in the export -> what it is here."""
        named = {
            number: numbers.meanings[name]
            for number, name in self._pairs(numbers.table, "id", "name")
            if isinstance(number, int) and name in numbers.meanings
        }
        return named or dict(numbers.documented)

    def process_names(self) -> dict[int, str]:
        """By the id of the process, without that of a thread."""
        return {
            pid >> 24: str(name)
            for pid, name in self._pairs("PROCESSES", "globalPid", "name")
            if isinstance(pid, int)
        }

    def thread_names(self) -> dict[int, str]:
        """By the id of the thread."""
        return {
            tid: self.string(name)[:_MOST_SHORT_TEXT]
            for tid, name in self._pairs("ThreadNames", "globalTid", "nameId")
            if isinstance(tid, int) and isinstance(name, int)
        }

    def host(self) -> str:
        """The name of the machine; empty: not known."""
        name = self._find("TARGET_INFO_SYSTEM_ENV", "name", "Hostname", "value")
        return name[:_MOST_SHORT_TEXT]

    def notes(self) -> dict[str, object]:
        """What else is known of the run: its GPUs, the versions of the tool and of the schema."""
        notes: dict[str, object] = {}
        gpus = self._pairs("TARGET_INFO_GPU", "id", "name")[:_MOST_DEVICES]
        if gpus:
            notes["devices"] = [str(name) for _, name in gpus]
        for key in ("EXPORT_PRODUCT_VERSION", "EXPORT_SCHEMA_VERSION"):
            if version := self._find("META_DATA_EXPORT", "name", key, "value"):
                notes[key.lower()] = version[:_MOST_SHORT_TEXT]
        return notes


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _value(column: str, is_there: bool = True, most: int = _MOST_TEXT) -> str:
    """The expression of a text, or of a number: NULL if it is something else."""
    if column in schema.TEXT_COLUMNS:
        return f"substr({_quoted(column)}, 1, {most})" if is_there else "NULL"
    nothing = _NO_TIME if column in _TIMES else NOTHING
    if not is_there:
        return str(nothing)
    name = _quoted(column)
    return (
        f"CASE WHEN typeof({name}) = 'integer' THEN {name} WHEN {name} IS NULL THEN {nothing} END"
    )
