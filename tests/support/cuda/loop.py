"""A training loop of CUDA calls for the simulated CUDA, whose callbacks and activity records take a
known time."""

from __future__ import annotations

from support.cuda.simcuda_runs import DECLARATIONS

# An iteration makes so many calls, of which so many leave activity records: the launches, and the
# synchronisation at its end.
QUERIES, LAUNCHES = 10, 5
CALLS_MADE, SUBMITTED = QUERIES + LAUNCHES + 1, LAUNCHES + 1

LOOP = f"""
import rlscope as rls

def spin(ns):
    end = time.thread_time_ns() + ns
    while time.thread_time_ns() < end:
        pass

def train(iterations):
    function, done = kernel("policy_step"), event()
    for _ in range(iterations):
        rls.iteration()
        with rls.operation("work"):
            spin(300_000)
            for _ in range({QUERIES}):
                check(cuda.cuEventQuery(done))
            for _ in range({LAUNCHES}):
                launch(function)
            check(cuda.cuCtxSynchronize())
"""
BEGIN = "check(cuda.cuInit(0))\nprimary()\n"


def program(iterations: int) -> str:
    """The whole program as text."""
    return f"{DECLARATIONS}{LOOP}{BEGIN}train({iterations})\n"


def costs(callback_ns: int, activity_ns: int) -> dict[str, str]:
    """Variables of the simulated CUDA: CPU time of a callback, of which each call has two, and of
    an activity record."""
    return {
        "SIMCUPTI_CALLBACK_NS": str(callback_ns),
        "SIMCUPTI_ACTIVITY_NS": str(activity_ns),
        "SIMCUDA_KERNEL_DURATION": "1us",
    }
