"""How far a survey is: its bar, and the time left."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.files.survey_runs import PLAN

from rlscope.commands.survey import bar
from rlscope.survey.conducting import Progress, time_left


@pytest.mark.parametrize(
    ("done", "seconds", "line"),
    [
        (0, 90.0, "[....................] 0 of 20, about 90 s left: a"),
        (5, 180.0, "[#####...............] 5 of 20, about 3 min left: a"),
        (20, 0.0, "[####################] 20 of 20, about 0 s left: a"),
    ],
)
def test_a_bar_says_how_far_the_survey_is(done: int, seconds: float, line: str) -> None:
    assert bar(Progress(done, 20, "a", seconds)) == line


def test_a_run_takes_as_long_as_the_last_one_of_its_cell() -> None:
    known = {("a", False): 30.0, ("b", False): 10.0}
    assert time_left([("a", False), ("a", False), ("b", False)], known, PLAN) == 70.0
    assert time_left([("c", False)], known, PLAN) == 20.0, "the mean of those that are known"


def test_before_any_run_the_plan_says_how_long_it_takes() -> None:
    plan = replace(PLAN, window=10.0, calibration=180.0)
    assert time_left([("a", True)], {}, plan) == 180.0
    assert time_left([("a", False)], {}, plan) == 25.0
    assert time_left([], {}, plan) == 0.0
