"""The relation utilisation: polled shares of GPUs, cores, machine and processes, beside what the
trace knows of the same time (semantics.md, Utilisation)."""

from __future__ import annotations

import array
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from rlscope import _trace
from rlscope.relations.rows.devices import Use
from rlscope.relations.rows.machine_samples import Gpu, MachineSamples
from rlscope.relations.rows.poll_steps import Measured, Span, Steps, merged
from rlscope.relations.rows.texts import LARGEST

HOST = 0
"""The machine of rls-prof, which alone is read."""

_CPU_PERCENT = "cpu_percent"
_NUMBER = r"(0|[1-9][0-9]{0,3})"
_GPU_PERCENT = re.compile(rf"gpu{_NUMBER}_percent")
_READ = ("host_id", "process_id", "start_ns", "metric", "value")
_LAYERS = {
    "busy_ns": ("python", "simulator", "framework"),
    "cuda_api_ns": ("cuda_api",),
    "waiting_ns": ("wait",),
}
_NAMES = (
    "host_id kind gpu core process_id start_ns end_ns duration_ns readings polled_percent busy_ns "
    "cuda_api_ns waiting_ns cpu_ns"
).split()

Row = dict[str, Any]


class Utilisation:
    """Rows in the making: processes as they are swept, then the machine and its devices."""

    def __init__(self, samples: MachineSamples) -> None:
        self._gpus, self._cores = samples.gpus, samples.cores
        self._readings = _percents(samples)
        self._steps = Steps(self._readings[None, _CPU_PERCENT].times_ns)
        self._windows: list[Span] = []
        self._processes: list[Row] = []
        self._works_known = True

    def add(
        self,
        process_id: int,
        *,
        windows: Mapping[str, Any],
        timeline: Mapping[str, Any],
        work_is_known: bool,
    ) -> None:
        """Takes a process of the machine: its relations recording_window and timeline."""
        starts = np.asarray(windows["start_ns"]).tolist()
        lengths = np.asarray(windows["duration_ns"]).tolist()
        own = merged((start, start + ns) for start, ns in zip(starts, lengths, strict=True))
        self._windows += own
        self._works_known = self._works_known and work_is_known
        if measured := self._measured(process_id, _CPU_PERCENT, own):
            times = _times_in_layers(measured, timeline)
            cpu_ns = min(measured.used_ns(), LARGEST - 1)
            row = _row("process", measured, process_id=process_id, cpu_ns=cpu_ns, **times)
            self._processes.append(row)

    def rows(self, directory: _trace.Directory, uses: Sequence[Use]) -> list[Row]:
        """All of them; `uses`: GPUs that processes of the machine used."""
        self._windows = merged(self._windows)
        return [
            *self._gpu_rows(directory, uses),
            *self._machine_rows(),
            *self._core_rows(),
            *self._processes,
        ]

    def _gpu_rows(self, directory: _trace.Directory, uses: Sequence[Use]) -> Iterator[Row]:
        polled = [_GPU_PERCENT.fullmatch(metric) for pid, metric in self._readings if pid is None]
        numbers = sorted(int(match[1]) for match in polled if match)
        known = {**{number: Gpu() for number in numbers}, **self._gpus}
        found = {use: number_of(use, known) for use in uses}
        is_known = self._works_known and None not in found.values()
        for number in numbers:
            measured = self._measured(None, f"gpu{number}_percent", self._windows)
            if not measured:
                continue
            of_gpu = [(use.process_id, use.device) for use in uses if found[use] == number]
            busy_ns = directory.device_busy_ns(of_gpu, spans=measured.spans())
            yield _row("gpu", measured, gpu=number, busy_ns=busy_ns if is_known else None)

    def _machine_rows(self) -> Iterator[Row]:
        if measured := self._measured(None, _CPU_PERCENT, self._windows):
            used_ns = [
                self._measured(process_id, _CPU_PERCENT, self._windows).used_ns()
                for process_id, metric in list(self._readings)
                if process_id is not None and metric == _CPU_PERCENT
            ]
            yield _row("machine", measured, cpu_ns=min(sum(used_ns), LARGEST - 1))

    def _core_rows(self) -> Iterator[Row]:
        cores = len(self._cores[-1][1]) if self._cores else 0
        usual = [each for each in self._cores if len(each[1]) == cores]
        times_ns = [time_ns for time_ns, _ in usual]
        by_core = np.array([percents for _, percents in usual]).T
        for core, percents in enumerate(by_core):
            if measured := self._steps.measured(times_ns, percents, self._windows):
                yield _row("core", measured, core=core)

    def _measured(self, process_id: int | None, metric: str, windows: Sequence[Span]) -> Measured:
        readings = self._readings[process_id, metric]
        return self._steps.measured(readings.times_ns, readings.percents, windows)


class _Readings:
    """The readings of one metric; 16 bytes each, for a day of many processes."""

    def __init__(self) -> None:
        self.times_ns = array.array("q")
        self.percents = array.array("d")


def _percents(samples: MachineSamples) -> defaultdict[tuple[int | None, str], _Readings]:
    """Shares of the machine, its GPUs and each process, by process_id and metric."""
    found: defaultdict[tuple[int | None, str], _Readings] = defaultdict(_Readings)
    cells = zip(*(samples.columns[name] for name in _READ), strict=True)
    for host_id, process_id, time_ns, metric, value in cells:
        if host_id == HOST and metric.endswith("_percent"):
            found[process_id, metric].times_ns.append(time_ns)
            found[process_id, metric].percents.append(value)
    return found


def number_of(use: Use, gpus: Mapping[int, Gpu]) -> int | None:
    """NVML's number of a GPU that a process used; None where that cannot be told."""
    if re.fullmatch(_NUMBER, use.gpu):
        number = int(use.gpu)
        return number if number in gpus and (use.by_bus or _are_alike(gpus)) else None
    named = [number for number, gpu in gpus.items() if use.gpu and _begins(gpu.uuid, use.gpu)]
    return named[0] if len(named) == 1 else None


def _begins(uuid: str | None, text: str) -> bool:
    return uuid is not None and uuid.startswith(text)


def _are_alike(gpus: Mapping[int, Gpu]) -> bool:
    """CUDA and NVML count GPUs of one model in one order: by their place on the bus."""
    models = {gpu.model for gpu in gpus.values()}
    return len(gpus) == 1 or (len(models) == 1 and None not in models)


def _times_in_layers(measured: Measured, timeline: Mapping[str, Any]) -> dict[str, int]:
    """From the finest level of a process's timeline, which is the lowest."""
    levels = np.asarray(timeline["level"])
    if not len(levels):
        return dict.fromkeys(_LAYERS, 0)
    finest = levels == levels.min()
    starts_ns, bucket_ns, duration_ns, layer = (
        np.asarray(timeline[name])[finest]
        for name in ("start_ns", "bucket_ns", "duration_ns", "layer")
    )
    within_ns = duration_ns * measured.covered(starts_ns, bucket_ns)
    return {
        name: round(float(within_ns[np.isin(layer, layers)].sum()))
        for name, layers in _LAYERS.items()
    }


def _row(kind: str, measured: Measured, **cells: Any) -> Row:
    row = dict.fromkeys(_NAMES)
    return {**row, "host_id": HOST, "kind": kind, **measured.columns(), **cells}


def columns(rows: Sequence[Row]) -> dict[str, list[Any]]:
    """The relation."""
    return {name: [row[name] for row in rows] for name in _NAMES}
