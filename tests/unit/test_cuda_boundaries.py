"""Which recorded boundaries of CUDA calls the comparison with the truth lets pass."""

from __future__ import annotations

import pytest
from support.cuda.boundaries import Row, boundaries, check_boundaries, unexplained

CALLS = 2_000
CALLS_OF_A_THREAD = 5


def made(calls: int = CALLS) -> tuple[dict[int, Row], dict[int, Row]]:
    """Recorded and true calls, 3 us apart, each reading 50 ns from the next."""
    recorded, truth = {}, {}
    for i in range(calls):
        at = 10_000 * (i + 1)
        recorded[i] = {"start_ns": at, "end_ns": at + 2_000}
        truth[i] = {
            "name": "cuLaunchKernel", "enter_ns": at - 50, "start_ns": at + 50,
            "end_ns": at + 1_950, "exit_ns": at + 2_050, "enter_switched": False,
            "exit_switched": False, "tid": i // CALLS_OF_A_THREAD,
        }  # fmt: skip
    return recorded, truth


def delay(recorded: Row, truth: Row, by_ns: int = 4_000_000, *, switched: bool = False) -> None:
    """The thread stands still right after the recorder's reading at a call's begin."""
    for key in ("start_ns", "end_ns", "exit_ns"):
        truth[key] += by_ns
    recorded["end_ns"] += by_ns
    truth["enter_switched"] = switched


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
        delay(recorded[i], truth[i], switched=True)
    check_boundaries(recorded, truth)


@pytest.mark.parametrize(
    ("late", "by_ns", "passes"),
    [(7, 4_000_000, True), (8, 4_000_000, False), (203, 4_000, True), (204, 4_000, False)],
)
def test_what_nothing_explains_is_rare_and_what_caches_explain_is_not_much(
    late: int, by_ns: int, passes: bool
) -> None:
    recorded, truth = made()
    for i in range(10, 10 + late):
        delay(recorded[i], truth[i], by_ns)
    assert len(unexplained(list(boundaries(recorded, truth)))) == late
    if passes:
        return check_boundaries(recorded, truth)
    with pytest.raises(AssertionError):
        check_boundaries(recorded, truth)


def test_a_boundary_outside_fails_though_the_thread_was_preempted() -> None:
    recorded, truth = made()
    delay(recorded[7], truth[7], switched=True)
    recorded[7]["start_ns"] -= 1_100
    with pytest.raises(AssertionError):
        check_boundaries(recorded, truth)


def test_what_is_late_more_often_than_not_fails_though_it_is_excused_each_time() -> None:
    recorded, truth = made()
    for i in range(CALLS):
        if i % CALLS_OF_A_THREAD:
            delay(recorded[i], truth[i], switched=True)
    with pytest.raises(AssertionError):
        check_boundaries(recorded, truth)


def test_a_thread_may_wait_for_its_ring() -> None:
    recorded, truth = made()
    for i in range(0, CALLS, CALLS_OF_A_THREAD):
        truth[i]["name"] = "cuModuleLoadData"
        delay(recorded[i], truth[i], switched=True)
    check_boundaries(recorded, truth)
