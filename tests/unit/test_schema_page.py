"""The SQL reference is what the schema says, and the schema says something about everything."""

from __future__ import annotations

from pathlib import Path

import pytest

from rlscope.relations.schema import schema_page, store

PAGE = Path(__file__).parents[2] / "docs/reference/sql.md"


def test_the_page_is_made_from_the_schema() -> None:
    assert PAGE.read_text(encoding="utf-8") == schema_page.text(), (
        f"make it again: python -m rlscope.relations.schema.schema_page {PAGE}"
    )


@pytest.mark.parametrize("name", store.relations())
def test_a_relation_is_on_it_with_every_column(name: str) -> None:
    (section,) = [
        each for each in schema_page.text().split("\n### ") if each.split("\n")[0] == name
    ]
    rows = [line.split(" | ") for line in section.splitlines() if line.startswith("| `")]
    relation = store.relations()[name]
    assert [row[0].strip("| `") for row in rows] == relation.columns.keys()
    assert str(relation.comment) in section
    for row, column in zip(rows, relation.columns, strict=True):
        assert row[1] == store.type_name(column.type)
        assert column.comment, f"{name}.{column.name} has no meaning"


def test_a_unit_is_the_end_of_a_name() -> None:
    units = {name: store.unit(name) for name in ("duration_ns", "bytes", "tsc_hz", "events", "ns")}
    assert units == {
        "duration_ns": "ns", "bytes": "bytes", "tsc_hz": "Hz", "events": "", "ns": "ns",
    }  # fmt: skip
    assert store.unit("polled_percent") == "%"
