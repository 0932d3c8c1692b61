"""The comparison sees when a rule is broken: each rule of the brute-force twin is changed, one at a
time, and the C++ sweep must then disagree on one of a bounded number of made-up traces.
"""

from __future__ import annotations

from functools import cache

import pytest

from ground_truth import brute
from ground_truth.profiles import draw_again
from ground_truth.raw import RawProcess
from ground_truth.relations import Rows
from ground_truth.rules import Rules, mutations
from ground_truth.strategies import looping_processes, processes
from ground_truth.swept import sweep

# The rarest mutation shows on one or two traces in a hundred, which come in clusters; most show
# within thirty traces.
TRACES = 900
# After every so many comes one more, about the training loop.
LOOPING = 2


@cache
def swept_traces() -> list[tuple[RawProcess, Rows]]:
    """The same traces each time, with what the C++ sweep says about them."""
    loops = iter(draw_again(looping_processes(), TRACES // LOOPING + 1))
    traces: list[RawProcess] = []
    for number, process in enumerate(draw_again(processes(), TRACES)):
        traces += [process, *([next(loops)] if number % LOOPING == 0 else [])]
    return [(process, sweep(process)) for process in traces]


@pytest.mark.parametrize(("rule", "wrong"), mutations(), ids=str)
def test_a_broken_rule_is_noticed(rule: str, wrong: str) -> None:
    broken = Rules(**{rule: wrong})  # type: ignore[arg-type]
    assert any(brute.tables(process, broken) != rows for process, rows in swept_traces())


def test_the_right_rules_agree_on_the_same_traces() -> None:
    for process, rows in swept_traces():
        assert brute.tables(process) == rows
