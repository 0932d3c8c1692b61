"""The training loop of a process, and what lies around it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ground_truth.brute import AROUND_LOOP, tables
from ground_truth.raw import Item, RawProcess, RawThread, enter, leave
from ground_truth.relations import OTHER, Breakdown
from ground_truth.swept import sweep

SEMANTICS = Path(__file__).parents[2] / "docs" / "reference" / "semantics.md"


def stages(*items: Item) -> dict[tuple[str, str], int]:
    """(stage, operation) -> ns of a process of 100 ns."""
    rows = sweep(RawProcess(end_ns=100, threads=[RawThread(items=list(items))]))["breakdown"]
    return {
        (row.stage, row.operation): row.duration_ns for row in rows if isinstance(row, Breakdown)
    }


def test_the_page_of_the_numbers_names_the_operations_around_the_loop() -> None:
    section = SEMANTICS.read_text().partition("### The training loop")[2].partition("\n## ")[0]
    listed = section.partition("make the loop no longer:")[2].partition("An operation that")[0]
    assert set(re.findall(r"`(\w+)`", listed)) == AROUND_LOOP


@pytest.mark.parametrize("name", sorted(AROUND_LOOP))
def test_an_operation_around_the_loop_makes_it_no_longer(name: str) -> None:
    for shown in (name, name.upper(), f"{name}: 3"):
        around = (enter(10, shown), leave(20, shown))
        assert {stage for stage, _ in stages(*around)} == {"whole"}
        assert stages(*around, enter(30, "act"), leave(40, "act")) == {
            ("start-up", "(none)"): 20,
            ("start-up", shown): 10,
            ("loop", "act"): 10,
            ("end", "(none)"): 60,
        }


def test_what_lies_between_operations_of_the_loop_is_in_it() -> None:
    found = stages(
        enter(10, "act"),
        leave(20, "act"),
        enter(30, "evaluation"),
        enter(35, "act"),
        leave(40, "act"),
        leave(45, "evaluation"),
        enter(50, "act"),
        leave(60, "act"),
        enter(70, "saving"),
        leave(80, "saving"),
    )
    assert found == {
        ("start-up", "(none)"): 10,
        ("loop", "(none)"): 15,
        ("loop", "act"): 20,
        ("loop", "evaluation"): 10,
        ("loop", "evaluation/act"): 5,
        ("end", "(none)"): 30,
        ("end", "saving"): 10,
    }


def test_an_operation_that_lasts_no_time_begins_no_loop_and_ends_none() -> None:
    found = stages(
        enter(5, "act"),
        leave(5, "act"),
        enter(10, "act"),
        leave(20, "act"),
        enter(90, "act"),
        leave(90, "act"),
    )
    assert found == {
        ("start-up", "(none)"): 10,
        ("loop", "act"): 10,
        ("end", "(none)"): 80,
    }


def test_a_stretch_counts_in_the_stage_in_which_it_begins() -> None:
    """Only what goes beyond the paths that are kept goes on from one stage to the next."""
    items = [
        enter(10, "evaluation"),
        enter(20, "part"),
        leave(30, "part"),
        leave(30, "evaluation"),
        enter(30, "act"),
        leave(40, "act"),
    ]
    process = RawProcess(end_ns=100, threads=[RawThread(items=items)], most_paths=1)
    rows = sweep(process)["breakdown"]
    assert rows == tables(process)["breakdown"]
    assert [
        (row.stage, row.duration_ns, row.count)
        for row in rows
        if isinstance(row, Breakdown) and row.operation == OTHER
    ] == [("loop", 10, 0), ("start-up", 10, 1)]
