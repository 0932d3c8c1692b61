"""A program whose cost of recording is known, and the command line of rlscope."""

from __future__ import annotations

import sys
from pathlib import Path

# An iteration spins so much CPU time, and a part more of it while it is recorded.
KNOWN = """
import sys, time
import rlscope as rls
from rlscope.native import runtime

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


def rlscope(verb: str, *arguments: str) -> list[str]:
    """The command of a verb."""
    return [sys.executable, "-m", "rlscope.commands", verb, *arguments]


def script(folder: Path, text: str) -> str:
    """Path of a program with this text."""
    path = folder / "train.py"
    path.write_text(text)
    return str(path)
