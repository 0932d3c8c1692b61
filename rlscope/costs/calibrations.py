"""Calibrations of programs: measured by `rlscope calibrate`, used by the analysis of later runs.

    ~/.local/share/rlscope/calibrations/<program>.json    of a program ($XDG_DATA_HOME)
    DIR/rlscope_calibration.json                          the costs of records for the trace in DIR

A calibration is that of a program, a machine, a release of rlscope, and the options that say what
is recorded.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from rlscope.costs.inflation import Combined, Estimate, combined
from rlscope.errors import RlscopeError
from rlscope.rundir import regular_files

FILE = "rlscope_calibration.json"
CUDA_CALL, CUDA_SUBMISSION = "CUDA call", "CUDA submission"
"""Kinds of records: a call of CUDA, and one that leaves an activity record of CUPTI's, too."""
FEWEST_RUNS = 3
"""Fewer do not say how far runs differ."""
# The clock is read in the callback of a call's begin, and first in that of its end.
_CALLBACKS_INSIDE = 0.5
_FORMAT = "rlscope calibration 2"
_MOST_BYTES = 16 << 20
_MOST_PLACED_BYTES = 1 << 20  # of a file with some kinds
_PYTHON = re.compile(r"(python|pypy)[0-9.]*")
# Keys of run.json: what a record costs depends on them.
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
    release: str
    """The release of rlscope: the next one may record more, or at another cost."""


@dataclass(frozen=True)
class CudaRun:
    """What one iteration showed of CUDA, in nanoseconds (inflation.CudaParts)."""

    others_ns: float
    """What recording adds without CUPTI."""
    calls_ns: float
    work_ns: float
    """What callbacks and activity records add."""
    more_ns: float
    """The part of these that the two add only together."""
    calls: float
    """CUDA calls that were recorded, those of the next line among them."""
    submissions: float
    """Calls that leave activity records."""


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
    """What a record costs by the run's own probes, by kind, without CUDA: nanoseconds, part
    inside."""
    cuda: CudaRun | None = None
    """None: CUPTI recorded no call."""

    @property
    def share(self) -> Estimate:
        """What recording added, over the time without."""
        return Estimate(self.added_ns, self.error_ns).over(self.base_ns)

    @property
    def others_share(self) -> float:
        """The part of it that is not CUPTI's."""
        others_ns = self.added_ns if self.cuda is None else self.cuda.others_ns
        return others_ns / self.base_ns


def subject_of(run_json: Mapping[str, Any]) -> Subject | None:
    """What a run.json is of; None: it does not say."""
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
        str(run_json.get("version", "")),
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
        """Everything, or nothing from a file that is damaged or of another format."""
        with suppress(OSError, ValueError, TypeError, KeyError, RecursionError):
            kept = json.loads(regular_files.read(self.path.parent, self.path.name, _MOST_BYTES))
            if kept["format"] == _FORMAT and kept["program"] == self._program:
                return [
                    (
                        Subject(
                            self._program,
                            dict(each["machine"]),
                            dict(each["options"]),
                            str(each["release"]),
                        ),
                        [_run(run) for run in each["runs"]],
                    )
                    for each in kept["calibrations"]
                ]
        return []

    def runs(self, subject: Subject) -> list[Run]:
        """Those of the same machine, release and options."""
        return next((runs for each, runs in self.subjects() if each == subject), [])

    def keep(self, subject: Subject, runs: Sequence[Run]) -> None:
        """Replaces the runs of the same machine, release and options.

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
                        "release": each.release,
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
    of_cuda = kept.get("cuda")
    cuda = None
    if of_cuda is not None:
        cuda = CudaRun(**{each.name: float(of_cuda[each.name]) for each in fields(CudaRun)})
    return Run(time=str(kept["time"]), pairs=int(kept["pairs"]), costs=costs, cuda=cuda, **numbers)


def shares(runs: Sequence[Run]) -> Combined:
    """What recording adds to the program. Raises ValueError: fewer than two runs."""
    return combined([run.share.mean for run in runs])


def sum_of_parts(runs: Sequence[Run]) -> Combined:
    """What single records add to the program, as the runs' own probes have each kind by itself;
    CUPTI's are not in it. Raises ValueError: fewer than two runs."""
    return combined([run.overhead_ns / run.base_ns for run in runs])


def cuda_shares(runs: Sequence[Run]) -> dict[str, Combined] | None:
    """What CUPTI's parts add to the program: `calls`, `work`, and `more`, what the two add only
    together. None: a run knows nothing of CUDA.

    Raises ValueError: fewer than two runs.
    """
    found = [(run.cuda, run.base_ns) for run in runs if run.cuda is not None]
    if len(found) < len(runs):
        return None
    return {
        part: combined([getattr(cuda, f"{part}_ns") / base_ns for cuda, base_ns in found])
        for part in ("calls", "work", "more")
    }


def chosen(directory: str | os.PathLike[str]) -> dict[str, Any] | None:
    """The costs of records for the trace in `directory`: what this machine knows of its program,
    or else what lies beside the trace; None without either."""
    runs, _ = _known(directory)
    return _costs(runs) if runs else _beside(directory)


def why_unused(directory: str | os.PathLike[str]) -> str:
    """A sentence if the program of this trace was calibrated, but not for this run; or empty."""
    return _known(directory)[1]


def place(directory: str | os.PathLike[str]) -> None:
    """Keeps the costs that this machine knows beside the trace, for readers on other machines.

    For whoever records. A folder that cannot be written stays as it is.
    """
    runs, _ = _known(directory)
    if runs:
        text = json.dumps(_costs(runs), indent=1) + "\n"
        with suppress(OSError):
            regular_files.replace(directory, FILE, text.encode())


def _known(directory: str | os.PathLike[str]) -> tuple[list[Run], str]:
    """The runs that calibrated the program of a trace for this run, or why there are none."""
    subject = read_subject(directory)
    if subject is None:
        return [], ""
    found = Store(subject.program).subjects()
    enough = [(each, runs) for each, runs in found if len(runs) >= FEWEST_RUNS]
    for each, runs in enough:
        if each == subject:
            return runs, ""
    return [], _why_not(subject, [each for each, _ in enough])


def _beside(directory: str | os.PathLike[str]) -> dict[str, Any] | None:
    with suppress(OSError, ValueError, RecursionError):
        kept = json.loads(regular_files.read(directory, FILE, _MOST_PLACED_BYTES))
        if isinstance(kept, dict):
            return kept
    return None


def read_subject(directory: str | os.PathLike[str]) -> Subject | None:
    """What a trace is of; None: its run.json does not say."""
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
    if all(each.release != subject.release for each in others):
        return (
            "the calibration of this program is not used: it was made by rlscope "
            f"{others[-1].release}, and the run by {subject.release}"
        )
    return "the calibration of this program is not used: it was made with other options of rls-prof"


def _costs(runs: Sequence[Run]) -> dict[str, Any]:
    """The costs of records. Iterations say what all of them cost together, with the interval of one
    further run, and what CUPTI's do; probes say how the rest divides into kinds."""
    share = combined([run.others_share for run in runs])
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
    costs += _of_cuda([run.cuda for run in runs])
    method = f"`rlscope calibrate` ({len(runs)} runs, {runs[-1].time[:10]})"
    return {"method": method, "pairs": sum(run.pairs for run in runs), "costs": costs}


def _of_cuda(runs: Sequence[CudaRun | None]) -> list[dict[str, Any]]:
    """Each call costs its callbacks, and those that leave activity records cost these, too."""
    found = [run for run in runs if run is not None and run.calls > 0]
    if len(found) < len(runs):
        return []
    callbacks = [run.calls_ns / run.calls for run in found]
    costs = [_of_runs(CUDA_CALL, callbacks, _CALLBACKS_INSIDE)]
    if all(run.submissions > 0 for run in found):
        records = [run.work_ns / run.submissions for run in found]
        both = [call + record for call, record in zip(callbacks, records, strict=True)]
        # An activity record is made between the two readings of the clock.
        inside_ns = _CALLBACKS_INSIDE * _mean(callbacks) + _mean(records)
        inside = inside_ns / _mean(both) if _mean(both) > 0 else _CALLBACKS_INSIDE
        costs.append(_of_runs(CUDA_SUBMISSION, both, min(1.0, max(0.0, inside))))
    return costs


def _of_runs(kind: str, costs_ns: Sequence[float], inside: float) -> dict[str, Any]:
    found = combined(costs_ns)
    numbers = {"mean_ns": found.mean, "low_ns": found.run_low, "high_ns": found.run_high}
    return {"kind": kind, **numbers, "inside": inside}


def _mean(values: Iterable[float]) -> float:
    found = list(values)
    return sum(found) / len(found)
