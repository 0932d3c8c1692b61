"""DIR/machine.jsonl (rlscope/record/machine.py): relation machine_sample, cores, names of GPUs."""

from __future__ import annotations

import bisect
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from rlscope.relations.rows.texts import LARGEST, shown
from rlscope.rundir import regular_files

FILE = "machine.jsonl"
# A day of samples of 60 processes; what lies beyond is left out, as a line is that has no end.
MOST_BYTES = 1 << 30
_LONGEST_LINE = 64 << 10
_MOST_CORES = 8192  # Linux can have
_IDENTITY = re.compile(r"gpu(\d{1,4})_(uuid|model)")

Rows = dict[str, list[Any]]


@dataclass
class Gpu:
    """A device of NVML's; None: not said."""

    uuid: str | None = None
    model: str | None = None


@dataclass
class MachineSamples:
    """All that the file says, in its order."""

    columns: Rows
    """The relation machine_sample."""
    gpus: dict[int, Gpu] = field(default_factory=dict)
    """Those that named themselves, by NVML's number."""
    cores: list[tuple[int, Any]] = field(default_factory=list)
    """time_ns, and the percent of each core as an array."""

    def of_machine(self) -> dict[str, float]:
        """The last reading of each metric of the whole machine."""
        columns = self.columns
        rows = zip(columns["metric"], columns["value"], columns["process_id"], strict=True)
        return {metric: value for metric, value, process in rows if process is None}


def read(
    root: Path, processes: Sequence[Mapping[str, Any]], hosts: Sequence[int]
) -> MachineSamples:
    """Reads DIR/machine.jsonl; lines cut short are left out."""
    names = ("host_id", "process_id", "start_ns", "metric", "value")
    samples = MachineSamples({name: [] for name in names})
    finder = ProcessFinder(processes)
    for sample in _samples(root):
        if isinstance(sample["value"], float):
            _add_reading(samples.columns, sample, finder, hosts)
        elif isinstance(sample["value"], str):
            _add_identity(samples.gpus, sample)
        elif sample["metric"] == "core_percent":
            _add_cores(samples.cores, sample)
    return samples


def _add_reading(
    columns: Rows, sample: Mapping[str, Any], finder: ProcessFinder, hosts: Sequence[int]
) -> None:
    process_id = None
    if sample["pid"] is not None:
        process_id = finder.find(sample["pid"], sample["time_ns"])
        if process_id is None:
            return  # a process that was not traced, or left no row
    host_id = hosts[process_id] if process_id is not None else 0
    cells = (host_id, process_id, sample["time_ns"], sample["metric"], sample["value"])
    for column, cell in zip(columns.values(), cells, strict=True):
        column.append(cell)


def _add_identity(gpus: dict[int, Gpu], sample: Mapping[str, Any]) -> None:
    if match := _IDENTITY.fullmatch(sample["metric"]):
        setattr(gpus.setdefault(int(match[1]), Gpu()), match[2], shown(sample["value"]))


def _add_cores(cores: list[tuple[int, Any]], sample: Mapping[str, Any]) -> None:
    percents = sample["value"]
    if percents.ndim == 1 and len(percents) <= _MOST_CORES:
        cores.append((sample["time_ns"], percents.astype(np.float32)))


class ProcessFinder:
    """Which image of a pid lived at a time: the last one that began before it."""

    def __init__(self, processes: Sequence[Mapping[str, Any]]) -> None:
        self._began: dict[int, list[int]] = {}
        self._index: dict[int, list[int]] = {}
        for process in sorted(processes, key=lambda process: int(process["began_ns"])):
            self._began.setdefault(process["os_pid"], []).append(process["began_ns"])
            self._index.setdefault(process["os_pid"], []).append(process["index"])

    def find(self, pid: int, time_ns: int) -> int | None:
        position = bisect.bisect_right(self._began.get(pid, []), time_ns) - 1
        return self._index[pid][position] if position >= 0 else None


def _samples(root: Path) -> Iterator[dict[str, Any]]:
    try:
        descriptor = regular_files.open_file(root, FILE)
    except OSError:
        return
    with os.fdopen(descriptor, "rb") as file:
        while file.tell() < MOST_BYTES and (line := file.readline(_LONGEST_LINE)):
            sample = _sample(line) if line.startswith(b"{") else None
            if sample is not None:
                yield sample


def _sample(line: bytes) -> dict[str, Any] | None:
    """One line of machine.jsonl; None when the wrapper was killed while it wrote the line."""
    try:
        sample = json.loads(line)
        time_ns, pid = int(sample["time_ns"]), sample.get("pid")
        if not (abs(time_ns) < LARGEST and (pid is None or isinstance(pid, int))):
            return None
        return {
            "time_ns": time_ns,
            "pid": pid,
            "metric": shown(str(sample["metric"])),
            "value": _value(sample["value"]),
        }
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError):
        return None


def _value(value: Any) -> float | str | Any:
    """A reading, a text or the readings of several cores."""
    if isinstance(value, str):
        return value
    return np.array(value, dtype=np.float64) if isinstance(value, list) else float(value)
