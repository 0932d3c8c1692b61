"""RLSCOPE_TEST_DELAY: records that take a known time longer, and how the analysis finds it.

A delay ends at a time of the clock. So it takes that long by the clock on any machine. What another
program does meanwhile is missing in its CPU time, which says that nothing else takes longer.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

import pytest
from support.process.traced_python import TracedPython, untraced_environment

from rlscope.opening import load

DELAY_NS = 20_000
RECORDS = 500

PROGRAM = """
import sys, time
sys.path.insert(0, sys.argv[1])
import rlscope as rls
rls.layer("simulator", module="sample")
import sample

def operation():
    with work:
        pass

def native_call():
    sample.noargs()

def both():
    with work:
        sample.noargs()

def wait():
    time.sleep(1e-5)

work = rls.operation("work")
turn = dict(operation=operation, native_call=native_call, both=both, wait=wait)[sys.argv[2]]

def spent_ns():
    start = time.thread_time_ns()
    for _ in range(int(sys.argv[3])):
        turn()
    return time.thread_time_ns() - start

spent_ns()
start = time.monotonic_ns()
recorded = spent_ns()
by_clock = time.monotonic_ns() - start
rls.stop()
stopped = spent_ns()
rls.start()
with open("spent", "w") as file:
    print(by_clock, recorded, stopped, file=file)
"""


class Spent(NamedTuple):
    """Time of all turns."""

    by_clock_ns: int
    """While the program records; the others are CPU time."""
    recorded_ns: int
    stopped_ns: int


def run(
    traced: TracedPython,
    folder: Path,
    library: str,
    turn: str,
    delay: str,
    *options: str,
    turns: int = RECORDS,
) -> Spent:
    """So many turns while the program records, and while it does not."""
    path = folder / "program.py"
    path.write_text(PROGRAM)
    result = traced.run(
        *options,
        "-o",
        str(folder / "run"),
        traced.python,
        str(path),
        os.path.dirname(library),
        turn,
        str(turns),
        cwd=folder,
        env={**untraced_environment(), "RLSCOPE_TEST_DELAY": delay},
    )
    assert result.returncode == 0, result.stderr
    return Spent(*map(int, (folder / "spent").read_text().split()))


@pytest.mark.parametrize(
    ("turn", "delay", "records"),
    [
        ("operation", f"operation={DELAY_NS}", 2),
        ("native_call", f"native call={DELAY_NS}", 1),
        ("native_call", f"native call inside={DELAY_NS}", 1),
        ("wait", f"wait={DELAY_NS}", 1),
        ("both", f"operation={DELAY_NS},native call={2 * DELAY_NS}", 4),
    ],
)
def test_a_record_takes_longer_by_the_delay_and_nothing_else_does(
    traced: TracedPython, tmp_path: Path, library: str, turn: str, delay: str, records: int
) -> None:
    spent = run(traced, tmp_path, library, turn, delay, "--no-probes")
    assert spent.by_clock_ns >= records * DELAY_NS * RECORDS
    assert spent.recorded_ns - spent.stopped_ns >= records * DELAY_NS * RECORDS / 2


@pytest.mark.parametrize(
    "delay",
    ["", "operation", "operation=", f"operation={DELAY_NS}x", f"={DELAY_NS}", f"all={DELAY_NS}"],
)
def test_a_delay_that_is_no_delay_is_passed_over(
    traced: TracedPython, tmp_path: Path, library: str, delay: str
) -> None:
    spent = run(traced, tmp_path, library, "both", delay)
    assert spent.recorded_ns < RECORDS * DELAY_NS  # a delay of all kinds would be four times that


def test_the_side_of_the_call_on_which_the_delay_lies_is_seen(
    traced: TracedPython, tmp_path: Path, library: str
) -> None:
    for delay in (f"native call={DELAY_NS}", f"native call inside={DELAY_NS}"):
        folder = tmp_path / delay.partition("=")[0]
        folder.mkdir()
        run(traced, folder, library, "native_call", delay, "--no-probes")
        with load(folder / "run") as trace:
            ((inside_ns, calls),) = trace.sql(
                "SELECT CAST(SUM(duration_ns) AS BIGINT), CAST(SUM(calls) AS BIGINT)"
                " FROM native_call WHERE function LIKE '%noargs'"
            )
        assert calls == 2 * RECORDS
        if "inside" in delay:
            assert inside_ns >= 0.9 * calls * DELAY_NS  # but the first ones, which are prepared
        else:
            assert inside_ns < 0.5 * calls * DELAY_NS


@pytest.mark.parametrize(
    ("turn", "kind"), [("operation", "operation"), ("both", "native call"), ("both", "operation")]
)
def test_the_costs_of_a_run_have_the_delay(
    traced: TracedPython, tmp_path: Path, library: str, turn: str, kind: str
) -> None:
    """By probes, or by the loop at the end, whichever the run has."""
    run(traced, tmp_path, library, turn, f"{kind}={DELAY_NS}", turns=4 * RECORDS)
    with load(tmp_path / "run") as trace:
        ((mean_ns, low_ns, high_ns),) = trace.sql(
            f"SELECT mean_ns, low_ns, high_ns FROM calibration WHERE kind = '{kind}'"
        )
    assert low_ns <= mean_ns <= high_ns
    assert mean_ns > 0.9 * DELAY_NS
    assert high_ns > DELAY_NS
