"""`python -m rlscope.survey.started_by PID ARGUMENTS...`: `rlscope ARGUMENTS...`, until PID ends.

The kernel sends this process a SIGTERM when the survey that started it is gone, also by SIGKILL;
rls-prof hands that on to its program.
"""

from __future__ import annotations

import ctypes
import os
import runpy
import signal
import sys

_PR_SET_PDEATHSIG = 1


def _end_with(parent: int) -> None:
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(signal.SIGTERM), 0, 0, 0)
    if os.getppid() != parent:  # it was gone before
        sys.exit(128 + signal.SIGTERM)


if __name__ == "__main__":
    _end_with(int(sys.argv[1]))
    del sys.argv[1]
    runpy.run_module("rlscope", run_name="__main__")
