"""Every kind of loss that the C++ core can report means something on the page."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from rlscope.analysis import verdicts
from rlscope.report import losses

CSRC = Path(__file__).parents[2] / "csrc"
# Header -> one row of its table of kinds; the text of the kind is in quotes.
TABLES = {
    "trace/layout/shared_pages.h": r'X\(k\w+, \d+, "(\w+)"\)',
    "analysis/process/losses.h": r'X\(\w+, "(\w+)"\)',
}


@pytest.mark.parametrize(("header", "row"), TABLES.items())
def test_every_kind_has_a_meaning(header: str, row: str) -> None:
    kinds = set(re.findall(row, (CSRC / header).read_text(encoding="utf-8")))
    assert len(kinds) >= 5
    assert kinds <= set(losses.MEANING)


def test_what_is_harmless_is_known() -> None:
    assert set(losses.MEANING) >= verdicts.HARMLESS
