"""Behaviours at the edges of windows that the comparison with the twins once found wrong."""

from __future__ import annotations

from ground_truth.raw import (
    Item,
    RawProcess,
    RawThread,
    enter,
    iteration,
    phase,
    window_start,
    window_stop,
)
from ground_truth.relations import Iteration, Phase
from ground_truth.swept import sweep


def process(*items: Item) -> RawProcess:
    return RawProcess(end_ns=10, threads=[RawThread(items=items)])


def test_an_iteration_of_an_earlier_window_does_not_reach_the_end_of_the_process() -> None:
    rows = sweep(
        process(iteration(1), window_stop(3), window_start(5), enter(10, "last")),
    )
    assert [row.iteration for row in rows["operation_instance"]] == [-1]


def test_an_iteration_recorded_just_before_a_start_at_its_time_is_in_the_window() -> None:
    rows = sweep(process(iteration(4), window_start(4), enter(5, "act")))
    assert rows["iteration"] == [Iteration(0, 4, 6, False, False, "explicit")]
    assert [row.iteration for row in rows["operation_instance"]] == [0]


def test_a_phase_recorded_just_before_a_stop_at_its_time_is_not_in_the_window() -> None:
    rows = sweep(process(phase(2, "collect"), phase(4, "learn"), window_stop(4)))
    assert rows["phase"] == [Phase("collect", 2, 2)]
