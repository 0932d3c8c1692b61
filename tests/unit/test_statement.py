"""The SQL files of the analyses, and the parts that they share."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from support.files.relation_rows import Relations, process

from rlscope.analysis import statement
from rlscope.relations.schema import store
from rlscope.table import Table

SQL = Path(__file__).parents[2] / "analysis" / "sql"
STATEMENTS = sorted(path.stem for path in SQL.glob("*.sql"))
Files = Callable[..., None]


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Files:
    """Puts files in the place of analysis/sql."""
    (tmp_path / "parts").mkdir()
    monkeypatch.setattr(statement, "_FILES", tmp_path)

    def write(**texts: str) -> None:
        for name, text in texts.items():
            folder = tmp_path if name.startswith("statement") else tmp_path / "parts"
            (folder / f"{name}.sql").write_text(text)

    statement.text.cache_clear()
    return write


def without_space(sql: str) -> str:
    return re.sub(r"(--.*\n|\s)+", " ", sql).strip()


def test_a_statement_without_parts_is_given_as_it_is(files: Files) -> None:
    files(statement="SELECT 1\n")
    assert statement.text("statement") == "SELECT 1\n"


def test_parts_come_once_and_before_what_uses_them(files: Files) -> None:
    files(
        statement="-- uses: big, small\nWITH _one AS (FROM big) FROM _one, small\n",
        big="-- uses: small\nFROM small\n",
        small="SELECT 1 AS n\n",
    )
    assert without_space(statement.text("statement")) == (
        "WITH small AS ( SELECT 1 AS n ), big AS ( FROM small ), _one AS (FROM big)"
        " FROM _one, small"
    )


@pytest.mark.parametrize(
    ("own", "expected"),
    [
        ("FROM one\n", "WITH one AS ( SELECT 1 ) FROM one"),
        ("WITH RECURSIVE _a AS (FROM one) FROM _a\n", "WITH RECURSIVE one AS ( SELECT 1 ), _a"),
    ],
)
def test_a_statement_keeps_its_own_beginning(own: str, expected: str, files: Files) -> None:
    files(statement=f"-- Says what it is.\n-- uses: one\n{own}", one="SELECT 1\n")
    assert without_space(statement.text("statement")).startswith(expected)


def test_an_unknown_part_is_named_with_those_that_there_are(files: Files) -> None:
    files(statement="-- uses: smal\nFROM smal\n", big="SELECT 2\n", small="SELECT 1\n")
    message = "statement.sql uses 'smal'; there are the parts big, small"
    with pytest.raises(ValueError, match=message):
        statement.text("statement")


def test_a_part_that_uses_itself_is_refused(files: Files) -> None:
    files(statement="-- uses: a\nFROM a\n", a="-- uses: b\nFROM b\n", b="-- uses: a\nFROM a\n")
    with pytest.raises(ValueError, match="uses itself: statement -> a -> b -> a"):
        statement.text("statement")


def test_each_part_is_named_and_read_by_its_users_and_is_no_relation() -> None:
    parts = {path.stem: path.read_text() for path in (SQL / "parts").glob("*.sql")}
    assert sorted(parts) == statement.part_names()
    assert not set(parts) & set(store.relations())
    texts = [path.read_text() for path in SQL.rglob("*.sql")]
    used = set()
    for text in texts:
        named = {part for line in re.findall("-- uses: (.*)", text) for part in line.split(", ")}
        assert named == {part for part in parts if re.search(rf"(FROM|JOIN) {part}\b", text)}
        used |= named
    assert used == set(parts)


@pytest.mark.parametrize("name", STATEMENTS)
def test_a_rule_stands_in_one_file(name: str) -> None:
    """What a part selects is not written down again in a statement."""
    text = without_space((SQL / f"{name}.sql").read_text())
    for part in (SQL / "parts").glob("*.sql"):
        assert without_space(part.read_text()) not in text, part.stem


def test_a_question_is_asked_once_of_a_trace() -> None:
    """The headline and a panel ask the same ones, some of which read every instance."""
    asked: list[str] = []

    class Counted(Relations):
        def sql(self, statement: str, parameters: Mapping[str, Any] | None = None) -> Table:
            asked.append(statement)
            return super().sql(statement, parameters)

    traces: list[Any] = [Counted(process=[process(0, 0, 10 * (1 + number))]) for number in range(2)]
    tables = [statement.run(trace, "process_tree", processes=3) for trace in traces]
    assert tables[0]["wall_ns"] == (10,)
    assert tables[1]["wall_ns"] == (20,)
    assert statement.run(traces[0], "process_tree", processes=3) == tables[0]
    assert len(asked) == 2
    statement.run(traces[0], "process_tree", processes=4)
    assert len(asked) == 3
