"""The comparison sees when a rule is broken: each rule of the brute-force twin is changed, one at a
time, and the C++ sweep must then disagree on one of a bounded number of made-up traces.
"""

from __future__ import annotations

import pytest

from ground_truth import brute
from ground_truth.mutants import Inputs
from ground_truth.profiles import numbered
from ground_truth.raw import RawProcess
from ground_truth.relations import Rows
from ground_truth.rules import Rules, mutations
from ground_truth.strategies import looping_processes, processes
from ground_truth.swept import sweep

NOTICING = (
    47, 8, 121, 857, 50, 25, 88, 58, 35, 99, 20, 178, 3,
    139, 167, 59, 138, 28, 4, 132, 97, 33, 161, 152, 1, 65, 68, 108, 500, 370,
)  # fmt: skip
# How many traces the right rules are compared on, beside those of test_sweep.py. Every third one is
# about the training loop.
AGREEING = 90
_any_process, _looping_process = numbered(processes()), numbered(looping_processes())


def process_of(number: int) -> RawProcess:
    return (_looping_process if number % 3 == 2 else _any_process)(number)


TRACES: Inputs[RawProcess, Rows] = Inputs(process_of, sweep, NOTICING, most=900)


@pytest.mark.parametrize(("rule", "wrong"), mutations(), ids=str)
def test_a_broken_rule_is_noticed(rule: str, wrong: str) -> None:
    broken = Rules(**{rule: wrong})  # type: ignore[arg-type]
    assert TRACES.notice(lambda process, rows: brute.tables(process, broken) == rows)


def test_the_right_rules_agree_on_the_same_traces() -> None:
    for process, rows in TRACES.pairs(AGREEING):
        assert brute.tables(process) == rows
