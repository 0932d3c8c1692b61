"""For programs that use torch.distributed with gloo, and end as a process usually does.

A thread of gloo drops what the last work held when it comes to it. PyTorch ends the process with
SIGABRT where that is while the interpreter ends, so a busy machine would fail a test: it takes the
GIL, and CPython 3.11 ends such a thread (https://github.com/pytorch/pytorch/issues/190489).
"""

from __future__ import annotations

import glob
import time


def wait_until_idle() -> None:
    """Returns once these threads have slept for 0.1 s: who waits for the GIL wakes up often."""
    before, now = None, _states()
    while before != now or any("State:\tS" not in status for status in now):
        time.sleep(0.1)
        before, now = now, _states()


def _states() -> list[str]:
    """State and context switches of each."""
    found = []
    for path in sorted(glob.glob("/proc/self/task/*/status")):
        with open(path, encoding="utf-8") as file:
            status = file.read()
        if "runloop" in status.splitlines()[0]:
            state = status[status.index("State:") :].splitlines()[0]
            found.append(state + status[status.index("voluntary_ctxt_switches:") :])
    return found
