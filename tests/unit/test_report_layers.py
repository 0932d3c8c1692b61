"""Layers in the report: crossings, native calls per operation, and how they were recorded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.files.facts import assert_says
from support.files.relation_rows import Relations, process

from rlscope.analysis import interception, native_calls, transitions
from rlscope.analysis.interception import BLIND
from rlscope.report import sentences
from rlscope.report.panel import Drawing
from rlscope.report.panels.layers import PANEL
from rlscope.report.renderers.terminal import render_summary


def _call(operation: str, function: str, calls: int, ns: int, **more: Any) -> dict[str, Any]:
    row = {"process_id": 0, "operation": operation, "function": function, "layer": "framework"}
    return {**row, "calls": calls, "duration_ns": ns, "self_ns": ns, **more}


def _crossing(operation: str, into: str, count: int, **more: Any) -> dict[str, Any]:
    row = {"process_id": 0, "operation": operation, "from_layer": "python", "to_layer": into}
    return {**row, "count": count, **more}


def _said(engine: str, reason: str = "", process_id: int = 0, **more: Any) -> dict[str, Any]:
    facts = {
        "engine": engine,
        "reason": reason,
        "libraries": {"torch": "framework"},
        "counts": {"patched": 7},
        "problems": [],
        **more,
    }
    text = json.dumps(facts)
    return {"process_id": process_id, "key": "rlscope.interception", "value": text}


def _draw(trace: Relations) -> Drawing:
    drawing = PANEL.draw(PANEL.read(trace))  # type: ignore[arg-type]
    assert drawing is not None
    return drawing


def test_the_longest_functions_of_each_operation_come_first() -> None:
    trace = Relations(
        native_call=[
            _call("learn", "torch:add", 3, 30),
            _call("learn", "torch:mm", 1, 90, process_id=1),
            _call("learn", "torch:mm", 1, 10),
            _call("learn", "torch:exp", 1, 1),
            _call("act", "torch:add", 1, 5),
        ]
    )
    rows = native_calls.top_calls(trace, functions=2, operations=2).to_dicts()  # type: ignore[arg-type]
    assert [(row["operation"], row["function"], row["calls"]) for row in rows] == [
        ("learn", "torch:mm", 2),
        ("learn", "torch:add", 3),
        ("act", "torch:add", 1),
    ]
    assert rows[0]["native_ns"] == 131
    assert [row["hidden"] for row in rows] == [1, 1, 0]


def test_shares_over_all_operations_add_up() -> None:
    trace = Relations(native_call=[_call("a", "x:f", 1, 3), _call("b", "x:g", 1, 1)])
    table = native_calls.longest_calls(trace, functions=9)  # type: ignore[arg-type]
    assert list(table["share"]) == [0.75, 0.25]


def test_crossings_are_added_up_over_operations_in_one_sentence() -> None:
    trace = Relations(
        transition=[
            _crossing("a", "framework", 30, per_iteration=3.0),
            _crossing("b", "framework", 10, per_iteration=1.0),
            _crossing("b", "simulator", 5),
        ]
    )
    rows = transitions(trace).to_dicts()  # type: ignore[arg-type]
    (said,) = sentences.crossings(rows)
    ways = ("python to framework 40", "4 in an iteration", "python to simulator 5")
    assert_says(said, "whole run", *ways)


def test_a_crossing_from_no_layer_is_called_that() -> None:
    trace = Relations(transition=[{**_crossing("a", "framework", 124), "from_layer": "none"}])
    (said,) = sentences.crossings(transitions(trace).to_dicts())  # type: ignore[arg-type]
    assert_says(said, "no layer to framework 124")
    (grid,) = _draw(trace).grids
    assert grid.rows[0][1] == "no layer"


def test_native_time_of_several_processes_is_called_so() -> None:
    calls = [{**_call("a", "pickle:loads", 4, 4_000), "process_id": number} for number in (0, 1)]
    one, both = (
        sentences.longest_calls(
            native_calls.longest_calls(
                Relations(native_call=rows),
                functions=3,  # type: ignore[arg-type]
            ).to_dicts()
        )[0]
        for rows in (calls[:1], calls)
    )
    assert "process" not in one
    assert_says(both, "2 processes together", "pickle:loads 100.0 %", "1.00 µs x 8")


def test_the_panel_names_operation_function_and_time_of_a_call() -> None:
    drawing = _draw(Relations(native_call=[_call("act", "torch:add", 4, 4_000, self_ns=3_000)]))
    (grid,) = drawing.grids
    row = ["act", "torch:add", "framework", "4", "4.00 µs", "100.0 %", "1.00 µs", "3.00 µs"]
    assert list(grid.rows) == [row]


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        (_said("patch"), "by patching"),
        (_said("monitoring", "pages stay read-only"), "costs more: pages stay"),
        (_said("off", "no free tool id"), "no native calls and no waits: no free tool id"),
        (_said("patch", problems=["mine failed"]), "could not watch mine failed."),
    ],
)
def test_the_report_says_how_calls_were_seen(said: dict[str, Any], sentence: str) -> None:
    notes = _draw(Relations(process=[process(0, 0, 9)], metadata=[said])).notes
    assert any(sentence in note for note in notes), notes


@pytest.mark.parametrize("engine", ["patch", "monitoring"])
def test_each_engine_says_what_it_cannot_see(engine: str) -> None:
    (note,) = _draw(Relations(process=[process(0, 0, 9)], metadata=[_said(engine)])).notes[-1:]
    assert note == f"rlscope does not see {'; '.join(BLIND[engine])}."


def test_without_interception_waits_are_not_seen_either() -> None:
    notes = _draw(Relations(process=[process(0, 0, 9)], metadata=[_said("off")])).notes
    assert any("no native calls and no waits" in note for note in notes), notes


def test_the_guide_has_what_the_engines_cannot_see() -> None:
    """One row for each blind spot, and "yes" below the engines that have it."""
    page = (Path(__file__).parents[2] / "docs/guide/layers.md").read_text(encoding="utf-8")
    told = {"patch": set[str](), "monitoring": set[str]()}
    table = page.partition("| rlscope does not see |")[2].partition("\n\n")[0]
    for line in table.splitlines()[2:]:
        what, *marks = (cell.strip().replace("`", "") for cell in line.strip("|").split("|"))
        for engine, mark in zip(told, marks, strict=True):
            told[engine] |= {what} if mark == "yes" else set()
    assert told == {engine: set(BLIND[engine]) for engine in told}


@pytest.mark.parametrize(("more", "is_said"), [({"waits": False}, True), ({"waits": True}, False)])
def test_waits_that_were_switched_off_are_said(more: dict[str, bool], is_said: bool) -> None:
    said = [_said("patch", **more), _said("monitoring", process_id=1, waits=False)]
    trace = Relations(process=[process(0, 0, 9), process(1, 0, 9)], metadata=said)
    notes = [note for note in _draw(trace).notes if "--no-waits" in note]
    assert len(notes) == is_said


def test_processes_of_one_engine_are_one_sentence() -> None:
    trace = Relations(
        process=[process(0, 0, 9), process(1, 0, 9)],
        metadata=[
            _said("patch"),
            _said("patch", process_id=1, libraries={"mujoco": "simulator"}),
        ],
    )
    (row,) = interception.interception(trace).to_dicts()  # type: ignore[arg-type]
    assert (row["processes"], row["libraries"]) == (2, "mujoco (simulator), torch (framework)")


def test_what_recording_takes_once_is_that_of_all_processes() -> None:
    trace = Relations(
        process=[process(0, 0, 9), process(1, 0, 9)],
        metadata=[
            _said("patch", counts={"scan_ns": 30_000_000}, startup_ns=4_000_000),
            _said("patch", process_id=1, counts={"scan_ns": 10_000_000}, startup_ns=1_000_000),
        ],
    )
    (said,) = (note for note in _draw(trace).notes if "start-up" in note)
    assert_says(said, "start-up 5.00 ms longer", "imports 40.0 ms longer")


def test_what_the_user_switched_off_is_said() -> None:
    options = json.dumps({"intercept": "off"})
    run = {"run_id": "r", "start_ns": 0, "end_ns": 9, "options": options}
    trace = Relations(run=[run], process=[process(0, 0, 9, python="3.11")])
    assert any("--intercept=off" in note for note in _draw(trace).notes)


@pytest.mark.parametrize("text", ["", "[]", "{}", "nonsense"])
def test_what_another_version_said_is_no_error(text: str) -> None:
    said = {"process_id": 0, "key": "rlscope.interception", "value": text}
    trace = Relations(process=[process(0, 0, 9)], metadata=[said])
    assert len(interception.interception(trace)) == 0  # type: ignore[arg-type]


def test_what_the_recorder_says_of_itself_is_no_metadata_of_the_program() -> None:
    from rlscope.analysis.run_facts import metadata_value

    own = {"process_id": 0, "key": "seed", "value": "1"}
    trace = Relations(process=[process(0, 0, 9)], metadata=[_said("patch"), own])
    assert list(metadata_value(trace, rows=9)["key"]) == ["seed"]  # type: ignore[arg-type]


def test_the_page_names_crossings_and_calls_and_the_summary_an_unusual_engine() -> None:
    trace = Relations(
        run=[{"run_id": "r", "name": "ppo", "start_ns": 0, "end_ns": 9}],
        process=[process(0, 0, 9)],
        transition=[_crossing("act", "framework", 30)],
        native_call=[_call("act", "torch:add", 4, 4_000)],
        metadata=[_said("monitoring", "pages stay read-only")],
        overhead=[{"process_id": 0, "kind": "short wait", "count": 1_234}],
    )
    *_, crossed, called, short = _draw(trace).notes
    assert "python to framework 30" in crossed
    assert "torch:add 100.0 % (1.00 µs x 4)" in called
    assert_says(short, "1,234", "5 µs", "no count of calls")
    text = render_summary(trace, width=200)  # type: ignore[arg-type]
    assert "pages stay read-only" in text
    assert "torch:add" not in text
