"""Questions to the relations are files of analysis/sql: no string of Python holds a statement."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ("rlscope", "analysis")
# The engine itself; and what reads files of other tools, whose columns only an open file tells.
MAY_HOLD_SQL = (
    "rlscope/relations/",
    "rlscope/importing/event_tables.py",
    "rlscope/importing/nsight_export.py",
)
# How a part of a statement begins. English does not, in capitals.
PART = re.compile(r"\s*(SELECT|FROM|WHERE|JOIN|ORDER BY|GROUP BY|INSERT|COPY|CREATE|PRAGMA)\s")
PLACE = re.compile(r"\{\w*\}")  # of str.format


def strings(source: str) -> Iterator[tuple[int, str]]:
    """(line, text) of every string but docstrings; a name stands where a value is put in."""
    tree = ast.parse(source)
    skipped = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            skipped.update(map(id, node.values))
    for node in ast.walk(tree):
        if id(node) in skipped:
            continue
        if isinstance(node, ast.JoinedStr):
            parts = (each.value if isinstance(each, ast.Constant) else "x" for each in node.values)
            yield node.lineno, "".join(map(str, parts))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, PLACE.sub("x", node.value)


def is_sql(text: str) -> bool:
    """Whether DuckDB's parser takes a text, or it begins as a part of a statement does."""
    if len(text.split()) == 1:
        return False  # "show" and "start" are statements, and ask no relation
    try:
        kinds = {statement.type for statement in duckdb.extract_statements(text)}
    except (duckdb.Error, UnicodeEncodeError):
        kinds = set()
    # "start" and "end" are statements, too.
    return bool(kinds - {duckdb.StatementType.TRANSACTION}) or PART.match(text) is not None


def sql_in(source: str) -> list[str]:
    """The strings of a file that are SQL, with their lines."""
    return [f"{line}: {text.strip()[:60]}" for line, text in strings(source) if is_sql(text)]


def files() -> Iterator[tuple[str, str]]:
    for folder in FOLDERS:
        for path in (ROOT / folder).rglob("*.py"):
            name = path.relative_to(ROOT).as_posix()
            if not name.startswith(MAY_HOLD_SQL):
                yield name, path.read_text(encoding="utf-8")


def test_no_string_is_a_statement() -> None:
    found = [f"{name}:{each}" for name, source in files() for each in sql_in(source)]
    assert found == []
    assert len([*files()]) > 150, "the search finds them"


@pytest.mark.parametrize(
    "source",
    [
        'ROWS = "SELECT 1"',
        'ROWS = """\nSELECT operation\nFROM breakdown\n"""',
        'trace.sql(f"FROM {relation} WHERE start_ns < {until}")',
        'trace.sql("select count(*) from process")',
        'trace.sql("WITH _a AS (FROM run) FROM _a")',
        'trace.sql("FROM overhead JOIN process USING (process_id) WHERE {}".format(which))',
        'rows = "SELECT * FROM " + name',
        'rows = first + " WHERE kind = 1"',
        'trace.sql("DROP TABLE run")',
    ],
)
def test_a_statement_is_found(source: str) -> None:
    assert len(sql_in(source)) == 1


@pytest.mark.parametrize(
    "source",
    [
        '"""SELECT 1"""',
        'def asks():\n    """FROM run"""',
        'stages = ("start", "end", "begin", "layer")',
        'say("from the start on")',
        'HELP = "examples:\\n  rlscope query DIR \\"FROM loss\\""',
        'statement.run(trace, "loss_summary", rows=3)',
    ],
)
def test_what_is_none_is_not(source: str) -> None:
    assert sql_in(source) == []


def test_the_exceptions_are_there_and_need_to_be_some() -> None:
    for name in MAY_HOLD_SQL:
        path = ROOT / name
        sources = [path] if path.is_file() else path.rglob("*.py")
        assert any(sql_in(each.read_text(encoding="utf-8")) for each in sources), name
