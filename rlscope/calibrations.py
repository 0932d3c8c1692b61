"""Calibrations of programs: measured by `rlscope calibrate`, used by the analysis of later runs.

    ~/.local/share/rlscope/calibrations/<program>.json    of a program ($XDG_DATA_HOME)
    DIR/rlscope_calibration.json                          the costs of records for the trace in DIR

A calibration is that of a program, a machine, and the options that say what is recorded.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rlscope import regular_files
from rlscope.errors import RlscopeError
from rlscope.inflation import Combined, Estimate, combined

FILE = "rlscope_calibration.json"
FEWEST_RUNS = 3
"""Fewer do not say how far runs differ."""
_FORMAT = "rlscope calibration 1"
_MOST_BYTES = 16 << 20
_PYTHON = re.compile(r"(python|pypy)[0-9.]*")
# Of run.json: what a record costs depends on them.
_HOST = ("cpu", "cores", "machine", "python")
_DEFAULTS: Mapping[str, Any] = {
    "auto": True,
    "cuda": "cupti",
    "intercept": "patch",
    "numpy": False,
    "simulator": [],
    "waits": True,
}
# Variables that do not change what is recorded.
_ELSEWHERE = ("RLSCOPE_DIR", "RLSCOPE_MIN_FREE", "RLSCOPE_PROBES", "RLSCOPE_CUPTI")


@dataclass(frozen=True)
class Subject:
    """What was calibrated, or is to be corrected."""

    program: str
    """Path of the script, or `-m module`, or the command."""
    machine: dict[str, Any]
    options: dict[str, Any]
    """Those that differ from their defaults, and RLSCOPE_ variables."""


@dataclass(frozen=True)
class Run:
    """One run of a calibration."""

    time: str
    """When it ended, as ISO 8601 has it."""
    pairs: int
    added_ns: float
    """What recording added to one iteration, and the standard error of it."""
    error_ns: float
    base_ns: float
    """One iteration that was not recorded."""
    overhead_ns: float
    """What the costs below say of one iteration."""
    costs: dict[str, tuple[float, float]]
    """Of a record, by kind, as the run's own probes had it: nanoseconds, part inside."""

    @property
    def share(self) -> Estimate:
        """What recording added, over the time without."""
        return Estimate(self.added_ns, self.error_ns).over(self.base_ns)


def subject_of(run_json: Mapping[str, Any]) -> Subject | None:
    """The program, machine and options of a run.json; None: it does not say."""
    command, host = run_json.get("command"), run_json.get("host")
    options, variables = run_json.get("options"), run_json.get("environment")
    if not (isinstance(command, list) and command and isinstance(host, dict)):
        return None
    given = options if isinstance(options, dict) else {}
    chosen = {
        name: given[name]
        for name, default in _DEFAULTS.items()
        if given.get(name) not in (None, "", default)
    }
    of_environment = {
        name: value
        for name, value in (variables if isinstance(variables, dict) else {}).items()
        if name.startswith("RLSCOPE_") and name not in _ELSEWHERE
    }
    return Subject(
        _program(list(map(str, command)), str(run_json.get("working_directory", ""))),
        {name: host.get(name) for name in _HOST},
        {**chosen, **of_environment},
    )


def _program(command: Sequence[str], folder: str) -> str:
    """
    >>> _program(["python3", "-u", "train.py", "--seed", "1"], "/home/me")
    '/home/me/train.py'
    >>> _program(["/usr/bin/python3", "-m", "mine.train", "--lr", "1"], "/home/me")
    '-m mine.train'
    """
    arguments = command[1:]
    if _PYTHON.fullmatch(os.path.basename(command[0])):
        if "-m" in arguments[:-1]:
            return f"-m {arguments[arguments.index('-m') + 1]}"
        script = next((each for each in arguments if each.endswith(".py")), None)
        if script is not None:
            return os.path.normpath(os.path.join(folder, script))
    return " ".join(command)


class Store:
    """What was measured of one program on this machine's disk."""

    def __init__(self, program: str) -> None:
        name = re.sub(r"[^\w.-]+", "_", os.path.basename(program).removesuffix(".py"))[:40]
        digest = hashlib.sha256(program.encode(errors="surrogateescape")).hexdigest()[:12]
        self.path = _folder() / f"{name}-{digest}.json"
        self._program = program

    def subjects(self) -> list[tuple[Subject, list[Run]]]:
        """Everything, or nothing from a file that is damaged or of another release."""
        with suppress(OSError, ValueError, TypeError, KeyError, RecursionError):
            kept = json.loads(regular_files.read(self.path.parent, self.path.name, _MOST_BYTES))
            if kept["format"] == _FORMAT and kept["program"] == self._program:
                return [
                    (
                        Subject(self._program, dict(each["machine"]), dict(each["options"])),
                        [_run(run) for run in each["runs"]],
                    )
                    for each in kept["calibrations"]
                ]
        return []

    def runs(self, subject: Subject) -> list[Run]:
        """Those of the same machine and options."""
        return next((runs for each, runs in self.subjects() if each == subject), [])

    def keep(self, subject: Subject, runs: Sequence[Run]) -> None:
        """Replaces the runs of the same machine and options.

        Raises RlscopeError: the file cannot be written.
        """
        others = [(each, kept) for each, kept in self.subjects() if each != subject]
        text = json.dumps(
            {
                "format": _FORMAT,
                "program": self._program,
                "calibrations": [
                    {
                        "machine": each.machine,
                        "options": each.options,
                        "runs": [asdict(run) for run in kept],
                    }
                    for each, kept in [*others, (subject, runs)]
                ],
            },
            indent=1,
        )
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            regular_files.replace(self.path.parent, self.path.name, text.encode())
        except OSError as error:
            raise RlscopeError(f"cannot write {self.path}: {error.strerror}") from error


def _folder() -> Path:
    home = os.environ.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share")
    return Path(home) / "rlscope" / "calibrations"


def _run(kept: Mapping[str, Any]) -> Run:
    """Raises ValueError, TypeError or KeyError: it is none."""
    costs = {kind: (float(ns), float(inside)) for kind, (ns, inside) in kept["costs"].items()}
    numbers = {
        name: float(kept[name]) for name in ("added_ns", "error_ns", "base_ns", "overhead_ns")
    }
    return Run(time=str(kept["time"]), pairs=int(kept["pairs"]), costs=costs, **numbers)


def shares(runs: Sequence[Run]) -> Combined:
    """What recording adds to the program. Raises ValueError: fewer than two runs."""
    return combined([run.share.mean for run in runs])


def place(directory: str) -> str:
    """Puts the calibration of the run in `directory` beside its trace, where there is one.

    Returns one sentence where the program was calibrated, but not for this run; else an empty text.
    """
    subject = read_subject(directory)
    if subject is None:
        return ""
    found = Store(subject.program).subjects()
    enough = [(each, runs) for each, runs in found if len(runs) >= FEWEST_RUNS]
    for each, runs in enough:
        if each == subject:
            _write(directory, _costs(runs))
            return ""
    return _why_not(subject, [each for each, _ in enough])


def read_subject(directory: str) -> Subject | None:
    """The program, machine and options of a trace; None: its run.json does not say."""
    with suppress(OSError, ValueError, RecursionError):
        run = json.loads(regular_files.read(directory, "run.json", _MOST_BYTES))
        if isinstance(run, dict):
            return subject_of(run)
    return None


def _why_not(subject: Subject, others: Sequence[Subject]) -> str:
    if not others:
        return ""
    if all(each.machine != subject.machine for each in others):
        machine = others[-1].machine
        return (
            "the calibration of this program is not used: it was made on another machine "
            f"({machine.get('cpu')}, {machine.get('cores')} cores, Python {machine.get('python')})"
        )
    return "the calibration of this program is not used: it was made with other options of rls-prof"


def _costs(runs: Sequence[Run]) -> dict[str, Any]:
    """The costs of records. Iterations say what all of them cost together, with the interval of one
    further run; probes say how that divides into kinds."""
    share = shares(runs)
    costs = []
    for kind in sorted(set.intersection(*(set(run.costs) for run in runs))):
        # What a record costs for each part of the program's time that recording adds.
        per_share = _mean(run.costs[kind][0] * run.base_ns / run.overhead_ns for run in runs)
        costs.append(
            {
                "kind": kind,
                "mean_ns": per_share * share.mean,
                "low_ns": per_share * share.run_low,
                "high_ns": per_share * share.run_high,
                "inside": _mean(run.costs[kind][1] for run in runs),
            }
        )
    method = f"`rlscope calibrate` ({len(runs)} runs, {runs[-1].time[:10]})"
    return {"method": method, "pairs": sum(run.pairs for run in runs), "costs": costs}


def _mean(values: Iterable[float]) -> float:
    found = list(values)
    return sum(found) / len(found)


def _write(directory: str, costs: Mapping[str, Any]) -> None:
    """A folder that cannot be written is analysed without."""
    text = (json.dumps(costs, indent=1) + "\n").encode()
    with suppress(OSError):
        with suppress(OSError):
            if regular_files.read(directory, FILE, _MOST_BYTES) == text:
                return  # the tables made from it stay good
        regular_files.replace(directory, FILE, text)
