"""Advice on loops whose hot line is in a function that they call."""

from __future__ import annotations

import ast

import pytest
from support.files.loop_rows import FILE, Time, calls, found, loop_rows
from support.files.relation_rows import SECOND

from rlscope.analysis.findings import element_loop, tensor_loop, whole_copy
from rlscope.analysis.source_code import Source

BLEND = (
    "def blend(slow, fast):\n    slow.data = 0.9 * slow.data + fast.data\n\ndef follow(pairs):\n"
)
LOOP = BLEND + "    for slow, fast in pairs:\n        blend(slow, fast)\n"
ACCUMULATED = BLEND + "    rows = zip(pairs)\n    return list(accumulate(rows, blend))\n"
ONCE = BLEND + "    rows = zip(pairs)\n    return list(map_once(rows, blend))\n"


def helped(text: str, *others: Time, count: int = 40_000):
    """2 s in line 2, whose function line 6 calls."""
    ns = 2 * SECOND
    state = {"process_id": 0, "stage": "loop", "operation": "(none)", "layer": "framework"}
    place = {"file": FILE, "function": "blend", "is_own": True, "readings": 100}
    own = {"own_ns": ns, "own_low_ns": ns // 2, "own_high_ns": ns, "self_ns": ns, "total_ns": ns}
    none = dict.fromkeys(own, 0) | {"total_ns": ns}
    more = [
        {**state, **place, **none, "operation": other.operation, "line": other.line}
        for other in others
    ]
    return loop_rows(
        Time("(none)", "framework", ns, 6, ((FILE, "blend"),)),
        *others,
        entries={"simulation": 400},
        text=text,
        native_call=[calls("(none)", "torch._C:TensorBase.mul", count, ns // 2)],
        source_line=[
            {**state, **place, **own, "line": 2},
            {**state, **place, **none, "line": 6},
            *more,
        ],
    )


@pytest.mark.parametrize("text", [LOOP, ACCUMULATED])
def test_a_line_of_a_function_that_a_loop_calls_is_in_that_loop(text):
    (finding,) = found(tensor_loop.RULE, helped(text))
    assert (finding.file, finding.line) == (FILE, 2)
    assert finding.price is not None
    assert finding.price.saving_ns == pytest.approx(0.92 * 2 * SECOND)


def test_a_function_that_no_loop_calls_is_in_none():
    assert found(tensor_loop.RULE, helped(ONCE)) == []


def test_a_loop_that_calls_it_a_few_times_is_none():
    assert found(tensor_loop.RULE, helped(LOOP, count=800)) == []


def test_the_loop_in_which_environments_step_is_none():
    step = Time("simulation", "python", SECOND, 6)
    assert found(tensor_loop.RULE, helped(LOOP, step)) == []


@pytest.mark.parametrize(
    ("expression", "part"),
    [
        ("sum(a * b for a in rows for b in rows)", 0.9),
        ("[sum([a * b for a in rows]) for b in rows]", 0.9),
        ("[a * 2 for a in rows]", 0.5),
    ],
)
def test_loops_of_a_comprehension_multiply_too(expression, part):
    trace = loop_rows(
        Time("simulation", "python", 3 * SECOND, 2),
        entries={"simulation": 1000},
        text=f"def reward(rows):\n    return {expression}\n",
    )
    (finding,) = found(element_loop.RULE, trace)
    assert finding.price is not None
    instead_ns = 1000 * 5000 if part == 0.9 else 0  # calls of NumPy
    assert finding.price.saving_ns == pytest.approx(part * 3 * SECOND - instead_ns)


SPREAD = """\
class Scores:
    def __init__(self):
        self.seen = []

    def push(self, value):
        self.seen.append(value)
        seen = np.array(self.seen)
        other = value + 1
        return (value - seen.mean()) / np.std(seen)
"""


def test_sums_of_the_array_are_a_part_of_it():
    trace = loop_rows(
        *(Time("(none)", "python", SECOND, line) for line in (7, 8, 9)),
        entries={"simulation": 1000},
        text=SPREAD,
    )
    (finding,) = found(whole_copy.RULE, trace)
    assert finding.line == 7
    assert finding.price is not None
    assert finding.price.saving_ns == pytest.approx(0.95 * 2 * SECOND)
    assert whole_copy.lines_that_sum(Source(ast.parse(SPREAD)), 7, {"mean", "std"}) == {9}
