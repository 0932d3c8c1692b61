"""What the first lines say of time between operations."""

from __future__ import annotations

from typing import Any

import pytest
from support.files.facts import assert_says
from support.files.headlines import LOOP, read, texts
from support.files.relation_rows import Relations, process, share


def test_much_time_between_operations_is_a_warning() -> None:
    trace = Relations(
        process=[process(0, 0, 10)],
        breakdown=[
            share(0, "a", "python", 5),
            share(0, "b", "python", 1),
            share(0, "(none)", "python", 4),
        ],
    )
    assert_says(read(trace).sentence, "a takes", f"50.0 % {LOOP}", "5 ns of 10 ns")
    assert_says(texts(trace, warning=True)[0], "40.0 %", "between operations")


@pytest.mark.parametrize(
    ("groups", "source", "is_missed"),
    [
        (("inference", "backprop"), "automatic", True),
        (("inference", "backprop", "simulation"), "automatic", False),
        (("inference", "backprop", "generation"), "automatic", False),
        (("backprop",), "automatic", False),
        (("inference", "backprop"), "explicit", False),
    ],
)
def test_a_program_that_acts_without_an_environment_may_name_one(groups, source, is_missed) -> None:
    events = {"automatic_events": 9, "operation_events": 0}
    if source == "explicit":
        events = {"automatic_events": 0, "operation_events": 9}
    trace = Relations(
        process=[process(0, 0, 10) | events],
        breakdown=[
            *(
                share(0, group, "python", 10 - len(groups) * place)
                for place, group in enumerate(groups)
            ),
            share(0, "(none)", "python", 6),
        ],
    )
    said = " ".join(texts(trace, warning=True))
    assert "between operations" in said
    assert ("saw no environment" in said) == is_missed


def _with_pauses(between_ns: int) -> Relations:
    """a, b, a and b again: one pause from a to b, and two back, of which the first one is short."""
    starts = {0: (0, 100 - between_ns), 1: (110 - between_ns, 115), 2: (116, 117)}
    return Relations(
        process=[process(0, 0, 120)],
        operation=[
            {"operation_id": i, "name": name, "path": name, "depth": 0}
            for i, name in enumerate("abc")
        ],
        operation_instance=[
            {"process_id": 0, "operation_id": i, "start_ns": start, "duration_ns": end - start}
            for i, (start, end) in starts.items()
        ],
        breakdown=[
            share(0, "a", "python", 100 - between_ns),
            share(0, "b", "python", 5 + between_ns),
            share(0, "c", "python", 1),
            share(0, "(none)", "python", 11),
        ],
    )


def test_time_between_operations_is_named_by_the_operations_around_it() -> None:
    between = texts(_with_pauses(10), warning=False)[-1]
    assert_says(between, "between", "a to b 10 ns in 1 pause", "b to c 1 ns in 1 pause")


def _with_one_pause(
    pause_ns: int, beside: str = "a", layer: str = "python", **more: Any
) -> Relations:
    """Two entries into an operation, and so long between them, in a loop of 100 ns. `beside`: half
    of the time in operations is that of another thread's operation."""
    return Relations(
        process=[process(0, 0, 100)],
        operation=[{"operation_id": 0, "name": "a", "path": "a", "depth": 0}],
        operation_instance=[
            {"process_id": 0, "operation_id": 0, "start_ns": start, "duration_ns": end - start}
            for start, end in ((0, 30), (30 + pause_ns, 100))
        ],
        breakdown=[
            share(0, "a", "python", (100 - pause_ns) // 2),
            share(0, beside, "python", 100 - pause_ns - (100 - pause_ns) // 2),
            share(0, "(none)", layer, pause_ns),
        ],
        **more,
    )


@pytest.mark.parametrize("pause_ns", [49, 60])
def test_what_is_between_operations_is_said_first_if_the_sentence_is_about_that(pause_ns):
    """Half or more of the time is between two entries, or as much as is in them and a bit less."""
    line = {"stack_id": 0, "function": "search", "file": "/me/tree.py", "line": 85}
    ends = dict.fromkeys(("self_ns", "self_low_ns", "self_high_ns"), pause_ns)
    time = {"operation": "(none)", "stage": "loop", "layer": "python", "stack_id": 0, **ends}
    trace = _with_one_pause(
        pause_ns, "b", stack=[line | {"process_id": 0}], stack_time=[time | {"process_id": 0}]
    )
    said = read(trace).sentence
    assert f" {pause_ns} ns of the time between operations lies between a and the next a" in said
    assert said.endswith("search (tree.py:85).")
    assert texts(trace, warning=True) == []
    assert "the next a" not in read(_with_one_pause(20, "b")).sentence


def test_who_is_waited_for_between_operations_is_enough():
    trace = _with_one_pause(60, "b", layer="wait")
    assert "of the time between operations lies" not in read(trace).sentence


@pytest.mark.parametrize(("pause_ns", "minor"), [(9, True), (11, False)])
def test_a_screen_has_it_where_it_is_more_than_a_tenth(pause_ns: int, minor: bool) -> None:
    details = read(_with_one_pause(pause_ns)).details
    (said,) = (each for each in details if each.text.startswith("Between operations"))
    assert said.minor == minor


def test_its_hottest_lines_are_named_if_they_are_surely_hot() -> None:
    state = {"process_id": 0, "stage": "loop", "operation": "(none)", "layer": "python"}
    file = "/v/site-packages/library/collector.py"
    trace = _with_one_pause(
        15,
        stack=[
            {"process_id": 0, "stack_id": line, "parent_id": None, "function": "collect"}
            | {"file": file, "line": line, "is_own": False}
            for line in (7, 8)
        ],
        stack_time=[
            {**state, "stack_id": line, "self_ns": 5, "self_low_ns": low_ns, "self_high_ns": 6}
            for line, low_ns in ((7, 4), (8, 0))
        ],
    )
    (said,) = (each for each in texts(trace, warning=False) if each.startswith("Between"))
    assert_says(
        said,
        "15 ns in 1 pause",
        "lines there",
        "collect (library/collector.py:7) 5.0 % (4.0 % to 6.0 %)",
    )
    assert ":8)" not in said


@pytest.mark.parametrize(("beside_ns", "said"), [(40, ""), (41, "p1, by way of ")])
def test_a_thread_that_waits_for_a_process_explains_most_of_a_wait_for_a_thread(
    beside_ns: int, said: str
) -> None:
    state = {"process_id": 0, "stage": "loop", "operation": "(none)", "count": 1}
    trace = Relations(
        process=[process(0, 0, 100, role="main"), process(1, 0, 100, role="helper")],
        breakdown=[
            share(0, "a", "python", 10),
            share(0, "(none)", "wait", 80),
            share(0, "b", "python", 10),
        ],
        breakdown_by_thread=[{**share(0, "a", "python", 10), "thread_id": 0}],
        wait=[
            {**state, "thread_id": 0, "kind": "lock", "duration_ns": 80, "self_ns": 80},
            {**state, "thread_id": 1, "kind": "pipe", "object": "7", "function": "posix.read"}
            | {"duration_ns": beside_ns, "self_ns": beside_ns, "peer_process_id": 1},
        ],
    )
    assert read(trace).sentence.endswith(f"mostly for {said}another thread.")


def test_a_warning_about_it_names_them_too() -> None:
    trace = _with_one_pause(40)
    (said,) = texts(trace, warning=True)
    assert_says(said, "40.0 %", "between operations", "a to a 40 ns in 1 pause")
    assert not any("pause" in each for each in texts(trace, warning=False))
