"""A program that is busy in lines for times that it takes itself, and the check of its lines."""

from __future__ import annotations

import json
import math
from pathlib import Path

import rlscope as rls

STOPWATCHES = """\
import contextlib
import json
import time

times = {}


@contextlib.contextmanager
def timed(line):
    begin = time.perf_counter_ns()
    yield
    times[line] = times.get(line, 0) + time.perf_counter_ns() - begin


def spin(seconds):
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass
"""

KNOWN = f"""\
import asyncio
import hashlib
{STOPWATCHES}
import rlscope as rls

DATA = bytes(4_000_000)


def nested():
    inner()  # nested


def inner():
    spin(0.01)  # inner


def recurse(depth):
    if depth:
        recurse(depth - 1)
    else:
        spin(0.01)  # recursion


def generate():
    while True:
        spin(0.01)  # generator
        yield


async def wait():
    await asyncio.sleep(0)
    spin(0.01)  # coroutine


class Key:
    def __lt__(self, other):
        spin(0.01)  # callback
        return False


made = {{}}
exec(compile("def run(spin):\\n    spin(0.01)\\n", __file__ + ".made", "exec"), made)
generator = generate()
for _ in range(40):
    with rls.operation("work"):
        with timed("nested"):
            nested()
        with timed("recursion"):
            recurse(5)
        with timed("generator"):
            next(generator)
        with timed("coroutine"):
            asyncio.run(wait())
        with timed("callback"):
            sorted([Key(), Key()])
        with timed("made"):
            made["run"](spin)
        with timed("sleep"):
            time.sleep(0.01)  # sleep
        with timed("native"):
            hashlib.sha256(DATA)  # native
print(json.dumps(times))
"""


def line_of(program: str, mark: str) -> int:
    """The number of the line that ends with that comment."""
    (line,) = (
        number
        for number, text in enumerate(program.splitlines(), 1)
        if text.endswith(f"  # {mark}")
    )
    return line


def check_lines(directory: str, script: Path, printed: str) -> None:
    """Compares the lines of KNOWN, recorded there, with what it printed."""
    times = json.loads(printed)
    with rls.load(directory) as trace:
        rows = trace.sql(
            "SELECT file, line, SUM(total_ns), SUM(own_ns) FROM source_line GROUP BY file, line"
        )
        lines = {(file, line): (total, own) for file, line, total, own in rows}
        ((readings,),) = trace.sql("SELECT SUM(readings) FROM stack_time")
        ((whole_ns,),) = trace.sql("SELECT SUM(duration_ns) FROM breakdown")
        ((sum_ns,),) = trace.sql("SELECT SUM(self_ns) FROM stack_time")
    assert sum_ns == whole_ns
    for mark, expected_ns in times.items():
        found = lines.get(
            (f"{script}.made", 2) if mark == "made" else (str(script), line_of(KNOWN, mark)),
            (0, 0),
        )
        share = expected_ns / whole_ns
        # Five standard deviations, and what lies between the stopwatch and the line.
        most_off = 5 * math.sqrt(share * (1 - share) / readings) + 0.01
        assert abs(found[0] / whole_ns - share) < most_off, (mark, found, expected_ns)
    sleeps = lines[str(script), line_of(KNOWN, "sleep")]
    assert sleeps[0] == sleeps[1]  # no other line of the program's own is inside
    inner, nested = (lines[str(script), line_of(KNOWN, mark)] for mark in ("inner", "nested"))
    assert inner[0] == nested[0]
    assert inner[1] == nested[1] == 0 or inner[1] < inner[0] / 10
