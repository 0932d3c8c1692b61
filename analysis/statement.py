"""Runs the SQL files of analysis/sql: one file, one statement, bound parameters, one table.

What several statements need is a part: analysis/sql/parts/<name>.sql, a SELECT over the relations.
A statement, or another part, names its parts in a line of its own and reads them like relations:

    -- uses: own_iteration
    SELECT process_id, AVG(duration_ns) FROM own_iteration GROUP BY process_id
"""

from __future__ import annotations

import re
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from rlscope.table import Table

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace

_USES = re.compile(r"^-- uses: (.*)$", re.MULTILINE)
_PARAMETER = re.compile(r"\$([a-z_]+)")
_BEGINNING = re.compile(r"^(?!--)(WITH (?:RECURSIVE )?)?", re.MULTILINE)  # after the comments
_FILES = resources.files("rlscope.analysis").joinpath("sql")
_answers: WeakKeyDictionary[Trace, dict[str, Table]] = WeakKeyDictionary()


def run(trace: Trace, name: str, **parameters: Any) -> Table:
    """The result of analysis/sql/<name>.sql, named after it; `$key` is bound to a parameter. Each
    question is asked once of a trace, whose relations do not change.

    Raises QueryError.
    """
    answers = _answers.setdefault(trace, {})
    question = repr((name, sorted(parameters.items())))
    if question not in answers:
        answers[question] = Table(trace.sql(text(name), parameters).columns, name=name)
    return answers[question]


@cache
def text(name: str) -> str:
    """A statement as DuckDB is given it: after the parts that it uses, each defined once."""
    statement = _FILES.joinpath(f"{name}.sql").read_text(encoding="utf-8")
    parts: dict[str, str] = {}
    _collect(name, statement, (), parts)
    if not parts:
        return statement
    return _behind(parts, statement)


def _behind(parts: dict[str, str], statement: str) -> str:
    """The statement with the parts before its own common table expressions."""
    defined = ", ".join(f"{part} AS (\n{select})" for part, select in parts.items())

    def begin(found: re.Match[str]) -> str:
        return f"{found[1]}{defined}, " if found[1] else f"WITH {defined}\n"

    return _BEGINNING.sub(begin, statement, count=1)


def shown(name: str, **parameters: Any) -> str:
    """A statement as a user can run it: without its comments, and with values in it."""
    lines = [line for line in text(name).splitlines() if not line.startswith("--")]
    return _PARAMETER.sub(lambda found: _literal(parameters[found[1]]), "\n".join(lines).strip())


def _literal(value: object) -> str:
    """A value as DuckDB reads it in a statement."""
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_literal, value))}]"
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return "NULL" if value is None else str(value)


def part_names() -> list[str]:
    """The parts that there are."""
    files = (entry.name for entry in _FILES.joinpath("parts").iterdir())
    return sorted(file.removesuffix(".sql") for file in files if file.endswith(".sql"))


def _collect(name: str, select: str, users: tuple[str, ...], parts: dict[str, str]) -> None:
    """Adds the parts that `select` uses, before those that use them; raises ValueError."""
    chain = (*users, name)
    for part in (each.strip() for line in _USES.findall(select) for each in line.split(",")):
        if part in chain:
            raise ValueError(f"a part of SQL uses itself: {' -> '.join((*chain, part))}")
        if part not in parts:
            used = _read_part(part, name)
            _collect(part, used, chain, parts)
            parts[part] = used


def _read_part(part: str, user: str) -> str:
    try:
        return _FILES.joinpath(f"parts/{part}.sql").read_text(encoding="utf-8")
    except FileNotFoundError:
        known = ", ".join(part_names())
        raise ValueError(f"{user}.sql uses {part!r}; there are the parts {known}") from None
