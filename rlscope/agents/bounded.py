"""Runs a command for some seconds at most, and no longer than who started it lives.

    python -m rlscope.agents.bounded SECONDS COMMAND...

Its stdin is a pipe that the other process holds: the end of the pipe ends the command, too. The
command gets SIGTERM, which rls-prof hands on; whatever is left of its session is then killed.
Exits as the command does; with 124, as timeout(1) does, where the time was over.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress

TIME_OVER = 124
_GRACE_S = 20.0  # rls-prof writes what is recorded
_LOOK_S = 0.05


def run(seconds: float, command: Sequence[str]) -> int:
    """The exit code."""
    program = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True)
    try:
        if not _is_ended_by(program, time.monotonic() + seconds):
            _stop(program)
            return TIME_OVER
        return program.returncode if program.returncode >= 0 else 128 - program.returncode
    finally:
        with suppress(ProcessLookupError):  # nothing is left
            os.killpg(program.pid, signal.SIGKILL)


def _is_ended_by(program: subprocess.Popen[bytes], deadline: float) -> bool:
    while program.poll() is None:
        if time.monotonic() > deadline:
            return False
        readable, _, _ = select.select([sys.stdin.fileno()], [], [], _LOOK_S)
        if readable and not os.read(sys.stdin.fileno(), 1):
            return False
    return True


def _stop(program: subprocess.Popen[bytes]) -> None:
    program.terminate()
    with suppress(subprocess.TimeoutExpired):
        program.wait(_GRACE_S)


if __name__ == "__main__":
    sys.exit(run(float(sys.argv[1]), sys.argv[2:]))
