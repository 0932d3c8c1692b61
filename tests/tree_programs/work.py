"""What each worker of a process tree does: operations, counted in a file that outlives it."""

from __future__ import annotations

import os
import signal
from functools import cache
from pathlib import Path

import rlscope as rls

OPERATION = "work"
WORKERS = 3
# Parts in which a worker that is asked for its work step by step does it.
STEPS = 20
_FEWEST = 500
# The worker that is killed does so many before.
_KILLED_AFTER = 300


def operations(worker: int, *, kill: bool) -> int:
    """How many a worker has in its life: each another number, so that none can stand for another.

    `kill`: the first worker does not live to its end.
    """
    return _KILLED_AFTER if kill and worker == 0 else _FEWEST + STEPS * worker


def run(worker: int, *, kill: bool) -> None:
    """All operations of a worker; the one to be killed is."""
    this_process().run(operations(worker, kill=kill))
    if kill and worker == 0:
        os.kill(os.getpid(), signal.SIGKILL)


class Steps:
    """The same in STEPS parts."""

    def __init__(self, worker: int, *, kill: bool) -> None:
        self._each = operations(worker, kill=kill) // STEPS
        self._killed = kill and worker == 0
        self._done = 0

    def run_one(self) -> None:
        this_process().run(self._each)
        self._done += 1
        if self._killed and self._done == STEPS:
            os.kill(os.getpid(), signal.SIGKILL)


class Counted:
    """The operations of this process. Its file holds its parent, how many began, how many ended."""

    def __init__(self) -> None:
        path = Path(os.environ["TREE_COUNTS"]) / str(os.getpid())
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        self._begun = self._ended = 0
        self._write()

    def run(self, count: int) -> None:
        for _ in range(count):
            self._begun += 1
            self._write()
            with rls.operation(OPERATION):
                pass
            self._ended += 1
            self._write()

    def _write(self) -> None:
        text = f"{os.getppid():12d} {self._begun:12d} {self._ended:12d}\n"
        os.pwrite(self._file, text.encode(), 0)


def this_process() -> Counted:
    return _counted(os.getpid())


@cache
def _counted(_pid: int) -> Counted:
    return Counted()
