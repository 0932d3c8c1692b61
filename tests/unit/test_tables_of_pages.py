"""Tables of the pages: each row has the cells of its head."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
_CODE = re.compile(r"```.*?```|``.*?``|`[^`\n]*`", re.DOTALL)


def _tables(text: str) -> Iterator[list[int]]:
    """How many bars each row of a table has; code and escaped ones have none."""
    bare = _CODE.sub("", text).replace("\\|", "")
    for is_row, rows in groupby(bare.splitlines(), key=lambda line: line.startswith("|")):
        if is_row:
            yield [row.count("|") for row in rows]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_rows_have_the_cells_of_the_head(page: Path) -> None:
    assert all(len(set(bars)) == 1 for bars in _tables(page.read_text()))


def test_a_row_that_is_broken_is_seen() -> None:
    head = "| a | b |\n|---|---|\n"
    assert [len(set(bars)) for bars in _tables(f"{head}| `x|y` | 1 |\n\n{head}| 1 |\n")] == [1, 2]
