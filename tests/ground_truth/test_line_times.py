"""`stack_time` and `source_line` against their brute-force twin, on made-up states and stacks; and
each rule of the twin, broken, is noticed."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ground_truth.line_times import LIBRARY, OWN, Call, Row, SourceLine, StackTime, State, Twin
from ground_truth.mutants import Inputs
from ground_truth.profiles import PROFILE, numbered
from ground_truth.rules import LineRules, mutations
from rlscope import _trace
from rlscope.relations.rows import stacks

LAYERS = ("python", "framework", "wait", "none")


class Case(NamedTuple):
    calls: list[Call]
    states: list[State]


@st.composite
def cases(draw: st.DrawFn) -> Case:
    files = st.sampled_from((OWN, LIBRARY))
    calls = [
        Call(draw(st.integers(0, number)), draw(files), draw(st.integers(1, 2)))
        for number in range(draw(st.integers(1, 7)))
    ]
    readings = st.dictionaries(st.integers(0, len(calls)), st.integers(1, 5), max_size=4)
    where = st.tuples(st.integers(0, 1), st.sampled_from(LAYERS))
    times = st.just(0) | st.integers(1, 90)
    rows = st.lists(st.builds(Row, times, times), min_size=1, max_size=2)
    keys = draw(st.lists(where, min_size=1, max_size=4, unique=True))
    return Case(calls, [State(*key, draw(rows), draw(readings)) for key in keys])


def swept(case: Case) -> dict[str, Any]:
    """As the sweep has it, with a corrected breakdown."""
    calls, states = case
    rows = [(each, row) for each in states for row in each.rows]
    readings = [(each, *pair) for each in states for pair in each.readings.items()]
    return {
        "breakdown": {
            **_state_columns([each for each, _ in rows]),
            "duration_ns": [row.duration_ns for _, row in rows],
            "corrected_ns": [row.corrected_ns for _, row in rows],
        },
        "state_reading": {
            **_state_columns([each for each, *_ in readings]),
            "stack": [stack for _, stack, _ in readings],
            "readings": [count for *_, count in readings],
        },
        "stack": {
            "stack": [*range(1, len(calls) + 1)],
            "parent": [call.caller for call in calls],
            "file": [call.file for call in calls],
            "line": [call.line for call in calls],
            "function": ["f"] * len(calls),
            "first_line": [1] * len(calls),
        },
    }


def _state_columns(states: list[State]) -> dict[str, list[Any]]:
    return {
        "stage": ["loop"] * len(states),
        "operation": [state.operation for state in states],
        "layer": [_trace.LAYERS.index(state.layer) for state in states],
    }


def found(case: Case) -> tuple[set[StackTime], set[SourceLine]]:
    """What the relations have."""
    made = stacks.relations(swept(case))
    times, lines = made["stack_time"], made["source_line"]
    for columns in (times, lines):
        columns["layer"] = [_trace.LAYERS[number] for number in columns["layer"]]
    times["stack"] = times["stack_id"]
    names = StackTime._fields, tuple(SourceLine.__dataclass_fields__)
    rows = [
        list(zip(*(columns[name] for name in wanted), strict=True))
        for columns, wanted in zip((times, lines), names, strict=True)
    ]
    assert [len(each) for each in rows] == [len(set(each)) for each in rows]
    return {StackTime(*row) for row in rows[0]}, {SourceLine(*row) for row in rows[1]}


def told(case: Case, rules: LineRules) -> tuple[set[StackTime], set[SourceLine]]:
    """What the twin has."""
    twin = Twin(*case, rules)
    return twin.stack_times(), twin.source_lines()


@PROFILE
@given(cases())
def test_times_of_stacks_and_lines_are_those_of_the_twin(case: Case) -> None:
    assert found(case) == told(case, LineRules())


@PROFILE
@given(cases())
def test_stacks_have_all_time_of_their_states(case: Case) -> None:
    """The corrected time, too."""
    times, _ = found(case)
    for state in case.states:
        rows = [each for each in times if each[1:3] == (state.operation, state.layer)]
        assert sum(row.self_ns for row in rows) == sum(row.duration_ns for row in state.rows)
        corrected = sum(row.corrected_ns for row in state.rows)
        assert sum(row.self_corrected_ns for row in rows) == corrected


NOTICING = (2, 8, 6, 4, 3)
CASES: Inputs[Case, tuple[set[StackTime], set[SourceLine]]] = Inputs(
    numbered(cases()), found, NOTICING, most=100
)


@pytest.mark.parametrize(("rule", "wrong"), mutations(LineRules), ids=str)
def test_a_broken_rule_is_noticed(rule: str, wrong: str) -> None:
    broken = LineRules(**{rule: wrong})  # type: ignore[arg-type]
    assert CASES.notice(lambda case, right: told(case, broken) == right)


def test_without_costs_no_time_is_corrected() -> None:
    rows = swept(Case([Call(0, OWN, 1)], [State(0, "python", [Row(9, 7)], {1: 2})]))
    del rows["breakdown"]["corrected_ns"]
    made = stacks.relations(rows)
    assert made["stack_time"]["self_ns"] == made["source_line"]["own_ns"] == [9]
    for columns in made.values():
        assert not [name for name in columns if "corrected" in name]
