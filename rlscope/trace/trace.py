"""Trace: an opened trace directory, ready for SQL."""

from __future__ import annotations

import os
import re
import threading
import weakref
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from rlscope.errors import QueryError, TraceError
from rlscope.table import Table
from rlscope.trace import store
from rlscope.trace.progress import Tell
from rlscope.trace.tables import Tables

if TYPE_CHECKING:
    import sqlalchemy as sa

_WORD = re.compile(r"\w+")


class Trace:
    """The relations of one run. Queries may come from any thread; close it, or use `with`.

    Opening sweeps the trace files when DIR/tables is missing or out of date. What a running
    process records after that is not seen until the trace is opened again.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        unrestricted: bool = False,
        progress: Tell | None = None,
    ) -> None:
        """See rlscope.load. Raises TraceError: no trace directory, or nothing in it can be read."""
        if not os.fspath(path):
            raise TraceError("no trace directory is named: its path is empty")
        if not _is_text(path):
            raise TraceError(f"cannot read a directory whose path is not UTF-8: {path!r}")
        self.path = Path(path)
        self._tables = Tables(self.path, unrestricted=unrestricted, tell=progress)
        self._closer = weakref.finalize(self, self._tables.close)
        self._making_events = threading.Lock()
        try:
            self._tables.open()
        except BaseException:
            self.close()
            raise

    def table(self, relation: str) -> Table:
        """A whole relation; `event` is made now if need be. Raises QueryError: no such relation."""
        known = store.relations()
        if relation not in known:
            raise QueryError(f"no relation {relation!r}; there are: {', '.join(known)}")
        self._make_named(relation)
        rows = self._tables.database.select(known[relation].select())
        return Table(rows.columns, name=relation, descriptions=store.descriptions(known[relation]))

    def sql(self, statement: str, parameters: Mapping[str, Any] | None = None) -> Table:
        """The result of an SQL statement of DuckDB over the relations.

        `$name` in the statement is bound to parameters["name"]. The statement may read the
        relations and nothing else, unless the trace was loaded with unrestricted=True.
        Raises QueryError.
        """
        self._make_named(statement)
        return self._tables.database.sql(statement, parameters)

    def write_parquet(self, statement: str, path: str | os.PathLike[str]) -> None:
        """Writes the result of an SQL statement, as of sql(), as one Parquet file, of any size.

        Raises QueryError.
        """
        self._make_named(statement)
        self._tables.database.write_query(statement, Path(path))

    @property
    def engine(self) -> sa.Engine:
        """The SQLAlchemy engine behind the queries: an in-memory DuckDB, restricted as sql() is."""
        return self._tables.database.engine

    @property
    def processes(self) -> Table:
        """The relation `process`."""
        return self.table("process")

    @property
    def in_memory(self) -> bool:
        """Whether the tables could not be kept in DIR/tables: it is read-only, or in use."""
        return self._tables.in_memory

    def close(self) -> None:
        """Lets go of the files; later queries fail."""
        self._closer()

    def __enter__(self) -> Trace:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Trace({str(self.path)!r})"

    def _make_named(self, statement: str) -> None:
        """Makes the relations on request whose names a statement has among its words."""
        words = {word.lower() for word in _WORD.findall(statement)}
        if words & store.ON_REQUEST:
            with self._making_events:
                self._tables.open_events()


def _is_text(path: str | os.PathLike[str]) -> bool:
    """Whether the C++ core and DuckDB, which both take UTF-8, can be given the path."""
    try:
        os.fspath(path).encode()
    except UnicodeEncodeError:  # bytes that are no text, as os.fsdecode leaves them
        return False
    return True
