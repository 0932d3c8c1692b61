"""The cost of records leaves the breakdowns: where it lies, to the nanosecond, not below zero."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlscope.costs import record_costs
from rlscope.costs.probe_costs import ProbeSamples
from rlscope.costs.record_costs import Cost
from rlscope.relations.rows.correction import CLAMPED, Corrected, added_up, correct

PLACE = ("operation", "layer", "gpu_busy")
Rows = dict[tuple[str, str, bool], int]
Records = dict[tuple[str, str, bool, str], tuple[int, int]]
X = "X"


def cost(kind: str, mean_ns: float, *, inside: float = 1.0, width: float = 0.0) -> Cost:
    return Cost(kind, mean_ns, mean_ns - width, mean_ns + width, inside, 1, "given")


def corrected(rows: Rows, records: Records, *costs: Cost) -> Corrected:
    times = columns((*PLACE, "duration_ns", "count"), [(*p, ns, 1) for p, ns in rows.items()])
    made = columns((*PLACE, "kind", "inside", "outside"), [(*p, *n) for p, n in records.items()])
    by_kind = {each.kind: each for each in costs}
    return correct(times, made, by_kind, place=PLACE, no_layer="none")


def columns(names: tuple[str, ...], rows: list[tuple[Any, ...]]) -> dict[str, list[Any]]:
    return {name: [row[i] for row in rows] for i, name in enumerate(names)}


def times(found: Corrected, name: str = "corrected_ns") -> Rows:
    places = zip(*(found.columns[each] for each in PLACE), strict=True)
    return dict(zip(places, found.columns[name], strict=True))


def test_overhead_of_python_leaves() -> None:
    """D1 of the acceptance cases."""
    rows = {(X, "python", False): 10}
    found = corrected(rows, {(X, "python", False, "operation"): (1, 0)}, cost("operation", 1))
    assert times(found) == {(X, "python", False): 9}
    assert times(found, "overhead_ns") == {(X, "python", False): 1}


D2 = {
    (X, "framework", False): 3,
    (X, "framework", True): 3,
    (X, "cuda_api", False): 3,
    (X, "cuda_api", True): 1,
}
D2_RECORDS = {
    (X, "cuda_api", False, "cupti"): (1, 0),
    (X, "framework", True, "callback"): (0, 1),
}


def test_overhead_beside_the_gpu_becomes_time_of_the_gpu_alone() -> None:
    """D2: a CUDA call whose overhead lies half before the kernel that it launched, half beside."""
    found = corrected(D2, D2_RECORDS, cost("cupti", 1), cost("callback", 1, inside=0))
    assert times(found) == {
        (X, "framework", False): 3,
        (X, "framework", True): 2,
        (X, "cuda_api", False): 2,
        (X, "cuda_api", True): 1,
        (X, "none", True): 1,
    }
    assert sum(times(found).values()) == 9
    assert sum(ns for (_, _, busy), ns in times(found).items() if busy) == 4


def test_overhead_of_nothing_changes_nothing() -> None:
    """D3."""
    found = corrected(D2, D2_RECORDS, cost("cupti", 0), cost("callback", 0))
    assert {place: ns for place, ns in times(found).items() if ns} == D2


def test_time_outside_operations_without_records_stays() -> None:
    """D4."""
    rows = {("(none)", "python", False): 4}
    found = corrected(rows, {}, cost("operation", 1))
    assert times(found) == rows
    assert times(found, "overhead_ns") == {("(none)", "python", False): 0}


def test_a_record_costs_inside_and_outside_of_what_it_tells() -> None:
    rows = {(X, "framework", False): 1000, (X, "python", False): 1000}
    records = {
        (X, "framework", False, "native call"): (10, 0),
        (X, "python", False, "native call"): (0, 10),
    }
    found = corrected(rows, records, cost("native call", 20, inside=0.25))
    assert times(found, "overhead_ns") == {
        (X, "framework", False): 50,
        (X, "python", False): 150,
    }


def test_the_record_of_a_wait_makes_no_wait_longer() -> None:
    rows = {(X, "wait", False): 1000, (X, "python", False): 1000}
    records = {(X, "wait", False, "wait"): (10, 0), (X, "python", False, "wait"): (0, 10)}
    found = corrected(rows, records, cost("wait", 20, inside=0.25))
    assert times(found, "overhead_ns") == {(X, "wait", False): 0, (X, "python", False): 150}


def test_what_a_row_has_no_time_for_is_counted() -> None:
    rows = {(X, "python", False): 10}
    records = {(X, "python", False, "operation"): (15, 0), (X, "wait", False, "operation"): (2, 0)}
    found = corrected(rows, records, cost("operation", 1))
    assert times(found) == {(X, "python", False): 0}
    by_kind = added_up(found.overhead, ["kind"])
    assert by_kind["kind"] == ["operation", CLAMPED]
    assert by_kind["overhead_ns"] == [17, -7]


def test_a_negative_estimate_is_shown_as_such() -> None:
    rows = {(X, "python", False): 10}
    found = corrected(rows, {(X, "python", False, "operation"): (3, 0)}, cost("operation", -1))
    assert times(found) == {(X, "python", False): 13}
    assert times(found, "overhead_ns") == {(X, "python", False): -3}


def test_records_of_unknown_cost_are_counted_and_not_corrected() -> None:
    rows = {(X, "cuda_api", False): 10}
    found = corrected(rows, {(X, "cuda_api", False, "CUDA call"): (3, 0)})
    assert times(found) == rows
    assert (found.overhead["count"], found.overhead["overhead_ns"]) == ([3], [None])


places = st.tuples(
    st.sampled_from("ab"), st.sampled_from(("none", "wait", "python", "cuda_api")), st.booleans()
)
kinds = st.sampled_from(("operation", "native call", "wait"))


@given(
    st.dictionaries(places, st.integers(0, 500)),
    st.dictionaries(
        st.tuples(places, kinds).map(lambda pair: (*pair[0], pair[1])),
        st.tuples(st.integers(0, 9), st.integers(0, 9)),
    ),
    st.lists(st.floats(0, 40), min_size=3, max_size=3),
    st.floats(0, 1),
)
def test_corrected_time_adds_up(
    rows: Rows, records: Records, means: list[float], inside: float
) -> None:
    costs = [
        cost(kind, mean, inside=inside, width=mean)
        for kind, mean in zip(("operation", "native call", "wait"), means, strict=True)
    ]
    found = corrected(rows, records, *costs)
    raw, overhead = times(found, "duration_ns"), times(found, "overhead_ns")
    mean, low, high = (times(found, f"corrected{end}_ns") for end in ("", "_low", "_high"))
    assert {place: ns for place, ns in raw.items() if place in rows} == rows
    assert all(0 <= low[place] for place in raw)
    left = {place: ns for place, ns in overhead.items() if not place[2]}
    for of_time in (mean, low, high):
        busy = [sum(ns for p, ns in each.items() if p[2]) for each in (raw, of_time)]
        assert busy[0] == busy[1], "time of the GPU never moves"
    assert sum(mean.values()) == sum(raw.values()) - sum(left.values())
    assert sum(low.values()) <= sum(mean.values()) <= sum(high.values()) <= sum(raw.values())
    assert sum(overhead.values()) == sum(found.overhead["overhead_ns"])


def probes(**durations: float) -> ProbeSamples:
    """A thousand of each, spread over a nanosecond; none without durations."""
    spread = np.linspace(-0.5, 0.5, 1000)
    none = np.empty(0)
    of = {name: duration + spread for name, duration in durations.items()}
    return ProbeSamples(
        {"native_call": of.get("call", none), "annotation": of.get("operation", none)},
        {"native_call": of.get("plain", none), "annotation": of.get("idle", none)},
        of.get("empty", none),
        {"native_call": of.get("inside", none), "annotation": none},
        {"wait": of.get("wait", none), "short_wait": of.get("short", none)},
    )


def test_costs_of_loops_are_per_record_and_lower_bounds() -> None:
    costs = record_costs.of_run({"operation_cost_ns": 12.0, "native_cost_ns": 6.0}, probes(), {})
    assert costs["operation"].low_ns == 6.0
    assert costs["native call"].low_ns == 6.0
    assert costs["native call"].low_ns < costs["native call"].mean_ns < costs["native call"].high_ns
    assert costs["wait"].mean_ns == costs["native call"].mean_ns
    assert "automatic event" not in costs
    assert record_costs.of_run({}, probes(), {}) == {}
    too_few = replace(probes(), empty=np.ones(3))
    assert record_costs.of_run({}, too_few, {}) == {}


def test_cuda_calls_have_a_cost_by_a_calibration_only() -> None:
    """Neither probes nor loops see what CUPTI costs."""
    metrics = {"native_cost_ns": 6.0}
    assert "CUDA call" not in record_costs.of_run(metrics, probes(), {})
    calibrated = {"CUDA call": cost("CUDA call", 5.0)}
    both = record_costs.of_run(metrics, probes(), {}, calibrated)
    assert both["CUDA call"] == calibrated["CUDA call"]


def test_in_windows_a_submission_costs_what_a_call_does() -> None:
    calibrated = {kind: cost(kind, ns) for kind, ns in
                  (("operation", 1.0), ("CUDA call", 5.0), ("CUDA submission", 90.0))}  # fmt: skip
    found = record_costs.in_windows(calibrated)
    assert {kind: each.mean_ns for kind, each in found.items()} == {
        "operation": 1.0, "CUDA call": 5.0, "CUDA submission": 5.0
    }  # fmt: skip
    assert record_costs.in_windows({"operation": calibrated["operation"]}).keys() == {"operation"}


def test_probes_of_the_run_come_before_loops() -> None:
    samples = probes(call=70.0, plain=40.0, operation=90.0, idle=50.0, empty=30.0, inside=20.0)
    costs = record_costs.of_run({"native_cost_ns": 6.0, "automatic_cost_ns": 5.0}, samples, {})
    assert costs["native call"].low_ns == pytest.approx(30, abs=0.5)
    assert costs["operation"].low_ns == pytest.approx(20, abs=0.5)
    assert costs["native call"].high_ns == pytest.approx(2.6 * 30, abs=1)
    assert costs["native call"].mean_ns == pytest.approx(30 * math.sqrt(2.6), abs=1)
    assert costs["native call"].inside == pytest.approx(10 / 30, abs=0.02)
    assert costs["automatic event"].method.startswith("a loop")
    assert costs["probe"].mean_ns == pytest.approx((70 + 40 + 90 + 50 + 30) / 5, abs=0.1)


def test_waits_of_the_run_come_before_native_calls() -> None:
    metrics = {"native_cost_ns": 6.0}
    costs = record_costs.of_run(metrics, probes(wait=5_000.0, short=40.0), {})
    assert costs["short wait"].low_ns == pytest.approx(40, abs=1)
    assert costs["wait"].low_ns == pytest.approx(5_000, abs=1)
    assert costs["wait"].mean_ns == pytest.approx(5_000 + 30 * (math.sqrt(20) - 1), abs=1)
    assert costs["wait"].high_ns == pytest.approx(5_000 + 30 * 19, abs=1)
    assert costs["short wait"].high_ns == pytest.approx(40 * 2.6, abs=1)
    assert costs["wait"].at("mean", "outside") == costs["wait"].mean_ns
    assert (costs["wait"].method, costs["wait"].samples) == ("probes in the run", 1_000)
    assert costs["callback"].mean_ns == costs["native call"].mean_ns < 100


def test_records_in_tight_loops_cost_what_the_loop_says() -> None:
    samples = probes(call=70.0, plain=40.0, operation=90.0, idle=50.0)
    tight, apart, mixed = (record_costs.Gaps() for _ in range(3))
    tight.add(1_000_000, [10_000, 1_000])
    apart.add(1_000_000, [1])
    mixed.add(1_000_000_000, [100_000, 1_000])
    assert (tight.cold_share, apart.cold_share) == (0, 1)
    assert mixed.cold_share == pytest.approx(1_000 / 101_000)
    loops = {"native_cost_ns": 6.0, "operation_cost_ns": 8.0, "automatic_cost_ns": 5.0}
    for kind, hot_ns, cold_ns in (
        ("native call", 6, 30 * math.sqrt(2.6)),
        ("operation", 4, 20 * math.sqrt(2.6)),
        ("automatic event", 5, 5 * math.sqrt(20)),
    ):
        means = [
            record_costs.of_run(loops, samples, {kind: gaps})[kind].mean_ns
            for gaps in (tight, mixed, apart)
        ]
        assert means[0] == pytest.approx(hot_ns * math.sqrt(0.1 * 3))
        assert means[2] == pytest.approx(cold_ns, rel=0.1)
        assert means == sorted(means)


def test_of_a_long_record_the_caches_cost_no_more_than_of_a_short_one() -> None:
    """Where reading the clock takes a microsecond, for example."""
    samples = probes(call=2_040.0, plain=40.0)
    cold = record_costs.of_run({}, samples, {})["native call"]
    assert cold.low_ns == pytest.approx(2_000, abs=1)
    assert cold.mean_ns == pytest.approx(2_000 + 60 * (math.sqrt(2.6) - 1), abs=1)
    assert cold.high_ns == pytest.approx(2_000 + 60 * 1.6, abs=1)
    loop = record_costs.of_run({"automatic_cost_ns": 2_000.0}, probes(), {})["automatic event"]
    assert (loop.low_ns, loop.high_ns) == (2_000, 2_000 + 30 * 19)
    assert loop.mean_ns == pytest.approx(2_000 + 30 * (math.sqrt(20) - 1))
    close = record_costs.Gaps()
    close.add(1_000_000, [10_000])
    hot = record_costs.of_run({"native_cost_ns": 2_000.0}, samples, {"native call": close})
    assert hot["native call"].low_ns == 2_000 - 30 * 0.9
    assert hot["native call"].high_ns == 2_000 + 30 * 2


def test_a_cost_that_probes_cannot_tell_from_nothing_has_it_in_its_interval() -> None:
    samples = probes(call=40.0, plain=40.0)
    cost = record_costs.of_run({}, samples, {})["native call"]
    assert cost.low_ns < 0 < cost.high_ns


def test_a_loop_that_took_no_longer_with_records_says_nothing() -> None:
    """It was disturbed: no record is free."""
    metrics = {"operation_cost_ns": 0.0, "automatic_cost_ns": 0.0, "native_cost_ns": 0.0}
    assert record_costs.of_run(metrics, probes(), {}) == {}
    samples = probes(call=70.0, plain=40.0, operation=90.0, idle=50.0)
    gaps = {"native call": record_costs.Gaps(records=10, cold=2.0)}
    assert record_costs.of_run(metrics, samples, gaps) == record_costs.of_run({}, samples, gaps)


@pytest.mark.parametrize("end", ["mean", "low", "high"])
def test_the_sides_of_a_cost_add_up(end: str) -> None:
    made = cost("native call", 20, inside=0.25, width=4)
    whole = {"mean": 20, "low": 16, "high": 24}[end]
    assert made.at(end, "inside") + made.at(end, "outside") == whole
