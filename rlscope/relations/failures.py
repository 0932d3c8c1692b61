"""What is told where a statement fails or is interrupted."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import duckdb
import sqlalchemy as sa

from rlscope.errors import QueryError

REMEDY = "--unrestricted, or rls.load(..., unrestricted=True), allows it"


@contextmanager
def failures() -> Iterator[None]:
    """Turns what a statement raises into QueryError, and an interrupted one into Ctrl-C."""
    try:
        with interrupts():
            yield
    except (sa.exc.SQLAlchemyError, duckdb.Error, OSError, UnicodeEncodeError) as error:
        reason = _one_line(error)
        if isinstance(getattr(error, "orig", error), duckdb.PermissionException):
            reason = f"only relations can be read ({reason}): {REMEDY}"
        raise QueryError(reason) from error


@contextmanager
def interrupts() -> Iterator[None]:
    """Turns what DuckDB makes of a Ctrl-C into one.

    It polls for signals while it works, and reports one as RuntimeError, its cause the
    KeyboardInterrupt, or as an error of its own that names it.
    """
    try:
        yield
    except (RuntimeError, duckdb.Error) as error:
        named = str(error).startswith("KeyboardInterrupt")
        if named or isinstance(error.__cause__, KeyboardInterrupt):
            raise KeyboardInterrupt from error
        raise


def _one_line(error: object) -> str:
    """DuckDB's message without the excerpt of the statement below it."""
    message = str(getattr(error, "orig", None) or error)
    lines = message.split("\nLINE ")[0].splitlines()
    return " ".join(line.strip() for line in lines if line.strip())
