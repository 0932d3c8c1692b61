"""Loops whose cost of being recorded is measured: each file has its row, and each row its file."""

from __future__ import annotations

from pathlib import Path

from gpu.programs.loops import LOOPS

FOLDER = Path(__file__).parents[1] / "gpu" / "programs" / "loops"
PAGE = Path(__file__).parents[2] / "docs" / "reference" / "gpu.md"


def test_each_loop_has_its_row_and_each_row_its_loop() -> None:
    made = {file.stem for file in FOLDER.glob("*.py") if "\ndef make() ->" in file.read_text()}
    assert {f"loops.{name}" for name in made} == set(LOOPS.values())


def test_the_page_names_each_loop() -> None:
    assert [name for name in LOOPS if f"`{name}`" not in PAGE.read_text()] == []
