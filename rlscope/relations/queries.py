"""Queries: what can be asked in SQL, be it one trace or several."""

from __future__ import annotations

import os
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

from rlscope.errors import QueryError
from rlscope.relations.database import Database, Variables
from rlscope.relations.schema import store
from rlscope.relations.workspace import Workspace
from rlscope.table import Table

if TYPE_CHECKING:
    import sqlalchemy as sa

_WORD = re.compile(r"\w+")
_Self = TypeVar("_Self", bound="Queries")


class Queries(ABC):
    """Questions may come from any thread; close it, or use `with`."""

    @property
    @abstractmethod
    def relations(self) -> dict[str, sa.Table]:
        """The schema: every relation by name. Its comments are the meaning of each column."""

    @property
    @abstractmethod
    def _database(self) -> Database:
        """Where the relations are."""

    @abstractmethod
    def _make_on_request(self, relation: str) -> None:
        """Makes one of the relations that are made on request, if it is not there yet."""

    @abstractmethod
    def close(self) -> None:
        """Lets go of the files; later queries fail."""

    def table(self, relation: str) -> Table:
        """A whole relation, which is made now if need be. Raises QueryError: no such relation."""
        if relation not in self.relations:
            raise QueryError(f"no relation {relation!r}; there are: {', '.join(self.relations)}")
        self._make_named(relation)
        known = self.relations[relation]
        rows = self._database.select(known.select().order_by(*self._order(relation)))
        return Table(rows.columns, name=relation, descriptions=store.descriptions(known))

    def _order(self, relation: str) -> tuple[str, ...]:
        """Columns by which the rows of a whole relation stand; else as they were written."""
        return ()

    def sql(self, statement: str, parameters: Mapping[str, Any] | None = None) -> Table:
        """The result of an SQL statement of DuckDB over the relations.

        `$name` in the statement is bound to parameters["name"]. The statement may read the
        relations and nothing else, unless loaded with unrestricted=True. Raises QueryError.
        """
        self._make_named(statement)
        return self._database.sql(statement, parameters)

    def first_rows(self, statement: str, most: int) -> tuple[Table, int]:
        """At most `most` rows of the result of an SQL statement, as of sql(), and how many it has.

        For a look at a result of any size: rows beyond these are counted, never held. Raises
        QueryError.
        """
        self._make_named(statement)
        return self._database.first_rows(statement, most)

    def cut_rows(
        self, statement: str, most: int, *, characters: int, seconds: float
    ) -> tuple[Table, bool]:
        """At most `most` rows of the result of an SQL statement, as of sql(), and whether it has
        more. What is neither number nor truth value is a text of at most so many characters.

        For a statement from a stranger. Raises QueryError, also when it takes longer than
        `seconds`.
        """
        self._make_named(statement)
        return self._database.cut_rows(statement, most, characters=characters, seconds=seconds)

    def write_parquet(
        self,
        statement: str,
        path: str | os.PathLike[str],
        variables: Variables | None = None,
    ) -> None:
        """Writes the result of an SQL statement, as of sql(), as one Parquet file, of any size.

        `getvariable('name')` in the statement is variables["name"]. Raises QueryError.
        """
        self._make_named(statement, variables)
        self._database.write_query(statement, Path(path), variables)

    def write_csv(
        self,
        statement: str,
        path: str | os.PathLike[str],
        variables: Variables | None = None,
    ) -> None:
        """The same as one CSV file: RFC 4180 with a header line; NULL is an empty field, and an
        empty text is "".

        Raises QueryError.
        """
        self._make_named(statement, variables)
        self._database.write_query(statement, Path(path), variables, form="csv")

    @contextmanager
    def workspace(self, *statements: str) -> Iterator[Workspace]:
        """A place for tables of one's own beside the relations that the statements name, for a
        question that takes several steps. Raises QueryError."""
        for statement in statements:
            self._make_named(statement)
        with self._database.workspace() as workspace:
            yield workspace

    @property
    def engine(self) -> sa.Engine:
        """The SQLAlchemy engine behind the queries: an in-memory DuckDB, restricted as sql() is."""
        return self._database.engine

    def __enter__(self: _Self) -> _Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _make_named(self, statement: str, variables: Variables | None = None) -> None:
        """Makes the relations on request whose names a statement has among its words, or is given
        for query_table(). Small ones are read into memory."""
        words = {word.lower() for word in _WORD.findall(statement)}
        if variables and "query_table" in words:
            words |= {str(value).lower() for value in variables.values()}
        for relation in sorted(words & store.ON_REQUEST):
            self._make_on_request(relation)
        self._database.hold(words)
