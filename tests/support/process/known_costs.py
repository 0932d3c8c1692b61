"""A program whose cost of recording is known, and the command line of rlscope."""

from __future__ import annotations

import sys
from pathlib import Path

from rlscope.opening import load

# An iteration spins so much CPU time, and a part more of it while it is recorded.
KNOWN = """
import sys, time
import rlscope as rls
from rlscope.recorder import runtime

def spin(ns):
    end = time.thread_time_ns() + ns
    while time.thread_time_ns() < end:
        pass

for _ in range(int(sys.argv[2])):
    rls.iteration()
    with rls.operation("work"):
        for _ in range(100):
            with rls.operation("work"):
                pass
        spin(1_000_000)
        if runtime.is_recording():
            spin(int(1_000_000 * float(sys.argv[1])))
"""


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
    return [sys.executable, "-m", "rlscope.commands", verb, *arguments]


def script(folder: Path, text: str) -> str:
    """Path of a program with this text."""
    path = folder / "train.py"
    path.write_text(text)
    return str(path)
