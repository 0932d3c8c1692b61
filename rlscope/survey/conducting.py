"""Runs the matrix: each repetition goes through all cells before the next one begins, so that what
changes on the machine meanwhile changes all cells alike."""

from __future__ import annotations

import json
import os
import shlex
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from rlscope.costs import calibrations
from rlscope.errors import RlscopeError
from rlscope.survey import measuring, requirements, results, running, runs
from rlscope.survey.cells import Cell
from rlscope.survey.results import CellResult, Plan, Results
from rlscope.survey.runs import DiskFull, Run

Say = Callable[[str], None]

# Beside its window a run imports libraries, warms up, and is analysed; only for the time left.
_BESIDE_WINDOW = 15.0
_LEAST_FREE = 16 << 20


@dataclass(frozen=True)
class Progress:
    """How far a survey is."""

    done: int
    whole: int
    doing: str
    seconds_left: float


@dataclass(frozen=True)
class _Task:
    cell: Cell
    repetition: int
    """0: its calibration."""


class Conductor:
    """One survey in one directory."""

    def __init__(self, directory: Path, plan: Plan, cells: Sequence[Cell], say: Say) -> None:
        self._directory = directory
        self._plan = plan
        self._say = say
        self._absent = {cell.name: _absence(cell, quick=plan.quick) for cell in cells}
        self._cells = [cell for cell in cells if not self._absent[cell.name]]
        self._all = list(cells)
        self._seconds: dict[tuple[str, bool], float] = {}

    def prepare(self) -> None:
        """Takes the directory, and says what cannot run here.

        Raises RlscopeError: it holds something else, or cannot be written.
        """
        for why, names in _grouped(self._absent).items():
            self._say(f"left out: {', '.join(names)}: {why}")
        if not self._cells:
            raise RlscopeError("there is no cell that can run here")
        plan = self._directory / results.PLAN
        if not plan.exists() and not _is_empty(self._directory):
            raise RlscopeError(
                f"{self._directory} is not empty and holds no survey: choose another directory"
            )
        runs.write(plan, json.dumps(asdict(self._plan), indent=1) + "\n")

    def run(self, show: Callable[[Progress], None]) -> None:
        """Does what is not done yet.

        Raises DiskFull: there is no room for more; what was done is kept.
        """
        tasks = [*self._calibrations(), *self._repetitions()]
        left = [task for task in tasks if not self._is_done(task)]
        if len(left) < len(tasks):
            self._say(f"{len(tasks) - len(left)} of {len(tasks)} runs are there already")
        for place, task in enumerate(left):

            def tell(place: int = place, task: _Task = task) -> None:
                done = len(tasks) - len(left) + place
                show(Progress(done, len(tasks), _describe(task), self._time_left(left[place:])))

            tell()
            if task.repetition:
                self._record(task, tell)
            else:
                self._calibrate(task, tell)

    def results(self) -> Results:
        """What is there, of this and of earlier surveys of the same cells in the directory."""
        found = []
        for cell in self._all:
            kept = [self._kept(cell, number) for number in range(1, self._plan.repetitions + 1)]
            present = [run for run in kept if run is not None]
            found.append(CellResult(cell, present, "" if present else self._absent[cell.name]))
        return Results(self._plan, found)

    def _calibrations(self) -> Iterator[_Task]:
        """One for each program, whatever its arguments: that is what a calibration is of."""
        seen = set()
        for cell in self._cells if self._plan.calibration else ():
            program = _program(cell)
            if program not in seen:
                seen.add(program)
                yield _Task(cell, 0)

    def _repetitions(self) -> Iterator[_Task]:
        for repetition in range(1, self._plan.repetitions + 1):
            for cell in self._cells:
                yield _Task(cell, repetition)

    def _is_done(self, task: _Task) -> bool:
        if not task.repetition:
            return self._calibrated(task.cell).exists()
        run = self._kept(task.cell, task.repetition)
        return run is not None and not run.error

    def _kept(self, cell: Cell, repetition: int) -> Run | None:
        """A run of the same program with the same window."""
        run = runs.read(self._base(cell, repetition).with_suffix(".json"))
        if run is None or run.command != self._shown_command(cell) or run.window != self._window:
            return None
        return run

    def _record(self, task: _Task, tell: Callable[[], None]) -> None:
        cell, base = task.cell, self._base(task.cell, task.repetition)
        limit = cell.limit or self._plan.limit
        log = base.with_suffix(".log")
        command = running.rlscope_command(
            "prof", "-o", str(base), "--force", "--name", cell.name, *self._options(cell), "--",
            *cell.arguments(),
        )  # fmt: skip
        ended = running.run(command, log, limit, tell)
        run = Run(
            cell.name,
            task.repetition,
            seconds=ended.seconds,
            window=self._window,
            command=self._shown_command(cell),
        )
        if error := _failure(ended, log, limit):
            run = replace(run, error=error)
            self._refuse_full()
        else:
            run = measuring.measure(str(base), cell, run)
        runs.keep(base.with_suffix(".json"), run)
        self._seconds[cell.name, False] = ended.seconds
        self._tell(task, run)

    def _tell(self, task: _Task, run: Run) -> None:
        if run.error:
            self._say(f"{_describe(task)} failed: {run.error}")
            return
        self._say(f"{_describe(task)}: {run.iterations:,} iterations in {run.seconds:.1f} s")

    def _calibrate(self, task: _Task, tell: Callable[[], None]) -> None:
        """A program that cannot be calibrated is corrected by the probes in its own runs."""
        cell, limit = task.cell, self._plan.calibration
        log = self._directory / cell.name / "calibration.log"
        command = running.rlscope_command(
            "calibrate", "--limit", f"{limit:g}", *cell.options, "--", *cell.arguments()
        )
        most = 2 * limit + (cell.limit or self._plan.limit)
        ended = running.run(command, log, most, tell)
        self._seconds[cell.name, True] = ended.seconds
        if error := _failure(ended, log, most):
            self._say(
                f"{_describe(task)} failed, so its own runs say what recording costs: {error}"
            )
            self._refuse_full()
            return
        runs.write(self._calibrated(cell), json.dumps({"command": cell.command}) + "\n")
        self._say(f"{_describe(task)}: {running.last_words(log)}")

    def _refuse_full(self) -> None:
        status = os.statvfs(self._directory)
        if status.f_bavail * status.f_frsize < _LEAST_FREE:
            raise DiskFull(f"the disk of {self._directory} is full")

    def _time_left(self, tasks: Sequence[_Task]) -> float:
        wanted = [(task.cell.name, not task.repetition) for task in tasks]
        return time_left(wanted, self._seconds, self._plan)

    def _options(self, cell: Cell) -> list[str]:
        """Of rls-prof."""
        return [
            "--no-report",
            "--quiet",
            *(["--delay-iterations", str(cell.warmup)] if cell.warmup else []),
            "--exit-after-seconds",
            f"{self._window:g}",
            *cell.options,
        ]

    def _shown_command(self, cell: Cell) -> str:
        """What a user would type for one run, but for where its trace goes."""
        return f"rls-prof {shlex.join(self._options(cell))} -- {cell.command}"

    @property
    def _window(self) -> float:
        return self._plan.window

    def _base(self, cell: Cell, repetition: int) -> Path:
        return self._directory / cell.name / str(repetition)

    def _calibrated(self, cell: Cell) -> Path:
        return self._directory / cell.name / "calibrated.json"


def time_left(
    wanted: Sequence[tuple[str, bool]], known: Mapping[tuple[str, bool], float], plan: Plan
) -> float:
    """Seconds that runs will take: each as long as the one before it of the same cell, or as all
    took that are known, or as the plan says.

    Args:
        wanted: names of cells, and whether it is a calibration.
        known: how long the last one took.
    """
    usual = statistics.fmean(known.values()) if known else plan.window + _BESIDE_WINDOW
    return sum(
        known.get((name, calibrates), plan.calibration if calibrates else usual)
        for name, calibrates in wanted
    )


def _absence(cell: Cell, *, quick: bool) -> str:
    return "--quick has no time for it" if quick and not cell.quick else requirements.absence(cell)


def _is_empty(directory: Path) -> bool:
    """But for the claim of this process, and of those before it."""
    return all(path.name.startswith("claim.") for path in directory.iterdir())


def _describe(task: _Task) -> str:
    if not task.repetition:
        return f"calibrating {task.cell.name}"
    return f"{task.cell.name}, repetition {task.repetition}"


def _failure(ended: running.Ended, log: Path, limit: float) -> str:
    """Why a process did not do what it should; "" where it did."""
    if ended.timed_out:
        return f"it had not ended after {limit:g} s and was killed: see {log}"
    if not ended.status:
        return ""
    said = running.last_words(log)
    how = (
        f"it was killed by signal {-ended.status}"
        if ended.status < 0
        else f"it exited with code {ended.status}"
    )
    return f"{how}: {said}" if said else how


def _program(cell: Cell) -> str:
    subject = calibrations.subject_of(
        {"command": cell.arguments(), "host": {}, "working_directory": os.getcwd()}
    )
    return subject.program if subject is not None else cell.name


def _grouped(absent: dict[str, str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, why in absent.items():
        if why:
            found.setdefault(why, []).append(name)
    return found
