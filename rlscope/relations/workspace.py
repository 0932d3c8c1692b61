"""Tables of one's own beside the relations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rlscope.relations.failures import failures


class Workspace:
    """Tables of one's own beside the relations, for a question that takes several steps.

    Statements are rlscope's own: they may do whatever the database lets them. All raise QueryError.
    """

    def __init__(self, cursor: Any) -> None:
        self._cursor = cursor

    def make(self, table: str, statement: str, parameters: Mapping[str, Any] | None = None) -> None:
        """Makes a table of the result of a statement, for the statements that follow."""
        self._run(f"CREATE TEMP TABLE {quoted(table)} AS\n{statement}", parameters)

    def columns(
        self, statement: str, parameters: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """The result of a statement as numpy arrays; one with NULL among its numbers is masked."""
        self._run(statement, parameters)
        with failures():
            return dict(self._cursor.fetchnumpy())

    def rows(
        self, statement: str, parameters: Mapping[str, Any] | None = None
    ) -> list[tuple[Any, ...]]:
        """The result of a statement row by row."""
        self._run(statement, parameters)
        with failures():
            return list(self._cursor.fetchall())

    def _run(self, statement: str, parameters: Mapping[str, Any] | None) -> None:
        with failures():
            self._cursor.execute(statement, dict(parameters or {}))


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
