"""Whole runs of a program in turns, with recording and without: for programs without iterations.

runs = WholeRuns(settings, say)
with runs.pair() as pair:
    pair.recorded_ns - pair.bare_ns    # what recording added, start and exit included
"""

from __future__ import annotations

import contextlib
import os
import random
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass

from rlscope.calibration.runs_in_turns import RunError, Say, folder_of_run, recorded_run
from rlscope.record.settings import Settings


@dataclass(frozen=True)
class Pair:
    """One run of each, while the trace is there."""

    directory: str
    """The trace."""
    recorded_ns: int
    bare_ns: int
    """CPU time of the program and of its children that it waited for, with recording and
    without."""
    control: float | None
    """What the run without takes more than that of the pair before, as a part of it; None: it is
    the first."""


class WholeRuns:
    """Pairs of runs, each in random order."""

    def __init__(self, settings: Settings, say: Say) -> None:
        self._settings = settings
        self._say = say
        self._choose = random.Random(0)
        self._last_ns: int | None = None

    @contextlib.contextmanager
    def pair(self) -> Iterator[Pair]:
        """Both runs. Raises RunError: the program failed."""
        first = self._choose.random() < 0.5
        before_ns = self._bare_ns() if first else None
        with folder_of_run() as folder:
            outcome = recorded_run(self._settings, os.path.join(folder, "trace"), self._say)
            if outcome.ending.status:
                raise RunError(outcome.ending.describe())
            bare_ns = self._bare_ns() if before_ns is None else before_ns
            control = None if self._last_ns is None else bare_ns / self._last_ns - 1
            self._last_ns = bare_ns
            yield Pair(outcome.directory, outcome.ending.cpu_ns, bare_ns, control)

    def _bare_ns(self) -> int:
        with subprocess.Popen(self._settings.command) as process:
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        if status:
            raise RunError(f"the program failed without recording, with status {status}")
        return round((used.ru_utime + used.ru_stime) * 1e9)
