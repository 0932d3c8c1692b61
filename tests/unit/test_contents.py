"""What a trace holds, and what it cannot, as `rlscope info` lists it."""

from __future__ import annotations

from typing import Any

from support.files.relation_rows import Relations, process

from rlscope.analysis import contents


def test_processes_and_their_size() -> None:
    trace: Any = Relations(
        process=[
            process(1, 5, 9, parent_process_id=0, events=3, file_bytes=70),
            process(0, 0, 9, events=4, file_bytes=30),
        ]
    )
    rows = contents.recorded_processes(trace).to_dicts()
    assert [(row["process_id"], row["parent"], row["wall_ns"]) for row in rows] == [
        (0, None, 9),
        (1, 0, 4),
    ]
    assert list(contents.size(trace)) == [(2, 7, 100)]


def test_losses_of_a_kind_are_one_row_with_all_details() -> None:
    lost = {"process_id": 0, "kind": "ring_full", "count": 2, "duration_ns": 5}
    trace: Any = Relations(
        loss=[
            {**lost, "detail": "b"},
            {**lost, "detail": "a"},
            {**lost, "kind": "no_ring", "count": 9, "duration_ns": None, "detail": ""},
        ]
    )
    assert list(contents.losses(trace)) == [
        ("no_ring", 9, None, None),
        ("ring_full", 4, 10, ["a", "b"]),
    ]


def test_what_is_absent_stands_by_its_reason() -> None:
    trace: Any = Relations(
        absent=[
            {"relation": "kernel", "column_name": "*", "reason": "no GPU"},
            {"relation": "process", "column_name": "cpu_ns", "reason": "old"},
        ]
    )
    assert list(contents.absent(trace)) == [("no GPU", "kernel"), ("old", "process.cpu_ns")]
