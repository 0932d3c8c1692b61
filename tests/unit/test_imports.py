"""Rows of the relation `import` from what processes noted, and the words for them."""

from __future__ import annotations

import json

from support.files.facts import assert_says

from rlscope.relations.rows import imports
from rlscope.report import import_sentences

_MADE = ["torch._C", "torch", "/lib/torch/__init__.py:9", 10, 70, 60, 40, 1]
_EXECUTED = ["torch._C", "torch", "/lib/torch/__init__.py:9", 90, 30, 20, 10, 1]
_TORCH = ["torch", "", "/home/me/train.py:3", 5, 200, 100, 50, 1]
_OTHERS = ["", "", "", 5, 0, 3, 2, 4]


def test_a_module_that_is_made_and_executed_is_one_row() -> None:
    columns = imports.columns({"rlscope.import.0": json.dumps([_MADE, _EXECUTED, _TORCH])})
    assert columns["module"] == ["torch._C", "torch"]
    assert columns["total_ns"] == [100, 200]
    assert columns["self_ns"] == [80, 100]
    assert columns["cpu_ns"] == [50, 50]
    assert columns["modules"] == [1, 1]
    assert columns["start_ns"] == [10, 5]
    assert columns["imported_by"] == ["torch", None]


def test_the_line_that_asks_is_the_programs_own_or_a_librarys() -> None:
    rows = json.dumps([_MADE, _TORCH, _OTHERS])
    site = [
        "torch.nn",
        "torch",
        "/v/lib/python3.11/site-packages/torch/__init__.py:9",
        1,
        1,
        1,
        1,
        1,
    ]
    columns = imports.columns(
        {"a": "", "rlscope.import.0": rows, "rlscope.import.1": json.dumps([site])}
    )
    assert columns["is_own"] == [True, True, None, False]
    columns = imports.columns({"rlscope.import.1": json.dumps([site])}, ["/v/lib"])
    assert columns["is_own"] == [True]


def test_short_modules_of_all_pieces_are_one_row() -> None:
    pieces = {f"rlscope.import.{i}": json.dumps([_OTHERS]) for i in range(3)}
    columns = imports.columns(pieces)
    assert (columns["module"], columns["modules"], columns["self_ns"]) == ([None], [12], [9])


def test_damaged_notes_and_other_metadata_have_no_rows() -> None:
    bad = [[*_TORCH[:-1]], [*_TORCH[:-1], "1"], [1, *_TORCH[1:]], [*_TORCH[:-1], 1 << 62], None]
    for value in ("[", "{}", "7", json.dumps(bad)):
        assert imports.columns({"rlscope.import.0": value})["module"] == []
    metadata = {"rlscope.import.0": json.dumps([_TORCH]), "lr": "1"}
    assert imports.others(metadata) == {"lr": "1"}


def test_the_sentence_has_the_five_slowest_modules_that_the_program_asked_for() -> None:
    total = {
        "role": "main", "name": "train.py", "processes": 1, "wall_ns": 3_000_000_000,
        "cpu_ns": 2_000_000_000, "modules": 9, "run_ns": 10_000_000_000,
    }  # fmt: skip
    rows = [
        {
            "role": "main",
            "module": f"module{i}",
            "asked_ns": None if i == 1 else (9 - i) * 100_000_000,
            "total_ns": i * 1_000_000_000,
            "asked_by": f"/home/me/train.py:{i}",
        }
        for i in range(9)
    ]
    (said,) = import_sentences.notable([total], rows)
    assert_says(said.partition(":")[0], "train.py", "3.00 s", "10.0 s")
    assert "module0 900 ms (train.py line 0)" in said
    assert [f"module{i} " in said for i in range(9)] == [True, False, *[True] * 4, *[False] * 3]
    assert import_sentences.notable([{**total, "wall_ns": 900_000_000}], rows) == []
    workers = {**total, "name": None, "role": "worker", "processes": 8}
    (said,) = import_sentences.notable([workers], [])
    assert_says(said, "8 workers", "3.00 s each", "2.00 s of CPU each")
