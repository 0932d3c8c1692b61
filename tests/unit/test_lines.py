"""Questions about source lines and stacks: hottest lines, their text, frames of a flame graph."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import pytest
from support.files.relation_rows import Relations, process, share
from support.files.report_rows import full_run
from support.files.stack_rows import State, callers, source_lines, stack_relations

from rlscope.analysis import lines

APP, TOOLS, LIBRARY = "/home/me/app.py", "/home/me/tools.py", "/v/site-packages/torch/optim.py"


def stack(stack_id: int, parent_id: int | None, file: str, line: int, function: str) -> dict:
    return {
        "process_id": 0,
        "stack_id": stack_id,
        "parent_id": parent_id,
        "function": function,
        "file": file,
        "line": line,
        "first_line": 1,
        "is_own": file != LIBRARY,
    }


STACKS = [
    stack(1, None, APP, 9, "main"),
    stack(2, 1, APP, 20, "update"),
    stack(3, 2, LIBRARY, 5, "step"),
    stack(4, 2, APP, 20, "update.<lambda>"),  # on the line that calls it
    stack(5, 1, TOOLS, 3, "sample"),
]


def time(stack_id: int | None, ns: int, low: int, high: int, **state: str) -> dict[str, Any]:
    where = {"stage": "loop", "operation": "train", "layer": "python"} | state
    ends = {"self_ns": ns, "self_low_ns": low, "self_high_ns": high}
    calls = {"calls": 0, "gpu_ns": 0}
    return {"process_id": 0, "stack_id": stack_id, "readings": 1, **where, **ends, **calls}


TIMES = [
    time(2, 100, 70, 140),
    time(3, 300, 260, 330, layer="framework"),
    time(4, 200, 150, 260, operation="train/step"),
    time(5, 300, 280, 320, layer="wait"),
    time(None, 100, 0, 0),
    time(5, 5000, 5000, 5000, stage="start-up", operation="(none)"),
]


def trace_of(**rows: Any) -> Relations:
    breakdown = [
        share(0, each["operation"], each["layer"], each["self_ns"], stage=each["stage"])
        for each in TIMES
    ]
    stacks = {"stack": STACKS, "stack_time": TIMES, "source_line": source_lines(STACKS, TIMES)}
    text = [{"file": APP, "line": line, "text": f"line {line}"} for line in range(1, 31)]
    return Relations(
        process=[process(0, 0, 6000)],
        **{"breakdown": breakdown, "source_text": text, **stacks, **rows},
    )


def hot(trace: Relations, count: int = 10) -> list[dict[str, Any]]:
    return lines.hot_lines(trace, lines=count).to_dicts()  # type: ignore[arg-type]


def test_the_hottest_line_has_its_own_time_and_that_of_libraries_it_calls():
    first, second, third = hot(trace_of())
    assert (first["file"], first["line"], first["own_ns"]) == (APP, 20, 600)
    assert (second["file"], second["own_ns"], second["wait_ns"]) == (TOOLS, 300, 300)
    assert (third["line"], third["own_ns"], third["total_ns"]) == (9, 0, 900)
    assert first["text"] == "line 20"
    assert second["text"] is None
    assert {row["loop_ns"] for row in (first, second, third)} == {1000}


def test_the_library_that_the_hottest_line_calls_is_known():
    (row,) = lines.library_line(trace_of()).to_dicts()
    assert (row["file"], row["line"], row["library"]) == (APP, 20, "torch")
    assert (row["library_ns"], row["own_ns"], row["loop_ns"]) == (300, 600, 1000)


def test_a_reading_without_a_line_is_no_row():
    rows = source_lines(STACKS, TIMES)
    unknown = {**rows[0], "line": None, "own_ns": 700, "is_own": True}
    assert all(row["line"] is not None for row in hot(trace_of(source_line=[*rows, unknown])))


def test_a_line_that_is_twice_on_a_stack_counts_once():
    assert hot(trace_of())[0]["total_ns"] == 600


def test_the_interval_of_a_sum_is_that_of_independent_estimates():
    first = hot(trace_of())[0]
    assert first["own_low_ns"] == round(600 - math.hypot(30, 40, 50))
    assert first["own_high_ns"] == round(600 + math.hypot(40, 30, 60))


def test_a_row_without_time_widens_the_interval_and_is_no_part():
    """A row of a layer in which no reading found the line."""
    rows = source_lines(STACKS, TIMES)
    (seen,) = (row for row in rows if row["line"] == 20 and row["layer"] == "framework")
    numbers = dict.fromkeys(("readings", "self_ns", "own_ns", "own_low_ns", "total_ns"), 0)
    trace = trace_of(source_line=[*rows, {**seen, "layer": "wait", **numbers, "own_high_ns": 80}])
    first = hot(trace)[0]
    assert (first["own_ns"], first["total_ns"], first["wait_ns"]) == (600, 600, 0)
    assert first["own_low_ns"] == round(600 - math.hypot(30, 40, 50))
    assert first["own_high_ns"] == round(600 + math.hypot(40, 30, 60, 80))
    parts = lines.hot_line_parts(trace, lines=1).to_dicts()  # type: ignore[arg-type]
    assert "wait" not in {row["layer"] for row in parts}


def test_only_the_hottest_lines_are_asked_for():
    assert [row["line"] for row in hot(trace_of(), 1)] == [20]


def test_lines_of_no_weight_are_left_out():
    light = [time(5, 999_500, 0, 0), time(2, 500, 0, 0)]
    whole = [share(0, "train", "python", 1_000_000)]
    rows = {"stack_time": light, "source_line": source_lines(STACKS, light)}
    assert [row["line"] for row in hot(trace_of(breakdown=whole, **rows))] == [3, 9]


def test_without_a_loop_the_whole_run_counts():
    times = [time(5, 80, 70, 90, stage="whole", operation="(none)")]
    trace = trace_of(
        breakdown=[share(0, "(none)", "python", 100)],
        stack_time=times,
        source_line=source_lines(STACKS, times),
    )
    assert [(row["own_ns"], row["loop_ns"]) for row in hot(trace)] == [(80, 100), (0, 100)]


def test_the_parts_of_a_line_are_by_operation_and_layer():
    rows = lines.hot_line_parts(trace_of(), lines=1).to_dicts()  # type: ignore[arg-type]
    assert [(row["operation"], row["layer"], row["own_ns"]) for row in rows] == [
        ("train", "framework", 300),
        ("train/step", "python", 200),
        ("train", "python", 100),
    ]


def test_lines_around_a_hot_one_have_their_text():
    rows = lines.hot_line_texts(trace_of(), lines=1, context=2).to_dicts()  # type: ignore[arg-type]
    assert [row["line"] for row in rows] == [18, 19, 20, 21, 22]
    assert {row["lines"] for row in rows} == {30}


def test_inner_lines_are_those_of_libraries_too():
    rows = lines.inner_lines(trace_of(), rows=2).to_dicts()  # type: ignore[arg-type]
    found = [(row["file"], row["self_ns"], row["is_own"]) for row in rows]
    assert found == [(TOOLS, 300, True), (LIBRARY, 300, False)]


def between(*times: dict[str, Any], **rows: Any) -> list[dict[str, Any]]:
    """The lines of time that lies between operations, if it has these parts."""
    parts = [{**each, "operation": "(none)"} for each in times]
    breakdown = [share(0, "train", "python", 900)]
    breakdown += [share(0, "(none)", each["layer"], each["self_ns"]) for each in parts]
    trace = trace_of(breakdown=breakdown, stack_time=parts, **rows)
    return lines.between_lines(trace, rows=9).to_dicts()  # type: ignore[arg-type]


def places(rows: list[dict[str, Any]]) -> list[tuple[str, int, int]]:
    return [(row["file"], row["line"], row["own_ns"]) for row in rows]


def test_time_between_operations_is_of_the_innermost_line_that_leads_to_a_tenth_of_it():
    """Lines 20 and 9 lead to more of that than they take themselves."""
    rows = between(time(3, 60, 40, 70), time(5, 9, 8, 9), time(2, 31, 30, 40))
    assert places(rows) == [(LIBRARY, 5, 60)]
    assert (rows[0]["own_low_ns"], rows[0]["own_high_ns"]) == (40, 70)
    assert (rows[0]["function"], rows[0]["text"], rows[0]["loop_ns"]) == ("step", None, 1000)


def test_a_line_that_leads_to_little_is_of_its_caller():
    rows = between(time(3, 5, 0, 9), time(4, 4, 1, 9), time(2, 90, 80, 99))
    assert places(rows) == [(APP, 20, 99)]
    assert rows[0]["text"] == "line 20"
    assert rows[0]["own_low_ns"] == round(99 - math.hypot(5, 3, 10))


def test_what_only_decorates_a_function_is_none_of_it():
    decorator = "/v/site-packages/torch/utils/_contextlib.py"
    stacks = [*STACKS, stack(6, 2, decorator, 124, "decorate_context"), stack(7, 6, APP, 7, "act")]
    rows = between(time(6, 100, 90, 110), time(7, 40, 30, 50), stack=stacks)
    assert places(rows) == [(APP, 20, 100), (APP, 7, 40)]


def test_waits_are_none_of_it():
    assert places(between(time(3, 60, 60, 60), time(5, 60, 60, 60, layer="wait"))) == [
        (LIBRARY, 5, 60)
    ]


def test_time_without_a_stack_is_not_told():
    assert between(time(None, 100, 0, 0)) == []


def test_lines_between_operations_against_a_count_stack_by_stack():
    parts = {"python": 5_000_000, "framework": 3_000_000, "wait": 2_000_000}
    states: dict[tuple[int, State], int] = {
        (0, (stage, operation, layer)): ns
        for layer, ns in parts.items()
        for stage, operation in (("loop", "(none)"), ("loop", "train"), ("end", "(none)"))
    }
    breakdown = [
        share(process_id, operation, layer, ns, stage=stage)
        for (process_id, (stage, operation, layer)), ns in states.items()
    ]
    rows = stack_relations(states, "me", stacks=60)
    trace = Relations(process=[process(0, 0, 40_000_000)], breakdown=breakdown, **rows)
    spent: dict[int, int] = {}
    for row in rows["stack_time"]:
        is_between = (row["stage"], row["operation"]) == ("loop", "(none)")
        if is_between and row["layer"] != "wait" and row["stack_id"] is not None:
            spent[row["stack_id"]] = spent.get(row["stack_id"], 0) + row["self_ns"]
    tree = rows["stack"]
    paths = {
        number: [(each["file"], each["line"], each["function"]) for each in callers(tree, number)]
        for number in spent
    }
    total: Counter[tuple[Any, ...]] = Counter()
    for number, ns in spent.items():
        total.update(dict.fromkeys(set(paths[number]), ns))
    large = {line for line, ns in total.items() if ns >= 0.01 * sum(spent.values())}
    own: Counter[tuple[Any, ...] | None] = Counter()
    for number, ns in spent.items():
        innermost = next((line for line in paths[number] if line in large), None)
        own[innermost] += ns
    expected = {line: ns for line, ns in own.items() if line and 2 * ns >= total[line]}
    found = lines.between_lines(trace, rows=10_000, least_share=0.01).to_dicts()  # type: ignore[arg-type]
    assert {(row["file"], row["line"], row["function"]): row["own_ns"] for row in found} == expected
    assert 1 < len(expected) < len(large)


def flame(trace: Relations, **limits: Any) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    frames = lines.flame_frames(trace, **limits).to_dicts()  # type: ignore[arg-type]
    return frames, lines.flame_parts(trace, **limits).to_dicts()  # type: ignore[arg-type]


def test_frames_have_the_time_of_what_they_call():
    frames, parts = flame(trace_of(), frames=10)
    assert {row["function"]: row["total_ns"] for row in frames} == {
        "main": 900,
        "update": 600,
        "step": 300,
        "update.<lambda>": 200,
        "sample": 300,
    }
    assert all(row["caller_frame"] is None or row["caller_frame"] < row["frame"] for row in frames)
    assert sum(row["self_ns"] for row in parts) == 1000
    assert [row["self_ns"] for row in parts if not row["is_known"]] == [100]


@pytest.mark.parametrize("limits", [{"frames": 10, "least_share": 0.35}, {"frames": 2}])
def test_small_calls_are_together_at_their_caller(limits: dict[str, Any]):
    frames, parts = flame(trace_of(), **limits)
    assert [row["function"] for row in frames] == ["main", "update"]
    small: dict[int, int] = {}
    for row in parts:
        if row["is_small"]:
            small[row["frame"]] = small.get(row["frame"], 0) + row["self_ns"]
    assert small == {1: 300, 2: 500}
    assert sum(row["self_ns"] for row in parts) == 1000


def test_the_same_calls_of_two_processes_are_one_frame():
    one, two = (full_run(processes=count) for count in (1, 2))
    counts = [len(lines.flame_frames(each, frames=10_000, least_share=0)) for each in (one, two)]  # type: ignore[arg-type]
    assert counts[0] <= counts[1] < 2 * counts[0]


def test_every_time_of_a_full_run_is_in_the_frame_of_its_stack():
    """Against a count stack by stack."""
    trace = full_run()
    tree = [row for row in trace.table("stack").to_dicts() if row["process_id"] == 0]
    expected: dict[tuple[Any, ...], int] = {}
    for row in trace.table("stack_time").to_dicts():
        if row["stack_id"] is not None:
            path: tuple[Any, ...] = ()
            for call in reversed(callers(tree, row["stack_id"])):
                path = (*path, (call["function"], call["file"], call["line"]))
                expected[path] = expected.get(path, 0) + row["self_ns"]
    frames = lines.flame_frames(trace, frames=10_000, least_share=0).to_dicts()  # type: ignore[arg-type]
    paths: dict[int, tuple[Any, ...]] = {}
    for row in frames:
        above = paths.get(row["caller_frame"], ())
        paths[row["frame"]] = (*above, (row["function"], row["file"], row["line"]))
    assert {paths[row["frame"]]: row["total_ns"] for row in frames} == expected


def corrected(rows: list[dict[str, Any]], name: str, **kept: float) -> list[dict[str, Any]]:
    """Rows with that share of a time left without recording, by layer."""
    return [
        {**row, f"{name}_corrected_ns": round(row[f"{name}_ns"] * kept[row["layer"]])}
        for row in rows
    ]


KEPT = {"python": 0.5, "framework": 0.9, "wait": 1.0}


def test_lines_have_what_is_left_of_them_without_recording():
    rows = corrected(source_lines(STACKS, TIMES), "own", **KEPT)
    found = {row["line"]: row["own_corrected_ns"] for row in hot(trace_of(source_line=rows))}
    assert found == {20: 100 * 0.5 + 300 * 0.9 + 200 * 0.5, 3: 300, 9: 0}
    trace = trace_of(stack_time=corrected(TIMES, "self", **KEPT))
    inner = lines.inner_lines(trace, rows=9).to_dicts()  # type: ignore[arg-type]
    found = {row["function"]: row["self_corrected_ns"] for row in inner}
    assert found == {"update": 50, "step": 270, "update.<lambda>": 100, "sample": 300}


def test_without_costs_lines_have_no_time_without_recording():
    assert {row["own_corrected_ns"] for row in hot(trace_of()) if row["own_ns"]} == {None}
    inner = lines.inner_lines(trace_of(), rows=9).to_dicts()  # type: ignore[arg-type]
    assert {row["self_corrected_ns"] for row in inner} == {None}


def backward(file: str, line: int, backward_ns: int, **where: Any) -> dict[str, Any]:
    """A row of `backward_line`."""
    ran = {"backward_file": APP, "backward_line": 20, "stage": "loop", "function": "f"}
    return {"process_id": 0, "file": file, "line": line, "backward_ns": backward_ns, **ran, **where}


def test_lines_have_the_time_of_their_backward():
    """In the loop, from all lines that ran one; a line without another time has a row, too."""
    rows = [
        backward(APP, 20, 100),
        backward(APP, 20, 30, backward_line=21),
        backward(APP, 20, 7000, stage="start-up"),
        backward(APP, 28, 60),
        backward(APP, 29, 9),
    ]
    found = {
        row["line"]: (row["own_ns"], row["backward_ns"])
        for row in hot(trace_of(backward_line=rows))
    }
    assert found == {20: (600, 130), 3: (300, 0), 9: (0, 0), 28: (0, 60)}


def calls(stack_id: int | None, gpu_ns: int, **state: str) -> dict[str, Any]:
    """CUDA calls of a stack."""
    return time(stack_id, 0, 0, 0, layer="gpu", **state) | {"calls": 1, "gpu_ns": gpu_ns}


def test_frames_have_the_gpu_time_of_what_they_and_their_calls_launched():
    """Those of the loop; a call without time of the process has a frame, too."""
    launched = [calls(2, 500), calls(3, 40), calls(None, 60), calls(2, 9, stage="start-up")]
    frames, parts = flame(trace_of(stack_time=[*TIMES, *launched]), frames=10)
    assert {row["function"]: (row["total_ns"], row["gpu_ns"]) for row in frames} == {
        "main": (900, 540),
        "update": (600, 540),
        "step": (300, 40),
        "update.<lambda>": (200, 0),
        "sample": (300, 0),
    }
    assert [row["gpu_ns"] for row in parts if not row["is_known"] and row["layer"] == "gpu"] == [60]
    assert sum(row["gpu_ns"] for row in parts) == 600
    assert sum(row["self_ns"] for row in parts) == 1000
    assert {row["self_ns"] for row in parts if row["layer"] == "gpu"} == {0}


def test_a_call_that_is_large_by_gpu_time_alone_has_a_frame():
    times = [time(5, 10_000, 0, 0), time(3, 1, 0, 0), calls(3, 100), calls(5, 1)]
    frames, _ = flame(trace_of(stack_time=times), frames=10, least_share=0.05)
    assert {row["function"]: (row["total_ns"], row["gpu_ns"]) for row in frames} == {
        "main": (10_001, 101),
        "sample": (10_000, 1),
        "update": (1, 100),
        "step": (1, 100),
    }
    limited, _ = flame(trace_of(stack_time=times), frames=3, least_share=0.05)
    assert [row["function"] for row in limited] == ["main", "sample", "update"]


def launches(line: int, gpu_ns: int, **state: str) -> dict[str, Any]:
    """A row of `source_line` with CUDA calls of a line of APP."""
    where = {"stage": "loop", "operation": "train", "layer": "gpu"} | state
    times = dict.fromkeys(("readings", "self_ns", "own_ns", "own_low_ns", "own_high_ns"), 0)
    code = {"process_id": 0, "file": APP, "line": line, "function": "f", "is_own": True}
    return {**code, **where, **times, "total_ns": 0, "calls": 1, "gpu_ns": gpu_ns}


def test_lines_have_the_gpu_time_of_what_they_launched():
    """Those of the loop alone, and lines that take no time of the process, too."""
    calls = [
        launches(20, 40),
        launches(20, 7, operation="train/step"),
        launches(20, 5000, stage="start-up"),
        launches(25, 60),
        launches(26, 1),
    ]
    trace = trace_of(source_line=[*source_lines(STACKS, TIMES), *calls])
    found = {row["line"]: (row["own_ns"], row["gpu_ns"]) for row in hot(trace)}
    assert found == {20: (600, 47), 3: (300, 0), 9: (0, 0), 25: (0, 60)}
    parts = lines.hot_line_parts(trace, lines=10).to_dicts()  # type: ignore[arg-type]
    assert {(row["line"], row["operation"], row["gpu_ns"]) for row in parts if row["gpu_ns"]} == {
        (20, "train", 40),
        (20, "train/step", 7),
        (25, "train", 60),
    }
    assert {row["layer"] for row in parts if row["gpu_ns"]} == {"cuda_api"}
