"""The statistics of a comparison: on numbers by hand, against a bootstrap that draws, and by
simulation of runs whose truth is known."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.random import Generator, default_rng

from rlscope import student
from rlscope.analysis import difference_verdicts
from rlscope.analysis.difference_verdicts import Gated, Verdict
from rlscope.compare import differences, readings
from rlscope.compare.readings import BLOCKS, STEPS, Reading

DOUBT = difference_verdicts.LOOP_DOUBT


@pytest.mark.parametrize(
    ("chance", "freedom", "t"),
    [(0.975, 1, 12.706), (0.975, 2, 4.303), (0.995, 4, 4.604), (0.999, 18, 3.610), (0.5, 3, 0)],
)
def test_the_quantile_of_student_is_that_of_tables(chance: float, freedom: int, t: float) -> None:
    assert student.quantile(chance, freedom) == pytest.approx(t, abs=0.001)
    assert student.quantile(1 - chance, freedom) == pytest.approx(-t, abs=0.001)
    assert student.below(t, freedom) == pytest.approx(chance, abs=0.0001)


@pytest.mark.parametrize(("chance", "freedom"), [(0.0, 3), (1.0, 3), (0.9, 0)])
def test_there_is_no_quantile_of_nothing(chance: float, freedom: int) -> None:
    with pytest.raises(ValueError):
        student.quantile(chance, freedom)


def correlated(generator: Generator, *shape: int, spread: float = 0.1) -> np.ndarray:
    """Lengths around 100, along the last axis each correlated with the one before by 0.8."""
    noise = generator.normal(size=shape) * spread * 0.6
    for place in range(1, shape[-1]):
        noise[..., place] += 0.8 * noise[..., place - 1]
    return 100 * np.exp(noise)


def test_correlated_iterations_say_less_than_as_many_independent_ones() -> None:
    generator = default_rng(0)
    series = correlated(generator, 400)
    mixed = generator.permutation(series)
    known, independent = (readings.of_series(each) for each in (series, mixed))
    assert known.value == pytest.approx(independent.value)
    assert known.error2 is not None and independent.error2 is not None
    assert known.error2 > 2 * independent.error2


def test_the_error_of_a_mean_is_that_of_many_such_runs() -> None:
    generator = default_rng(1)
    found = [readings.of_series(each) for each in correlated(generator, 200, 400)]
    true2 = np.log([each.value for each in found]).var()
    assert 0.8 * true2 < np.mean([each.error2 or 0 for each in found]) < 3 * true2


def histogram(lengths: np.ndarray) -> dict[tuple[int, int], int]:
    found: dict[tuple[int, int], int] = {}
    for block, part in enumerate(np.array_split(lengths, BLOCKS)):
        for step in np.floor(STEPS * np.log(part)).astype(int):
            found[block, int(step)] = found.get((block, int(step)), 0) + 1
    return found


def test_a_usual_entry_is_the_lower_quartile_of_all() -> None:
    lengths = default_rng(2).lognormal(9, 0.3, 4000)
    reading = readings.of_entries(histogram(lengths), per_iteration=20)
    assert reading.value == pytest.approx(20 * np.quantile(lengths, 0.25), rel=0.005)


def test_what_disturbs_half_of_the_entries_does_not_make_a_usual_one_longer() -> None:
    generator = default_rng(3)
    lengths = generator.lognormal(9, 0.05, 4000)
    disturbed = np.where(generator.random(4000) < 0.5, lengths * 3, lengths)
    alone, busy = (
        readings.of_entries(histogram(each), per_iteration=1).value for each in (lengths, disturbed)
    )
    assert busy == pytest.approx(alone, rel=0.05)
    assert disturbed.mean() > 1.8 * lengths.mean()


def test_the_error_of_a_usual_entry_is_that_of_many_such_runs() -> None:
    generator = default_rng(4)
    found = [
        readings.of_entries(histogram(each), per_iteration=1)
        for each in correlated(generator, 100, 1000)
    ]
    true2 = np.log([each.value for each in found]).var()
    assert 0.7 * true2 < np.mean([each.error2 or 0 for each in found]) < 3 * true2


def test_a_machine_that_drifts_is_seen_in_the_quarters() -> None:
    steady, drifting = np.full(80, 100.0), 100 * (1 + np.arange(80) / 80)
    assert readings.of_series(steady).drift2 == 0
    found = readings.of_series(drifting).drift2
    assert found is not None and 0.1 < math.sqrt(2 * found) < 0.25


@pytest.mark.parametrize("iterations", [1, 2, 7])
def test_a_short_run_says_nothing_of_drift(iterations: int) -> None:
    found = readings.of_series([100.0] * iterations)
    assert (found.value, found.drift2) == (100.0, None)
    assert (found.error2 is None) == (iterations == 1)


def test_no_iterations_and_no_entries_have_no_number() -> None:
    with pytest.raises(ValueError, match="no iterations"):
        readings.of_series([])
    with pytest.raises(ValueError, match="no entries"):
        readings.of_entries({}, per_iteration=1)


def side(*values: float, error: float = 0.0, drift: float | None = 0.0) -> list[Reading]:
    drift2 = None if drift is None else drift**2
    return [Reading(each, error**2, drift2) for each in values]


def test_the_same_numbers_have_no_difference() -> None:
    found = differences.compare(side(100, 101, 99), side(100, 101, 99), doubt=DOUBT)
    assert found.change == pytest.approx(0)
    assert found.verdict == Verdict.NO_CLEAR_DIFFERENCE
    assert found.low < 0 < found.high < found.could_tell


def test_slower_and_faster_say_the_same() -> None:
    base, new = side(100, 101, 99, 100), side(120, 121, 119, 120)
    slower = differences.compare(base, new, doubt=DOUBT)
    faster = differences.compare(new, base, doubt=DOUBT)
    assert (slower.verdict, faster.verdict) == (Verdict.SLOWER, Verdict.FASTER)
    assert (
        slower.change == pytest.approx(1 / (1 + faster.change) - 1) == pytest.approx(0.2, abs=0.01)
    )
    assert slower.low == pytest.approx(1 / (1 + faster.high) - 1)


def test_one_run_each_differs_by_what_the_drift_explains() -> None:
    steady = differences.compare(side(100), side(140), doubt=DOUBT)
    drifting = differences.compare(side(100, drift=0.1), side(140, drift=0.1), doubt=DOUBT)
    assert steady.verdict == Verdict.SLOWER
    assert drifting.verdict == Verdict.NO_CLEAR_DIFFERENCE
    assert drifting.drift is not None and drifting.drift > 0.4


def test_one_run_each_without_drift_tells_nothing() -> None:
    found = differences.compare(side(100, drift=None), side(1000, drift=None), doubt=DOUBT)
    assert found.verdict == Verdict.NO_CLEAR_DIFFERENCE
    assert math.isinf(found.could_tell)
    assert found.runs_to_tell(0.03) is None


def test_runs_that_differ_count_although_their_iterations_do_not() -> None:
    alike = differences.compare(side(100, 100, 100), side(103, 103, 103), doubt=DOUBT)
    apart = differences.compare(side(80, 100, 120), side(83, 103, 123), doubt=DOUBT)
    assert alike.reach < apart.reach / 3


def test_the_error_is_that_of_a_hierarchical_bootstrap_that_draws() -> None:
    """Runs are drawn, and blocks in each. The variance of that is too small by (runs - 1) / runs,
    and counts the inside of runs, which is little here, a second time."""
    generator = default_rng(5)
    runs = 12
    factors = generator.lognormal(0, 0.1, (2, runs, 1))
    sides = correlated(generator, 2, runs, 200) * factors
    found = differences.compare(
        *([readings.of_series(each) for each in of_side] for of_side in sides), doubt=DOUBT
    )
    blocks = sides.reshape(2, runs, 10, 20)
    drawn = [trimmed(np.log(resampled(generator, each)), 2) for each in blocks]
    by_drawing = (drawn[1] - drawn[0]).std() * math.sqrt(runs / (runs - 1))
    assert found.error == pytest.approx(by_drawing, rel=0.2)


def trimmed(values: np.ndarray, out: int) -> np.ndarray:
    return np.sort(values, axis=1)[:, out:-out].mean(axis=1)


def resampled(generator: Generator, blocks: np.ndarray, times: int = 2000) -> np.ndarray:
    """Means of drawn runs, of drawn blocks: times x runs."""
    runs, count, _ = blocks.shape
    means = blocks.mean(axis=2)
    chosen = generator.integers(runs, size=(times, runs))
    parts = generator.integers(count, size=(times, runs, count))
    return means[chosen[:, :, None], parts].mean(axis=2)


def test_a_run_that_was_disturbed_as_a_whole_does_not_hide_a_slow_down() -> None:
    base, new = side(100, 101, 99, 100, 101), side(110, 111, 109, 110, 160)
    found = differences.compare(base, new, doubt=DOUBT)
    assert found.verdict == Verdict.SLOWER
    assert found.change == pytest.approx(0.1, abs=0.01)


def test_more_runs_are_needed_where_fewer_cannot_tell() -> None:
    found = differences.compare(side(95, 100, 105), side(95, 100, 105), doubt=DOUBT)
    more = found.runs_to_tell(0.03)
    assert more is not None and more > 3
    fewer = found.runs_to_tell(0.2)
    assert fewer is not None and fewer < more


@pytest.mark.parametrize(("base", "new"), [([], [1.0]), ([1.0], []), ([0.0], [1.0])])
def test_nothing_is_compared_with_nothing(base: list[float], new: list[float]) -> None:
    with pytest.raises(ValueError):
        differences.compare(side(*base), side(*new), doubt=DOUBT)


@pytest.mark.parametrize(
    ("runs", "fewest"), [(1, 0.99), (2, 0.96), (3, 0.96), (5, 0.97), (10, 0.97)]
)
def test_intervals_cover_the_truth_as_often_as_they_say(runs: int, fewest: float) -> None:
    """Runs differ by 1 % and by their correlated iterations; the interval is one of 99 %."""
    generator = default_rng(runs)
    held = 0
    for of_pair in correlated(generator, 200, 2, runs, 100):
        base, new = (
            [readings.of_series(each * generator.lognormal(0, 0.01)) for each in of_side]
            for of_side in of_pair
        )
        found = differences.compare(base, new, doubt=DOUBT)
        held += found.low <= 0 <= found.high
    assert held / 200 >= fewest


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (0.001, 0.1, Verdict.SLOWER),
        (0.0, 0.1, Verdict.NO_CLEAR_DIFFERENCE),
        (-0.1, 0.0, Verdict.NO_CLEAR_DIFFERENCE),
        (-0.1, -0.001, Verdict.FASTER),
    ],
)
def test_an_interval_that_holds_0_tells_no_difference(
    low: float, high: float, verdict: Verdict
) -> None:
    assert difference_verdicts.of_interval(low, high) == verdict


@pytest.mark.parametrize(
    ("change", "reach", "outcome"),
    [
        (0.05, 0.01, Gated.FAILS),
        (0.05, 0.045, Gated.FAILS),
        (0.05, 0.06, Gated.CANNOT_TELL),
        (0.03, 0.029, Gated.FAILS),
        (0.029, 0.029, Gated.PASSES),
        (0.029, 0.04, Gated.CANNOT_TELL),
        (0.0, 0.029, Gated.PASSES),
        (0.0, 0.031, Gated.CANNOT_TELL),
        (-0.1, 0.12, Gated.PASSES),
    ],
)
def test_a_gate_of_3_percent(change: float, reach: float, outcome: Gated) -> None:
    found = difference_verdicts.of_gate(change, change - reach, change + reach, reach, 0.03)
    assert found == outcome
