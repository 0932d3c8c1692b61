"""The price of recording: events of each kind by the cost of that kind."""

from __future__ import annotations

from typing import Any

from rlscope.closing import Price
from rlscope.report import bookkeeping, sentences

COUNTS = {
    "operation_events": 1_000,
    "automatic_events": 20,
    "native_events": 2_000_000,
    "cuda_events": 0,
}
COSTS = {"operation_cost_ns": 11.0, "automatic_cost_ns": 20.0, "native_cost_ns": 6.5}


def test_each_kind_has_its_own_cost() -> None:
    assert bookkeeping.cost_ns({**COUNTS, **COSTS}) == 1_000 * 11 + 20 * 20 + 2_000_000 * 6.5


def test_a_run_of_native_calls_only_is_not_priced_with_the_cost_of_operations() -> None:
    counts = {**dict.fromkeys(COUNTS, 0), "native_events": 10}
    assert bookkeeping.cost_ns({**counts, **COSTS, "operation_cost_ns": 1e9}) == 65
    assert bookkeeping.events({**counts, **COSTS}) == "10 native calls of 6 ns"


def test_kinds_without_a_known_cost_are_said_apart() -> None:
    facts: dict[str, Any] = {**COUNTS, **COSTS, "native_cost_ns": None, "cuda_events": 1}
    assert bookkeeping.cost_ns(facts) == 1_000 * 11 + 20 * 20
    assert bookkeeping.events(facts) == (
        "1,000 operations of 11 ns, 20 automatic events of 20 ns, "
        "not counted 2,000,000 native calls, not counted 1 CUDA call"
    )


def test_a_trace_without_costs_has_no_price() -> None:
    assert not bookkeeping.is_priced({**COUNTS, **dict.fromkeys(COSTS)})
    assert not bookkeeping.is_priced({**dict.fromkeys(COUNTS, 0), **COSTS})
    assert bookkeeping.is_priced({**COUNTS, **COSTS})


def test_the_closing_line_and_the_report_say_one_share() -> None:
    facts = {**COUNTS, **COSTS}
    line = Price(facts, program_cpu_ns=1_000_000_000, drainer_cpu_ns=2_000_000).describe()
    assert line == (
        "bookkeeping took 1.3 % of the program's CPU time (1,000 operations of 11 ns, "
        "20 automatic events of 20 ns, 2,000,000 native calls of 6 ns, measured in a loop, "
        "where they cost least, "
        "in 1.00 s); the drainer took 0.2 % beside it (2.00 ms)"
    )
    known = {**facts, "cpu_ns": 10**9, "profiler_cpu_ns": 0, "drainer_cpu_ns": 2e6}
    assert sentences.bookkeeping(known)[0] == (
        "Bookkeeping took 1.3 % of the program's CPU time: 1,000 operations of 11 ns, "
        "20 automatic events of 20 ns, 2,000,000 native calls of 6 ns, measured in a loop, "
        "where they cost least. "
        "The drainer took 0.2 % beside it."
    )
