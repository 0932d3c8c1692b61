"""Runs the SQL files of analysis/sql: one file, one statement, bound parameters, one table."""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from rlscope.table import Table

if TYPE_CHECKING:
    from rlscope.trace.trace import Trace


def run(trace: Trace, name: str, **parameters: Any) -> Table:
    """The result of analysis/sql/<name>.sql, named after it; `$key` is bound to a parameter.

    Raises QueryError.
    """
    result = trace.sql(_text(name), parameters)
    return Table(result.columns, name=name)


@cache
def _text(name: str) -> str:
    path = resources.files("rlscope.analysis").joinpath(f"sql/{name}.sql")
    return path.read_text(encoding="utf-8")
