"""Programs whose cost of recording is known, what they measured of it themselves, and the command
line of rlscope."""

from __future__ import annotations

import sys
from pathlib import Path

from rlscope.opening import load

# The program writes by itself what recording added to the CPU time of an iteration, in percent: one
# line a run. Other programs on the machine change that number as much as what rlscope measures.
OWN_MEASURE = """
import atexit, time
from rlscope.recorder import runtime

class Spent:
    def __init__(self):
        self.iterations, self.ns = 0, 0

spent = {None: Spent(), False: Spent(), True: Spent()}  # None: before the first iteration
before_ns, was_recorded = 0, None

def measure():
    global before_ns, was_recorded
    now_ns = time.process_time_ns()
    spent[was_recorded].iterations += 1
    spent[was_recorded].ns += now_ns - before_ns
    before_ns, was_recorded = now_ns, runtime.is_recording()

def write_measure():
    bare, recorded = spent[False], spent[True]
    if bare.iterations and recorded.iterations:
        ratio = recorded.ns / recorded.iterations * bare.iterations / bare.ns
        with open("measured", "a") as file:
            print(100 * (ratio - 1), file=file)

atexit.register(write_measure)
"""

# An iteration spins so much CPU time, and a part more of it while it is recorded.
KNOWN = (
    OWN_MEASURE
    + """
import sys, time
import rlscope as rls
from rlscope.recorder import runtime

def spin(ns):
    end = time.thread_time_ns() + ns
    while time.thread_time_ns() < end:
        pass

for _ in range(int(sys.argv[2])):
    rls.iteration()
    measure()
    with rls.operation("work"):
        for _ in range(100):
            with rls.operation("work"):
                pass
        spin(1_000_000)
        if runtime.is_recording():
            spin(int(1_000_000 * float(sys.argv[1])))
"""
)


def own_measures(folder: Path) -> list[float]:
    """What each run of a program with OWN_MEASURE in this folder found, in percent."""
    return [float(line) for line in (folder / "measured").read_text().splitlines()]


def counted_loop(library: str) -> str:
    """A program that counts its recorded iterations: each is one annotated operation with two
    native calls. `library`: the extension `sample`."""
    return f"""
import sys
sys.path.insert(0, {str(Path(library).parent)!r})
import rlscope as rls
from rlscope.recorder import runtime
rls.layer("simulator", module="sample")
import sample
thing = sample.Thing(3)
seen = 0
for number in range(400):
    rls.iteration()
    seen += runtime.is_recording()
    with rls.operation("work"):
        sample.noargs(); thing[1]
        sum(range(20_000))
runtime.hold(True)
with open("seen", "w") as file:
    print(seen, runtime.intercept_counts()["passed_through"], file=file)
"""


def check_counted(folder: Path) -> int:
    """Its trace, folder/run, has the recorded iterations and no other, and those that were not
    recorded passed no stub. Returns how many were recorded."""
    seen, passed = map(int, (folder / "seen").read_text().split())
    assert 0 < seen < 400
    assert passed == 0
    with load(folder / "run") as trace:
        (row,) = trace.sql("SELECT operation_events, native_events FROM process").to_dicts()
    assert row == {"operation_events": seen, "native_events": 2 * seen}
    return seen


def rlscope(verb: str, *arguments: str) -> list[str]:
    """The command of a verb."""
    return [sys.executable, "-m", "rlscope", verb, *arguments]


_QUICK = """
import sys
from rlscope.calibration import runs_in_turns
from rlscope.commands import main
assert runs_in_turns._LOOK_SECONDS == 2.0
runs_in_turns._LOOK_SECONDS = 0.25
sys.exit(main())
"""


def in_turns(verb: str, *arguments: str) -> list[str]:
    """The command of a verb whose programs record iterations in turns. It looks each quarter of a
    second whether what a run says is precise enough: a user's run may go on for two."""
    return [sys.executable, "-c", _QUICK, verb, *arguments]


def script(folder: Path, text: str) -> str:
    """Path of a program with this text."""
    path = folder / "train.py"
    path.write_text(text)
    return str(path)
