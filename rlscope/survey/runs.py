"""Run: what one repetition of a cell showed, in numbers; kept as JSON beside its trace."""

from __future__ import annotations

import errno
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from rlscope.errors import RlscopeError
from rlscope.relations.groups import group_of
from rlscope.rundir import regular_files

FORMAT = "rlscope survey run 1"
_MOST_BYTES = 16 << 20
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT)

SIMULATION, INFERENCE, LEARNING, OTHER = "simulation", "inference", "learning", "other"
STAGES = (SIMULATION, INFERENCE, LEARNING, OTHER)
"""The paper's three operations, and what is in none of them."""
BACKEND = ("framework", "cuda_api")
"""Layers that the paper calls Backend and CUDA: a framework's native code."""
# They prepare an update, and the paper counts them with it.
_OF_AN_UPDATE = frozenset("replay sample critic actor temperature".split())
# For a language model: the prompt, and the tokens after it.
_OF_INFERENCE = frozenset(("prefill", "decode"))


class DiskFull(RlscopeError):
    """No further run would have room."""


@dataclass(frozen=True)
class Row:
    """Wall time in the training loop of a process, in nanoseconds."""

    operation: str
    layer: str
    gpu_busy: bool | None
    """None: GPU work was not recorded."""
    duration_ns: int
    corrected_ns: int | None
    """Without what recording cost; None: no cost is known."""
    corrected_low_ns: int | None
    corrected_high_ns: int | None
    process: int | None = None
    """Its place in Run.processes; None: the row is a sum over all of them."""

    @property
    def stage(self) -> str:
        """One of STAGES."""
        return stage_of(self.operation)

    @property
    def ns(self) -> int:
        """Corrected, where that is known."""
        return self.duration_ns if self.corrected_ns is None else self.corrected_ns


@dataclass(frozen=True)
class Crossing:
    """Entries of the training process from one layer into another."""

    operation: str
    from_layer: str
    to_layer: str
    per_iteration: float | None

    @property
    def stage(self) -> str:
        """One of STAGES."""
        return stage_of(self.operation)


@dataclass(frozen=True)
class Polled:
    """What the readings of a process span, and what happened in exactly that time."""

    polled_percent: float
    """A poller's utilisation, of one core."""
    duration_ns: int
    cpu_ns: int | None
    busy_ns: int | None
    """In Python, simulator or framework, also while other processes had the cores."""
    waiting_ns: int | None


@dataclass(frozen=True)
class Process:
    """One process of the run, in nanoseconds."""

    name: str
    role: str
    wall_ns: int
    """Its life."""
    busy_ns: int
    """In an operation, in its training loop."""
    cpu_ns: int | None
    """During its life, start-up included."""
    polled: Polled | None = None
    """None: it has no reading."""


@dataclass(frozen=True)
class Reading:
    """What a poller said of a device, beside what was recorded of the same time."""

    kind: str
    """gpu, core (the busiest) or process."""
    name: str
    polled_percent: float
    """Percent of a GPU, or of one core."""
    busy_percent: float | None
    """In the same time: GPU work ran, or the process was in Python, simulator or framework."""
    machine_percent: float | None
    """Beside the busiest core: of all cores together."""


@dataclass(frozen=True)
class Run:
    """One repetition of a cell."""

    cell: str
    repetition: int
    error: str = ""
    """Why there are no numbers; "" where there are."""
    seconds: float = 0.0
    """From the start of rls-prof to its end."""
    window: float = 0.0
    """Seconds of recording after which the program was asked to end."""
    command: str = ""
    """The command of the cell, when it ran."""
    machine: Mapping[str, Any] = field(default_factory=dict)
    """run.json's facts of the host."""
    libraries: Mapping[str, str] = field(default_factory=dict)
    """Versions of what the cell needs."""
    training: int | None = None
    """The process whose iterations count, as its place in `processes`; None: not known."""
    iterations: int = 0
    """Complete iterations of the training process."""
    steps: int | None = None
    """Environment steps of these; None: the cell does not say."""
    rows: Sequence[Row] = ()
    crossings: Sequence[Crossing] = ()
    processes: Sequence[Process] = ()
    readings: Sequence[Reading] = ()
    gpu_absence: str = ""
    """Why nothing is known of a GPU; "" where GPU work was recorded."""
    correction: str = ""
    """How the cost of most records was measured."""

    @property
    def has_gpu(self) -> bool:
        """GPU work was recorded."""
        return not self.error and not self.gpu_absence

    @property
    def loop(self) -> Sequence[Row]:
        """The training loop of the training process, which times and shares are of: wall time, so
        processes beside it add nothing. Empty where the rows are sums over several loops."""
        if self.training is None:
            loops = [process for process in self.processes if process.busy_ns]
            return self.rows if len(loops) < 2 else ()
        return [row for row in self.rows if row.process in (None, self.training)]

    @property
    def ns(self) -> int:
        """Corrected time of that loop."""
        return sum(row.ns for row in self.loop)

    @property
    def cost(self) -> tuple[float, float, float] | None:
        """What recording added in all processes, as a share of their loops without it, and its
        95 % interval; None: of some of it no cost is known."""
        if not self.rows or any(row.corrected_ns is None for row in self.rows):
            return None
        known = sum(row.ns for row in self.rows)
        lows = sum(row.corrected_low_ns or 0 for row in self.rows)
        highs = sum(row.corrected_high_ns or 0 for row in self.rows)
        if min(known, lows, highs) <= 0:
            return None
        recorded = sum(row.duration_ns for row in self.rows)
        return recorded / known - 1, recorded / highs - 1, recorded / lows - 1

    def time(self, where: Callable[[Row], bool] = lambda _: True) -> int:
        """Corrected time of the rows of the loop that `where` takes."""
        return sum(row.ns for row in self.loop if where(row))

    def share(self, stage: str) -> float:
        """As a part of the loop's corrected time."""
        return self.time(lambda row: row.stage == stage) / self.ns if self.ns else 0.0

    def entries(self, stage: str | None, into: Iterable[str] = BACKEND) -> float | None:
        """Entries into the layers `into` in an iteration, in one stage or in all; None: no rate
        is known."""
        wanted = [
            each
            for each in self.crossings
            if each.to_layer in into and (stage is None or each.stage == stage)
        ]
        rates = [each.per_iteration for each in wanted if each.per_iteration is not None]
        return sum(rates) if self.iterations else None

    def to_json(self) -> dict[str, Any]:
        """JSON values; from_json() takes them back."""
        return {"format": FORMAT, **asdict(self)}


def stage_of(operation: str) -> str:
    """
    >>> [stage_of(path) for path in ("simulation", "critic/forward", "rollout/decode", "(none)")]
    ['simulation', 'learning', 'inference', 'other']
    """
    group = group_of(operation)
    if group in STAGES:
        return group
    name = group.rpartition("/")[2]
    return INFERENCE if name in _OF_INFERENCE else LEARNING if name in _OF_AN_UPDATE else OTHER


def from_json(kept: Mapping[str, Any]) -> Run:
    """Raises ValueError, TypeError or KeyError: it is none, or of another release."""
    values = dict(kept)
    if values.pop("format", FORMAT) != FORMAT:
        raise ValueError("it is of another release of rlscope")
    parts: dict[str, Any] = {
        "rows": Row,
        "crossings": Crossing,
        "processes": Process,
        "readings": Reading,
    }
    for name, kind in parts.items():
        values[name] = tuple(kind(**each) for each in values.get(name, ()))
    values["processes"] = tuple(map(_with_polled, values["processes"]))
    return Run(**values)


def _with_polled(process: Process) -> Process:
    kept: Any = process.polled
    return replace(process, polled=None if kept is None else Polled(**kept))


def read(path: Path) -> Run | None:
    """The run in a file; None: there is none, or none that can be used."""
    try:
        return from_json(json.loads(regular_files.read(path.parent, path.name, _MOST_BYTES)))
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return None


def keep(path: Path, run: Run) -> None:
    """Writes a run, whole or not at all.

    Raises RlscopeError: it cannot be written.
    """
    write(path, json.dumps(run.to_json(), indent=1) + "\n")


def write(path: Path, text: str) -> None:
    """A file of a survey, whole or not at all.

    Raises DiskFull or another RlscopeError: it cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        regular_files.replace(path.parent, path.name, text.encode(errors="backslashreplace"))
    except OSError as error:
        kind = DiskFull if error.errno in _NO_ROOM else RlscopeError
        raise kind(f"cannot write {path}: {error.strerror}") from error
