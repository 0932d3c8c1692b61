"""Measures the cost of one recorded operation on this machine, in this interpreter."""

import shutil
import tempfile
import time

from rlscope.native import runtime

# 5 x 2,000 pairs take 2 ms and fit the first ring, so that no drainer is waited for; the cheapest
# round is the one without a disturbance.
_ROUNDS = 5
_PAIRS = 2_000


def can_measure() -> bool:
    """False in a process that is itself recorded: rls-prof under rls-prof."""
    return runtime.state() == "off"


def operation_cost_ns() -> float:
    """CPU nanoseconds that entering and leaving one operation adds to a program.

    The `with` statement itself is counted too: without annotations it would not be there.
    Records into a directory of its own, which is removed.

    Raises:
        OSError: nothing can be recorded on this machine.
    """
    directory = tempfile.mkdtemp(prefix="rlscope-cost-")
    try:
        runtime.profile_begin(directory)
        try:
            recorded = min(_pairs_ns() for _ in range(_ROUNDS))
        finally:
            runtime.profile_end()
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    return max(0, recorded - min(_empty_ns() for _ in range(_ROUNDS))) / _PAIRS


def _pairs_ns() -> int:
    operation = runtime.operation("cost")
    start = time.thread_time_ns()
    for _ in range(_PAIRS):
        with operation:
            pass
    return time.thread_time_ns() - start


def _empty_ns() -> int:
    start = time.thread_time_ns()
    for _ in range(_PAIRS):
        pass
    return time.thread_time_ns() - start
