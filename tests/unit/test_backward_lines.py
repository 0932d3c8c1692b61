"""Lines of a backward: the note of a process, its relation, and what a damaged note does."""

from __future__ import annotations

import json
from typing import Any

import pytest

from rlscope.auto import backward_lines as watched
from rlscope.relations.rows import backward_lines as rows

A, B = ("net.py", 3, "forward"), ("net.py", 4, "forward")
NOTE = [["train.py", 9, 40, 8, 1000, [["net.py", 3, "forward", 16, 600], ["net.py", 4, "g", 8, 1]]]]
SOURCE_LINE = {
    "file": ["train.py", "train.py", "train.py", "net.py"],
    "line": [9, 9, 9, 3],
    "stage": ["loop", "loop", "end", "loop"],
    "own_ns": [1000, 999, 10, 5],
}


def _columns(note: Any) -> list[tuple[Any, ...]]:
    found = rows.columns(note if isinstance(note, str) else json.dumps(note), SOURCE_LINE)
    names = ("file", "line", "stage", "backward_ns", "backwards", "watched", "nodes")
    return list(zip(*(found[name] for name in names), strict=True))


def test_a_line_has_its_share_of_the_time_of_each_stage() -> None:
    assert _columns(NOTE) == [
        ("net.py", 3, "loop", 1199, 40, 8, 16),  # 0.6 of 1999, rounded down
        ("net.py", 4, "loop", 1, 40, 8, 8),
        ("net.py", 3, "end", 6, 40, 8, 16),
        ("net.py", 4, "end", 0, 40, 8, 8),
    ]


def test_a_backward_that_no_reading_found_has_no_row() -> None:
    assert _columns([["train.py", 8, *NOTE[0][2:]]]) == []
    assert rows.columns(None, SOURCE_LINE)["file"] == []


@pytest.mark.parametrize(
    "part",
    [
        None,
        [],
        ["net.py", 3, "forward", 16],
        ["net.py", "3", "forward", 16, 600],
        [7, 3, "forward", 16, 600],
        ["net.py", 3, "forward", -1, 600],
        ["net.py", 3, "forward", 16, 1 << 63],
        ["net.py", 3, "forward", 16, 1001],  # more than all
        ["net.py", 3, "forward", True, 600],
    ],
)
def test_a_damaged_part_is_left_out(part: Any) -> None:
    assert _columns([[*NOTE[0][:5], [part, NOTE[0][5][1]]]]) == [
        ("net.py", 4, "loop", 1, 40, 8, 8),
        ("net.py", 4, "end", 0, 40, 8, 8),
    ]


@pytest.mark.parametrize(
    "note",
    ["", "{", "7", [7], [NOTE[0][:5]], [[*NOTE[0][:4], 0, NOTE[0][5]]], [[*NOTE[0][:5], 7]]],
)
def test_a_damaged_note_has_no_rows(note: Any) -> None:
    assert _columns(note) == []


def test_a_node_lasts_until_the_next_one_of_its_thread() -> None:
    begins = [(1, 10, A), (2, 11, B), (1, 15, B), (2, 17, None), (1, 16, A)]
    assert list(watched._intervals(begins, 20)) == [(A, 5), (B, 6), (B, 1), (A, 4), (None, 3)]


def test_the_longest_lines_are_noted() -> None:
    of_line = watched._Backwards()
    for nodes in (1, 2):
        of_line.add(100, {("net.py", line, "f"): [nodes, line] for line in range(1, 150)})
    row = watched._row(("train.py", 9), of_line)
    assert row[:5] == ["train.py", 9, 0, 2, 200]
    assert [(line, nodes, ns) for _, line, _, nodes, ns in row[5]] == [
        (line, 3, 2 * line) for line in range(149, 49, -1)
    ]
