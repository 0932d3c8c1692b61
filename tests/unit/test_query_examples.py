"""The statements that `rlscope query --help` and the guide show are right as they stand."""

from __future__ import annotations

from pathlib import Path

import pytest
from ground_truth.raw import RawProcess, RawThread, enter, iteration, leave
from ground_truth.written import write
from support.files import documented

from rlscope.opening import load, load_many

OWN = [
    iteration(1_000),
    enter(1_000, "update"),
    leave(1_300, "update"),
    iteration(2_000),
    iteration(4_000),
    iteration(7_000),
]


def answer(root: Path, statement: str, *before: object) -> list[dict[str, object]]:
    """The rows about what the program itself says, of a trace with these items first."""
    thread = RawThread(items=[*before, *OWN])  # type: ignore[list-item]
    write([RawProcess(end_ns=8_000, threads=[thread])], root)
    with load_many([root]) if "run_id" in statement else load(root) as trace:
        rows = trace.sql(statement).to_dicts()
    return [row for row in rows if row.get("source") != "automatic"]


@pytest.mark.parametrize(
    "statement", [each for each in documented.of_queries() if "FROM iteration" in each]
)
def test_an_example_about_iterations_leaves_out_those_that_rlscope_finds(
    statement: str, tmp_path: Path
) -> None:
    alone = answer(tmp_path / "alone", statement)
    mixed = answer(tmp_path / "mixed", statement, iteration(0, automatic=True))
    assert [row | {"iteration": 0} for row in mixed] == [row | {"iteration": 0} for row in alone]
    assert alone
