"""Rows of the relation `idle`: reasons of instants and operations, and time that was rolled up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from rlscope import _trace
from rlscope.relations.rows import idle

OPERATIONS = {
    "path": ["(none)", "update", "update/compilation", "Setup:data", "saving", "warmup/env"],
    "source": ["explicit", "explicit", "automatic", "explicit", "automatic", "explicit"],
}
Row = tuple[str, int, str, bool, str, int]


def found(*rows: Row, name: str = "idle") -> dict[str, Any]:
    """What the core finds: stage, number of the operation, layer, gpu_busy, reason, duration."""
    names = ("stage", "operation", "layer", "gpu_busy", "reason", "duration_ns")
    columns = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    columns["layer"] = [_trace.LAYERS.index(layer) for layer in columns["layer"]]
    if name == "breakdown":
        del columns["reason"]
    return {"operation": OPERATIONS, name: columns}


def rows_of(reasons: Sequence[Row], whole: Sequence[Row] | None = None) -> list[tuple[Any, ...]]:
    swept = found(*(whole or reasons), name="breakdown")
    return list(zip(*idle.columns(found(*reasons), swept).values(), strict=True))


def test_rows_are_named_and_in_order() -> None:
    later: Row = ("loop", 1, "wait", False, "thread", 7)
    assert rows_of([later, ("loop", 1, "python", True, "collection", 5)]) == [
        ("loop", "update", "explicit", "python", True, "collection", 5, False),
        ("loop", "update", "explicit", "wait", False, "thread", 7, False),
    ]


@pytest.mark.parametrize(
    ("operation", "reason"),
    [(2, "compilation"), (3, "compilation"), (5, "compilation"), (4, "disk"), (1, "framework")],
)
def test_some_operations_have_one_reason(operation: int, reason: str) -> None:
    (row,) = rows_of([("loop", operation, "framework", False, "framework", 9)])
    assert row[5] == reason


def test_reasons_that_become_one_are_added_up() -> None:
    rows: list[Row] = [
        ("loop", 4, "wait", False, "process", 3),
        ("loop", 4, "wait", False, "thread", 4),
    ]
    assert [row[5:7] for row in rows_of(rows)] == [("disk", 7)]


def test_what_the_pass_did_not_see_was_rolled_up() -> None:
    whole: list[Row] = [
        ("loop", 1, "python", False, "", 10),
        ("start-up", 1, "python", False, "", 4),
        ("loop", 1, "python", True, "", 2),
    ]
    kept: list[Row] = [("loop", 1, "python", False, "python", 7), (*whole[2][:4], "python", 2)]
    assert [(row[0], *row[4:7]) for row in rows_of(kept, whole)] == [
        ("loop", False, "python", 7),
        ("loop", False, "rolled up", 3),
        ("loop", True, "python", 2),
        ("start-up", False, "rolled up", 4),
    ]


def test_where_windows_know_the_state_of_the_gpu_it_is_said() -> None:
    """The breakdown does not have it then."""
    rows: list[Row] = [
        ("loop", 1, "python", True, "python", 7),
        ("loop", 1, "python", False, "python", 20),
    ]
    columns = found(*rows)
    columns["idle"] |= {"gpu_is_known": [True, False], "is_sample": [True, False]}
    swept = found(("loop", 1, "python", False, "", 30), name="breakdown")
    made = idle.columns(columns, swept)
    assert made["gpu_busy"] == [None, None, True]
    assert made["reason"] == ["python", "rolled up", "python"]
    assert made["duration_ns"] == [20, 3, 7]
    assert made["is_sample"] == [False, False, True]
