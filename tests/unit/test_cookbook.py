"""The questions of the cookbook have the answers that stand there, whoever asks them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import cookbook
import pytest
from support.process.command_line import rlscope

RECIPES = list(cookbook.recipes(cookbook.PAGE.read_text(encoding="utf-8")))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    root = tmp_path_factory.mktemp("cookbook")
    cookbook.write_runs(root)
    yield root


def test_there_are_twenty() -> None:
    headings = [line for line in cookbook.PAGE.read_text().splitlines() if line.startswith("### ")]
    assert [line.split()[1] for line in headings] == [f"{number}." for number in range(1, 21)]
    assert len(RECIPES) == 20


@pytest.mark.parametrize(("query", "shown"), RECIPES, ids=range(1, len(RECIPES) + 1))
def test_a_question_has_its_answer(folder: Path, query: str, shown: str) -> None:
    answer = cookbook.answer(folder, query)
    assert len(answer), "an answer without rows shows nothing"
    assert answer.to_text() == shown, f"make it again: python {cookbook.__file__}"


def test_the_command_line_gives_the_same(folder: Path) -> None:
    query, shown = RECIPES[0]
    assert rlscope("query", folder / "seed-0", query).stdout == f"{shown}\n"
    query, shown = next(recipe for recipe in RECIPES if cookbook.is_of_many(recipe[0]))
    assert rlscope("query", *sorted(folder.iterdir()), query).stdout == f"{shown}\n"


def test_no_question_depends_on_the_order_of_rows(folder: Path) -> None:
    """Where ORDER BY leaves ties, the answer would differ from one machine to the next."""
    for query, shown in RECIPES:
        if "ORDER BY" not in query:
            assert len(shown.splitlines()) == 3, query
