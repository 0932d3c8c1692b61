"""The cost of a record from made-up probes whose cost is known."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from rlscope.costs.probe_costs import (
    KINDS,
    ProbeCost,
    ProbeSamples,
    mean_probe_ns,
    probe_costs,
    wait_cost,
)

Values = NDArray[np.float64]
NONE: Values = np.empty(0)


def samples(
    recorded: Values, plain: Values, empty: Values = NONE, inside: Values = NONE,
    wait: Values = NONE, kind: str = "native_call",
) -> ProbeSamples:  # fmt: skip
    """Samples of one kind only, and of waits."""
    none = dict.fromkeys(KINDS, NONE)
    waits = {"wait": wait, "short_wait": wait / 10}
    return ProbeSamples(
        {**none, kind: recorded}, {**none, kind: plain}, empty, {**none, kind: inside}, waits
    )


def cost_of(
    recorded: Values, plain: Values, hot_ns: float | None = None, empty: Values = NONE,
    inside: Values = NONE, kind: str = "native_call",
) -> ProbeCost:  # fmt: skip
    probes = samples(recorded, plain, empty, inside, kind=kind)
    return probe_costs(probes, {kind: hot_ns})[kind]


def durations(random: np.random.Generator, count: int, mean_ns: float) -> Values:
    """Caches are warm or cold, and one in a thousand is preempted."""
    cold = random.lognormal(3.0, 0.8, count)
    preempted = np.where(random.random(count) < 0.001, random.pareto(1.1, count) * 1e5, 0)
    return mean_ns + cold + preempted


@pytest.mark.parametrize("count", [100, 1_000, 20_000])
def test_the_interval_holds_the_true_cost_as_often_as_it_says(count: int) -> None:
    true_ns, held = 40.0, 0
    for seed in range(200):
        random = np.random.default_rng(seed)
        cost = cost_of(durations(random, count, 70), durations(random, count, 70 - true_ns))
        assert cost.low_ns <= cost.mean_ns <= cost.high_ns
        held += cost.low_ns <= true_ns <= cost.high_ns
    assert held >= 180


def test_more_samples_give_a_narrower_interval() -> None:
    random = np.random.default_rng(1)
    few = cost_of(durations(random, 200, 70), durations(random, 200, 30))
    many = cost_of(durations(random, 50_000, 70), durations(random, 50_000, 30))
    assert many.high_ns - many.low_ns < (few.high_ns - few.low_ns) / 4


def test_preemptions_do_not_move_the_mean() -> None:
    random = np.random.default_rng(2)
    recorded, plain = durations(random, 5_000, 70), durations(random, 5_000, 30)
    quiet = cost_of(recorded, plain)
    recorded[:20] = 4e6
    assert abs(cost_of(recorded, plain).mean_ns - quiet.mean_ns) < 2


def test_a_preemption_is_no_time_of_a_probe() -> None:
    recorded, plain = np.full(1_000, 70.0), np.full(1_000, 30.0)
    recorded[0] = 1.4e9
    assert mean_probe_ns(samples(recorded, plain)) == pytest.approx(50)
    assert mean_probe_ns(samples(np.full(1, 70.0), NONE)) == 70
    assert mean_probe_ns(samples(NONE, NONE)) is None


def test_a_disturbed_loop_does_not_outweigh_probes() -> None:
    random = np.random.default_rng(5)
    recorded, plain = durations(random, 1_000, 70), durations(random, 1_000, 30)
    probed = cost_of(recorded, plain).mean_ns
    for hot_ns in (0.01, 0.3, 6.0):
        assert cost_of(recorded, plain, hot_ns=hot_ns).mean_ns == pytest.approx(probed, rel=0.15)


def test_a_cost_below_zero_stays_there() -> None:
    random = np.random.default_rng(3)
    cost = cost_of(30 + random.random(1_000), 50 + random.random(1_000))
    assert cost.high_ns < -19
    assert cost.mean_ns == pytest.approx(-20, abs=0.1)


def test_without_probes_the_hot_loop_stands_for_the_program_within_wide_bounds() -> None:
    cost = cost_of(NONE, NONE, hot_ns=6.0)
    assert (cost.low_ns, cost.high_ns, cost.samples) == (6.0, 120.0, 0)
    assert 6.0 < cost.mean_ns < 120.0


def test_a_loop_that_was_disturbed_says_nothing() -> None:
    """The difference of two loops is cut at zero: recording is never free."""
    random = np.random.default_rng(5)
    recorded, plain = durations(random, 1_000, 70), durations(random, 1_000, 30)
    assert cost_of(recorded, plain, hot_ns=0.0) == cost_of(recorded, plain)
    assert probe_costs(samples(NONE, NONE), {"native_call": 0.0}) == {}


def test_a_handful_of_probes_is_none() -> None:
    assert cost_of(np.full(5, 70.0), np.full(500, 30.0), hot_ns=6.0).samples == 0


def test_nothing_is_known_without_probes_and_loop() -> None:
    assert probe_costs(samples(NONE, NONE), {"native_call": None}) == {}


def test_few_probes_lean_on_the_hot_loop_and_many_do_not() -> None:
    def mean(count: int, hot_ns: float | None) -> float:
        random = np.random.default_rng(5)
        recorded, plain = random.normal(500, 400, count), random.normal(300, 400, count)
        return cost_of(recorded, plain, hot_ns).mean_ns

    alone, prior = mean(20, None), cost_of(NONE, NONE, 6.0).mean_ns
    assert min(alone, prior) < mean(20, 6.0) < max(alone, prior)
    assert mean(50_000, 6.0) == pytest.approx(mean(50_000, None), rel=0.02)


def test_a_coarse_clock_leaves_an_uncertainty() -> None:
    cost = cost_of(np.full(100, 30.0), np.full(100, 20.0))
    assert cost.mean_ns == 10
    assert cost.low_ns < 9.6 and cost.high_ns > 10.4


def test_the_inside_share_comes_from_the_calls_own_records() -> None:
    random = np.random.default_rng(6)

    def near(value: float) -> Values:
        return value + random.normal(0, 0.5, 2_000)

    # A body of 10 ns around readings of 15; a record adds 40, of which 16 inside.
    cost = cost_of(near(65), near(25), None, empty=near(15), inside=near(26))
    assert cost.inside_share == pytest.approx(0.4, abs=0.02)


def test_half_of_a_with_that_records_nothing_lies_inside() -> None:
    recorded, plain, empty = (np.full(100, ns) for ns in (1_070.0, 70.0, 20.0))
    cost = cost_of(recorded, plain, empty=empty, inside=np.full(100, 525.0), kind="annotation")
    assert cost.inside_share == 0.5


@pytest.mark.parametrize("kind", KINDS)
def test_the_inside_share_is_a_constant_where_it_is_not_measured(kind: str) -> None:
    assert cost_of(np.full(100, 60.0), np.full(100, 20.0), kind=kind).inside_share == 0.3


def test_a_wait_says_itself_what_its_record_took() -> None:
    random = np.random.default_rng(7)
    cost = wait_cost(durations(random, 2_000, 500))
    assert cost is not None
    assert cost.mean_ns == pytest.approx(521, abs=3)
    assert cost.mean_ns - 5 < cost.low_ns < cost.mean_ns < cost.high_ns < cost.mean_ns + 5
    assert (cost.samples, cost.inside_share) == (2_000, 0.0)
    assert mean_probe_ns(samples(NONE, NONE, wait=np.full(100, 500.0))) is None
    assert wait_cost(np.full(7, 500.0)) is None


def test_probes_of_processes_are_joined() -> None:
    one = samples(np.full(10, 60.0), np.full(10, 20.0), np.full(3, 9.0), np.full(4, 30.0))
    both = ProbeSamples.joined([one, one])
    assert [len(both.recorded[kind]) for kind in KINDS] == [20, 0]
    assert (len(both.empty), len(both.inside["native_call"])) == (6, 8)
    assert len(ProbeSamples.joined([]).empty) == 0


_values = st.lists(st.floats(0, 1e9), max_size=40).map(lambda values: np.array(values, np.float64))


@settings(max_examples=60, deadline=None)
@given(_values, _values, st.none() | st.floats(0, 1_000))
def test_any_samples_have_an_ordered_interval(
    recorded: Values, plain: Values, hot_ns: float | None
) -> None:
    found = probe_costs(samples(recorded, plain), {"native_call": hot_ns})
    for cost in found.values():
        numbers = (cost.low_ns, cost.mean_ns, cost.high_ns)
        assert np.all(np.isfinite(numbers))
        assert cost.low_ns <= cost.mean_ns + 1e-6 * abs(cost.mean_ns)
        assert cost.mean_ns <= cost.high_ns + 1e-6 * abs(cost.high_ns)
        assert 0 <= cost.inside_share <= 1
    assert bool(found) == (bool(hot_ns) or min(len(recorded), len(plain)) >= 8)
