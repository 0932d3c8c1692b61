"""Prices: intervals of sums, differences and parts."""

from __future__ import annotations

import math

import pytest

from rlscope.analysis import prices
from rlscope.analysis.prices import Price


def test_the_sum_over_iterations_has_the_interval_of_a_mean():
    row = {"iterations": 20, "mean_ns": 100.0, "deviation_ns": 10.0}
    price = prices.of_spread(row)
    assert price.saving_ns == 2000
    # Student's t of 19 degrees, 2.093, times the standard error of a sum of 20.
    assert price.high_ns - price.saving_ns == pytest.approx(2.093 * 10 * math.sqrt(20), rel=0.001)
    assert price.saving_ns - price.low_ns == pytest.approx(price.high_ns - price.saving_ns)


@pytest.mark.parametrize(
    ("degrees", "quantile"), [(2, 4.303), (4, 2.776), (9, 2.262), (30, 2.042), (1000, 1.962)]
)
def test_the_quantile_is_that_of_student(degrees, quantile):
    row = {"iterations": degrees + 1, "mean_ns": 0.0, "deviation_ns": 1.0}
    half = prices.of_spread(row).high_ns / math.sqrt(degrees + 1)
    assert half == pytest.approx(quantile, rel=0.05 if degrees < 4 else 0.005)


@pytest.mark.parametrize("iterations", [None, 0, 1, 2])
def test_of_a_few_iterations_nothing_is_sure(iterations):
    price = prices.of_spread({"iterations": iterations, "mean_ns": 100.0, "deviation_ns": 0.0})
    assert price.low_ns == 0


def test_a_difference_is_as_unsure_as_both_together():
    price = Price(100, 70, 140).less(Price(40, 30, 80))
    assert (price.saving_ns, price.low_ns, price.high_ns) == (
        60,
        60 - math.hypot(30, 40),
        60 + math.hypot(40, 10),
    )


def test_a_sum_is_as_unsure_as_both_together():
    price = Price(100, 70, 140).plus(Price(40, 0, 70))
    assert (price.saving_ns, price.low_ns, price.high_ns) == (140, 90, 190)


def test_a_part_has_the_ends_of_both_intervals():
    assert Price(100, 80, 120).part(0.25, 0.5, 0.75) == Price(50, 20, 90)


def test_a_price_ends_at_what_there_is():
    assert Price(100, 80, 120).within(90) == Price(90, 80, 90)


def test_the_rest_of_a_loop_gets_quicker_the_more_of_it_goes():
    price = Price(50, 40, 60).with_rest(100)
    grown = 50 + 50 * 0.6 * (0.5 - 0.3), 60 + 40 * 0.6**1.5
    assert (price.low_ns, price.saving_ns, price.high_ns) == pytest.approx((40, *grown))
    assert Price(30, 10, 100).with_rest(100) == Price(30, 10, 100)
    assert Price(-2, -3, 100).with_rest(100) == Price(-2, -3, 100)
