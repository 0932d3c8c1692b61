"""A program that blocks in C for a time that it measures, in an operation and between them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.process.traced_python import TracedPython

import rlscope as rls

pytestmark = pytest.mark.usefixtures("clean_environment")

# ctypes gives up the GIL and calls usleep: the interpreter waits for nothing.
_PROGRAM = """
import ctypes, json, time
import rlscope as rls

usleep = ctypes.CDLL(None).usleep
slept = {"simulation": 0, "backprop": 0, "(none)": 0}

def sleep(where, us):
    begin = time.monotonic_ns()
    usleep(us)
    slept[where] += time.monotonic_ns() - begin

def work(ns):
    end = time.thread_time_ns() + ns
    while time.thread_time_ns() < end:
        pass

for _ in range(120):
    with rls.operation("simulation"):
        sleep("simulation", 9_000)
        work(1_000_000)
    with rls.operation("backprop"):
        work(4_000_000)
    sleep("(none)", 5_000)
print(json.dumps(slept))
"""


def test_what_no_call_of_the_interpreter_shows_is_found_where_it_lies(
    traced: TracedPython, directory: str, tmp_path: Path
) -> None:
    slept = json.loads(traced.record(directory, tmp_path / "program.py", _PROGRAM))
    rows = rls.load(directory).sql(
        "SELECT operation, SUM(blocked_low_ns) AS low, SUM(blocked_ns) AS ns,"
        " SUM(blocked_high_ns) AS high FROM blocked WHERE stage = 'loop' AND layer = 'python'"
        " GROUP BY operation"
    )
    found = {operation: (low, ns, high) for operation, low, ns, high in rows}
    for operation, least_ns in (("simulation", 120 * 9_000_000), ("(none)", 119 * 5_000_000)):
        low, _, high = found[operation]
        assert 0.8 * low <= slept[operation], operation
        assert 1.2 * high >= least_ns, operation
    assert found["backprop"][1] < found["simulation"][1] / 4
