"""Programs with many lines that are busy for times that they take themselves, and what a trace says
of these lines.

Each line is measured by its own stopwatch: a reading of the clock on the line before, and one on
the line after. What a line calls lies in a package, so its time is the line's `own_ns`.
"""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from pathlib import Path

import rlscope as rls

PACKAGE = "busy_package"
HELPERS = '''\
"""Work of a known length, of several kinds."""

import hashlib
from time import perf_counter, sleep

_DATA = bytes(1 << 16)
_CALLS = 50


def spin(seconds):
    end = perf_counter() + seconds
    while perf_counter() < end:
        pass


def native(seconds):
    end = perf_counter() + seconds
    while perf_counter() < end:
        hashlib.sha256(_DATA)


def one():
    return 1


def calls(seconds):
    end = perf_counter() + seconds
    while perf_counter() < end:
        for _ in range(_CALLS):
            one()


def outer(seconds):
    middle(seconds / 2)
    middle(seconds / 2)


def middle(seconds):
    spin(seconds)


def recurse(depth, seconds):
    if depth:
        recurse(depth - 1, seconds)
    else:
        spin(seconds)


def pause(seconds):
    sleep(seconds)
'''

_CALL = """\
def work_{n}():
    begin = clock()
    {line}  # line {n}
    times[{n}] += clock() - begin
"""
_WORK = {
    "spin": "spin({seconds})",
    "native": "native({seconds})",
    "calls": "calls({seconds})",
    "sleep": "pause({seconds})",
    "nested helper": "outer({seconds})",
    "recursion of a helper": "recurse({depth}, {seconds})",
    "comprehension": "[spin(each) for each in ({seconds} / 2, {seconds} / 2)]",
    "lambda": "(lambda: spin({seconds}))()",
}
KINDS = {
    **{kind: _CALL.replace("{line}", line) for kind, line in _WORK.items()},
    "loop of one line": """\
def work_{n}():
    begin = clock()
    end = begin + int({seconds} * 1e9)
    while clock() < end: pass  # line {n}
    times[{n}] += clock() - begin
""",
    "nested": """\
def work_{n}():
    def inner():
        begin = clock()
        spin({seconds})  # line {n}
        times[{n}] += clock() - begin
    inner()
""",
    "recursion": """\
def work_{n}(depth={depth}):
    if depth:
        return work_{n}(depth - 1)
    begin = clock()
    spin({seconds})  # line {n}
    times[{n}] += clock() - begin
""",
    "generator": """\
def generate_{n}():
    while True:
        begin = clock()
        spin({seconds})  # line {n}
        times[{n}] += clock() - begin
        yield
made_{n} = generate_{n}()
def work_{n}():
    next(made_{n})
""",
    "coroutine": """\
async def wait_{n}():
    await asyncio.sleep(0)
    begin = clock()
    spin({seconds})  # line {n}
    times[{n}] += clock() - begin
def work_{n}():
    loop.run_until_complete(wait_{n}())
""",
    "callback": """\
def key_{n}(value):
    begin = clock()
    spin({seconds} / 2)  # line {n}
    times[{n}] += clock() - begin
    return value
def work_{n}():
    sorted([1, 2], key=key_{n})
""",
    "join": """\
def work_{n}():
    thread = threading.Thread(target=pause, args=({seconds},))
    thread.start()
    begin = clock()
    thread.join()  # line {n}
    times[{n}] += clock() - begin
""",
}
"""What each kind of line looks like in its program."""

_PROGRAM = """\
import asyncio
import json
import threading
from time import perf_counter_ns as clock

import rlscope as rls
from {package} import calls, native, outer, pause, recurse, spin

loop = asyncio.new_event_loop()
times = [0] * {count}


{functions}

for _ in range({rounds}):
{round}
loop.close()
print(json.dumps(times))
"""
_ROUND_SECONDS = 0.2
_VISIT_SECONDS = (0.0005, 0.002, 0.008, 0.03)
_DEPTHS = (3, 40, 300)
_SHARED = 3  # so many lines have one operation


@dataclass(frozen=True)
class Busy:
    """A line, by what its own stopwatch and a trace say of it."""

    kind: str
    true_ns: int
    own_ns: int
    low_ns: int
    high_ns: int
    whole_ns: int

    @property
    def share(self) -> float:
        return self.true_ns / self.whole_ns

    @property
    def off(self) -> float:
        """By how much of the whole time the trace is off."""
        return (self.own_ns - self.true_ns) / self.whole_ns

    @property
    def is_inside(self) -> bool:
        """Whether the interval holds the truth."""
        return self.low_ns <= self.true_ns <= self.high_ns


def write_package(folder: Path) -> Path:
    """Writes what the programs call; returns what PYTHONPATH needs."""
    packages = folder / "site-packages"
    packages.mkdir(exist_ok=True)
    (packages / f"{PACKAGE}.py").write_text(HELPERS)
    return packages


def make_program(kinds: list[str], seconds: float, seed: int) -> str:
    """A program of lines of those kinds, of random shares, in random order and in visits of random
    lengths; it runs for about that time and prints the time of each line."""
    chosen = random.Random(seed)
    weights = [chosen.uniform(1, 2.5) for _ in kinds]
    functions, visits = [], []
    for n, kind in enumerate(kinds):
        line_seconds = _ROUND_SECONDS * weights[n] / sum(weights)
        count = max(1, round(line_seconds / chosen.choice(_VISIT_SECONDS)))
        functions.append(
            KINDS[kind].format(n=n, seconds=line_seconds / count, depth=chosen.choice(_DEPTHS))
        )
        visits += [n] * count
    chosen.shuffle(visits)
    order = [f'    with rls.operation("part {n // _SHARED}"): work_{n}()' for n in visits]
    return _PROGRAM.format(
        package=PACKAGE,
        count=len(kinds),
        functions="\n\n".join(functions),
        rounds=round(seconds / _ROUND_SECONDS),
        round="\n".join(order),
    )


def read_lines(directory: str, script: Path, kinds: list[str], printed: str) -> list[Busy]:
    """The lines of such a program, which is recorded there."""
    times: list[int] = json.loads(printed)
    lines = {
        int(text.rpartition("  # line ")[2]): number
        for number, text in enumerate(script.read_text().splitlines(), 1)
        if "  # line " in text
    }
    with rls.load(directory) as trace:
        rows = trace.sql(
            "SELECT line, CAST(SUM(own_ns) AS BIGINT), "
            "SUM(own_ns) - SQRT(SUM(POW(own_ns - own_low_ns, 2))), "
            "SUM(own_ns) + SQRT(SUM(POW(own_high_ns - own_ns, 2))) "
            "FROM source_line WHERE file = $file AND layer <> 'gpu' GROUP BY line",
            {"file": str(script)},
        )
        found = {line: numbers for line, *numbers in rows}
        ((whole_ns,),) = trace.sql("SELECT CAST(SUM(duration_ns) AS BIGINT) FROM breakdown")
    return [
        Busy(kind, times[n], *map(int, found.get(lines[n], (0, 0, 0))), whole_ns)
        for n, kind in enumerate(kinds)
    ]
