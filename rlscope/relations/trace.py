"""Trace: an opened trace directory, ready for SQL."""

from __future__ import annotations

import os
import threading
import weakref
from pathlib import Path
from typing import TYPE_CHECKING

from rlscope import registry
from rlscope.errors import TraceError
from rlscope.inline_page import InlinePage
from rlscope.relations.database import Database
from rlscope.relations.queries import Queries
from rlscope.relations.rows.progress import Tell
from rlscope.relations.schema import store
from rlscope.relations.tables import Tables
from rlscope.table import Table

if TYPE_CHECKING:
    import sqlalchemy as sa


class Trace(Queries):
    """The relations of one run. Queries may come from any thread; close it, or use `with`.

    Opening sweeps the trace files when DIR/tables is missing or out of date. What a running
    process records after that is not seen until the trace is opened again.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        unrestricted: bool = False,
        calibrated: bool = True,
        progress: Tell | None = None,
        memory: int | None = None,
    ) -> None:
        """See rls.load.

        Args:
            calibrated: use the program's calibration. Without it the costs of records come from
                this run alone.

        Raises TraceError: no trace directory, or nothing in it can be read.
        """
        if not os.fspath(path):
            raise TraceError("no trace directory is named: its path is empty")
        if not _is_text(path):
            raise TraceError(f"cannot read a directory whose path is not UTF-8: {path!r}")
        self.path = Path(path)
        self._tables = Tables(
            self.path,
            unrestricted=unrestricted,
            calibrated=calibrated,
            tell=progress,
            memory=memory,
        )
        self._closer = weakref.finalize(self, self._tables.close)
        # A rule that asks for findings is told that there are none yet.
        self._making = threading.RLock()
        self._made: set[str] = set()
        try:
            self._tables.open()
        except BaseException:
            self.close()
            raise

    @property
    def relations(self) -> dict[str, sa.Table]:
        """The schema: every relation by name. Its comments are the meaning of each column."""
        return store.relations()

    @property
    def processes(self) -> Table:
        """The relation `process`."""
        return self.table("process")

    def report(self) -> InlinePage:
        """The page that `rlscope report` writes. A notebook shows it; save(path) writes it.

        Raises RlscopeError: a table cannot be read.
        """
        return InlinePage(registry.load(registry.RENDERERS, "html")(self))

    @property
    def in_memory(self) -> bool:
        """Whether the tables could not be kept in DIR/tables: it is read-only, or in use."""
        return self._tables.in_memory

    def close(self) -> None:
        """Lets go of the files; later queries fail."""
        self._closer()

    def _repr_html_(self) -> str:
        """The run in a notebook: its headline, and its breakdown as a figure."""
        # What draws lies above this layer: it is asked by its name in the registry.
        return str(registry.load(registry.RENDERERS, "notebook")(self))

    def __repr__(self) -> str:
        return f"Trace({str(self.path)!r})"

    @property
    def _database(self) -> Database:
        return self._tables.database

    def _make_on_request(self, relation: str) -> None:
        with self._making:
            if relation in self._made:
                return
            self._made.add(relation)
            try:
                self._make(relation)
            except BaseException:
                self._made.remove(relation)
                raise

    def _make(self, relation: str) -> None:
        if relation == store.event.name:
            self._tables.open_events()
        else:
            # What makes it lies above this layer, as what draws does.
            columns = registry.load(registry.MADE_RELATIONS, relation)(self)
            self._database.create(self.relations[relation])
            self._database.insert(self.relations[relation], columns)


def _is_text(path: str | os.PathLike[str]) -> bool:
    """Whether the C++ core and DuckDB, which both take UTF-8, can be given the path."""
    try:
        os.fspath(path).encode()
    except UnicodeEncodeError:  # bytes that are no text, as os.fsdecode leaves them
        return False
    return True
