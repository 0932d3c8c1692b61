"""The price of recording: events of each kind by the cost of that kind."""

from __future__ import annotations

from typing import Any

from support.files.facts import assert_says

from rlscope.report import bookkeeping, sentences
from rlscope.report.closing import Price

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
        "2,000,000 native calls not counted, 1 CUDA call not counted"
    )


def test_the_closing_line_and_the_report_name_the_same_records() -> None:
    facts = {**COUNTS, **COSTS}
    line = Price(facts, program_cpu_ns=1_000_000_000, drainer_cpu_ns=2_000_000).describe()
    assert_says(
        line,
        *("1.3 % of the program's CPU time", "1,000 operations of 11 ns"),
        *("20 automatic events of 20 ns", "2,000,000 native calls of 6 ns", "in a loop", "1.00 s"),
        *("drainer", "0.2 %", "2.00 ms"),
    )
    known = {**SPAN, **facts, "cpu_ns": 10**9, "profiler_cpu_ns": 0, "drainer_cpu_ns": 2e6}
    assert_says(
        sentences.bookkeeping(known)[0],
        *("1,000 operations", "20 automatic events", "2,000,000 native calls", "drainer", "0.2 %"),
    )


SPAN = {
    "looping_processes": 1,
    "span_ns": 10 * 10**9,
    "corrected_ns": None,
    "corrected_low_ns": None,
    "corrected_high_ns": None,
    "cost_method": None,
    "cuda_cost_method": None,
    "unknown_costs": None,
}
CORRECTED = {
    **SPAN,
    "corrected_ns": 9.91e9,
    "corrected_low_ns": 9.82e9,
    "corrected_high_ns": 9.95e9,
    "cost_method": "a loop",
}


def test_overhead_is_said_with_its_interval() -> None:
    (said,) = sentences.overhead(CORRECTED)
    share = ("0.9 % of the training loop (0.5 % to 1.8 %)",)
    assert_says(said, *share, "9.91 s (9.82 s to 9.95 s)", "10.0 s", "comes from a loop")
    assert "cannot tell" not in said
    assert sentences.overhead(SPAN) == []


def test_a_time_that_is_the_same_in_three_digits_is_said_once() -> None:
    same = {f"corrected{end}_ns": CORRECTED["span_ns"] - 1 for end in ("", "_low", "_high")}
    (said,) = sentences.overhead({**CORRECTED, **same})
    assert "about as long" in said
    assert "10.0 s" not in said


def test_overhead_that_may_be_none_is_less_than_the_run_can_tell() -> None:
    (said,) = sentences.overhead({**CORRECTED, "corrected_high_ns": 10.1e9})
    assert "(-1.0 % to 1.8 %), which this run cannot tell from nothing" in said


def test_records_of_unknown_cost_are_named() -> None:
    (said,) = sentences.overhead({**CORRECTED, "unknown_costs": "CUDA call"})
    assert said.endswith("unknown costs: CUDA call.")


def test_it_is_said_where_the_cost_of_cuda_calls_comes_from() -> None:
    (said,) = sentences.overhead({**CORRECTED, "cost_method": None})
    assert "None" not in said and "comes from" not in said
    (said,) = sentences.overhead({**CORRECTED, "cuda_cost_method": "an H100"})
    assert_says(said[said.index("The cost of most") :], "a loop", "CUDA calls", "an H100")
    (said,) = sentences.overhead({**CORRECTED, "cuda_cost_method": "a loop"})
    assert "CUDA" not in said
