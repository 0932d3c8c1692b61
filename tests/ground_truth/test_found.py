"""What long searches found: cases in which the sweep and its twins once disagreed."""

from __future__ import annotations

import pytest

from ground_truth import brute, sql_twin
from ground_truth.compare import first_difference
from ground_truth.raw import (
    Auto,
    Item,
    RawProcess,
    RawThread,
    call,
    call_begin,
    compiled,
    enter,
    gap,
    iteration,
    leave,
    segment,
    task,
    window_start,
)
from ground_truth.relations import RELATIONS
from ground_truth.swept import sweep


def process(items: list[Item], missing: tuple[int, int] | None = None) -> RawProcess:
    return RawProcess(end_ns=60, threads=(RawThread(items=items, missing=missing),))


CASES = {
    # The reader ignores the task of what is not recorded, so the exit is not the innermost of one.
    "a task that ran before the first window": process(
        [task(0, 1), window_start(1), enter(1, "train"), task(1, 1), leave(1, "train")]
    ),
    # A gap closes everything: behind it the header of a chunk still says all that is open.
    "an exit in a task behind a gap": process(
        [
            gap(0, 1),
            enter(0, "train"),
            enter(0, "train"),
            task(0, 1),
            leave(0, "train"),
            enter(0, "train"),
        ],
        missing=(0, 5),
    ),
    # It is entered when the compiled function is left, so the other thread's operation is older.
    "a rule's operation behind a compiled function of its name": RawProcess(
        end_ns=60,
        threads=(
            RawThread(items=[]),
            RawThread(items=[compiled(0, "simulation"), segment(4, Auto.SIMULATION)], main=False),
            RawThread(items=[enter(2, "train")], main=False),
        ),
    ),
    # Its start and its end are two times that move, as of a CUDA call.
    "a call that lies wholly inside the one before": process(
        [call(0, 7, "backward"), call(2, 4, "backward")]
    ),
    # The automatic iterations are no longer what a rate divides by, and its own is not complete.
    "rates of a process that has just begun to count iterations": process(
        [
            iteration(0, automatic=True),
            iteration(1, automatic=True),
            call(2, 3, "matmul"),
            iteration(4),
        ]
    ),
    "a gap before the first window": process(
        [gap(0, 1), window_start(1), call_begin(1, "backward")]
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_the_three_agree(case: RawProcess) -> None:
    expected = brute.tables(case)
    found = sweep(case)
    assert first_difference(found, expected, RELATIONS) is None
    by_sql = sql_twin.tables(case)
    assert first_difference(by_sql, expected, by_sql) is None
