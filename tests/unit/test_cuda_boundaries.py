"""Which recorded boundaries of CUDA calls the comparison with the truth lets pass."""

from __future__ import annotations

import pytest
from cuda_boundaries import Row, check_boundaries

CALLS = 2_000


def made(calls: int = CALLS) -> tuple[dict[int, Row], dict[int, Row]]:
    """Recorded and true calls, 3 us apart, each reading 50 ns from the next."""
    recorded, truth = {}, {}
    for i in range(calls):
        at = 10_000 * (i + 1)
        recorded[i] = {"start_ns": at, "end_ns": at + 2_000}
        truth[i] = {
            "name": "cuLaunchKernel", "enter_ns": at - 50, "start_ns": at + 50,
            "end_ns": at + 1_950, "exit_ns": at + 2_050, "enter_switched": False,
            "exit_switched": False,
        }  # fmt: skip
    return recorded, truth


def preempt(truth: Row, *, say: bool) -> None:
    """The thread loses the CPU for 4 ms right after the recorder's reading at a call's begin."""
    for key in ("start_ns", "end_ns", "exit_ns"):
        truth[key] += 4_000_000
    truth["enter_switched"] = say


def test_boundaries_between_the_readings_pass() -> None:
    check_boundaries(*made())


@pytest.mark.parametrize("side", ["start_ns", "end_ns"])
@pytest.mark.parametrize("shift_ns", [-1_100, 1_100])
def test_one_boundary_outside_of_its_readings_fails(side: str, shift_ns: int) -> None:
    recorded, truth = made()
    recorded[CALLS // 2][side] += shift_ns
    with pytest.raises(AssertionError):
        check_boundaries(recorded, truth)


def test_threads_that_the_kernel_says_were_off_the_cpu_are_excused() -> None:
    recorded, truth = made()
    for i in range(0, CALLS, 3):
        preempt(truth[i], say=True)
        recorded[i]["end_ns"] += 4_000_000
    check_boundaries(recorded, truth)


@pytest.mark.parametrize("late, passes", [(7, True), (8, False)])
def test_what_nothing_explains_is_one_in_a_thousand_and_three(late: int, passes: bool) -> None:
    recorded, truth = made()
    for i in range(10, 10 + late):
        preempt(truth[i], say=False)
        recorded[i]["end_ns"] += 4_000_000
    if passes:
        return check_boundaries(recorded, truth)
    with pytest.raises(AssertionError):
        check_boundaries(recorded, truth)


def test_a_boundary_outside_fails_though_the_thread_was_preempted() -> None:
    recorded, truth = made()
    preempt(truth[7], say=True)
    recorded[7]["start_ns"] -= 1_100
    with pytest.raises(AssertionError):
        check_boundaries(recorded, truth)


def test_what_is_late_more_often_than_not_fails_though_it_is_excused_each_time() -> None:
    recorded, truth = made()
    for i in range(CALLS):
        if i % 5:
            preempt(truth[i], say=True)
            recorded[i]["end_ns"] += 4_000_000
    with pytest.raises(AssertionError):
        check_boundaries(recorded, truth)
