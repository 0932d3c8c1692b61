"""Samples the machine while a program runs: CPU, memory and GPU, each second, into machine.jsonl.

    {"time_ns": 81234567890123, "pid": null, "metric": "cpu_percent", "value": 43.5}

`pid` null is the whole machine. Metrics and units:

    cpu_percent         machine: share of all cores, 0 to 100; process: of one core, may exceed 100
    core_percent        machine: share of each core, in a list
    memory_bytes        machine: in use, caches not counted; process: resident set
    gpu<i>_percent      share of the time since the last sample in which device i ran a kernel
    gpu<i>_memory_bytes memory of device i in use, by all processes
    gpu<i>_power_watts  power that device i draws
    gpu<i>_uuid         text, once: the device under the name that CUDA_VISIBLE_DEVICES may use
    gpu<i>_model        text, once
    operation_cost_ns   machine, once at the end: CPU time that recording one operation adds
    automatic_cost_ns   the same of a segment of an automatic operation
    native_cost_ns      the same of a native call; missing where it could not be measured
    drainer_cpu_ns      machine, once at the end: CPU time of the wrapper's drainer
    longest_stall_ns    machine, once at the end, where one waited over 1 ms for the disk: the
                        longest of the drainer's stores into a page that lies beside the rings
"""

import contextlib
import itertools
import json
import os
import threading
import time
from collections.abc import Iterable
from typing import IO, Any, Protocol

from rlscope.record.processes import ProcessLog
from rlscope.rundir import regular_files

FILE = "machine.jsonl"

# Written at most this late, so that a killed wrapper loses a few samples only.
_FLUSH_SECONDS = 10.0
# A last sample over less than this means nothing: the kernel accounts CPU time in 10 ms ticks.
_SHORTEST_SECONDS = 0.1
# psutil takes 25 ms to import: a program that is over before this is not held up by that.
_PATIENCE_SECONDS = 0.1
# A driver that hangs in NVML must not keep the wrapper: its thread is left behind.
_JOIN_SECONDS = 1.0

Metrics = Iterable[tuple[int | None, str, float | str | list[int]]]


class MachineSampler:
    """A thread of the wrapper that appends samples to DIR/machine.jsonl."""

    def __init__(self, directory: str, period_seconds: float = 1.0) -> None:
        self.error: Exception | None = None
        """What ended the sampling early, if something did."""
        self._directory = directory
        self._period = period_seconds
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="rlscope-machine", daemon=True)

    def start(self) -> None:
        """Begins sampling; psutil is imported in the thread, beside the running program."""
        self._thread.start()

    def stop(self) -> None:
        """Takes a last sample and ends the thread."""
        self._stop.set()
        self._thread.join(_JOIN_SECONDS)

    def _run(self) -> None:
        if self._stop.wait(min(_PATIENCE_SECONDS, self._period)):
            return
        try:
            self._sample_until_stopped()
        except Exception as error:
            self.error = error

    def _sample_until_stopped(self) -> None:
        probes: list[_Probe] = [_Host(), _Processes(ProcessLog(self._directory)), *_gpus()]
        with open_samples(self._directory) as file:
            sampled = flushed = time.monotonic()
            stopping = False
            while not stopping:
                stopping = self._stop.wait(max(0.0, sampled + self._period - time.monotonic()))
                now = time.monotonic()
                if stopping and now - sampled < _SHORTEST_SECONDS:
                    return
                sampled = now
                write_samples(
                    file, itertools.chain.from_iterable(probe.sample() for probe in probes)
                )
                if now - flushed >= _FLUSH_SECONDS:
                    file.flush()
                    flushed = now


class _Probe(Protocol):
    def sample(self) -> Metrics:
        """(pid or None, metric, value) of each quantity, now."""


class _Host:
    """CPU, in all and by core, and memory of the whole machine."""

    def __init__(self) -> None:
        import psutil  # never before the program has started

        self._psutil = psutil
        psutil.cpu_percent(None)  # shares are of the time since the call before
        psutil.cpu_percent(None, percpu=True)

    def sample(self) -> Metrics:
        yield None, "cpu_percent", self._psutil.cpu_percent(None)
        cores = self._psutil.cpu_percent(None, percpu=True)
        yield None, "core_percent", [round(share) for share in cores]
        memory = self._psutil.virtual_memory()
        yield None, "memory_bytes", memory.total - memory.available


class _Processes:
    """CPU and memory of each process of the run."""

    def __init__(self, log: ProcessLog) -> None:
        import psutil

        self._psutil = psutil
        self._log = log
        self._known: dict[tuple[int, int], Any] = {}
        self._take_in_new()

    def sample(self) -> Metrics:
        for (pid, _), process in list(self._known.items()):
            with contextlib.suppress(self._psutil.Error), process.oneshot():
                resident = process.memory_info().rss
                if resident == 0:  # it is ending: its memory is gone, its entry is not
                    continue
                yield pid, "cpu_percent", process.cpu_percent(None)
                yield pid, "memory_bytes", resident
        self._take_in_new()

    def _take_in_new(self) -> None:
        self._log.update()
        running = {(image.pid, image.start_time) for image in self._log.running()}
        self._known = {key: known for key, known in self._known.items() if key in running}
        for key in running - self._known.keys():
            with contextlib.suppress(self._psutil.Error):
                process = self._psutil.Process(key[0])
                process.cpu_percent(None)
                self._known[key] = process


class _Gpu:
    """Utilisation, memory and power of one device."""

    def __init__(self, nvml: Any, index: int) -> None:
        self._nvml = nvml
        self._device = nvml.nvmlDeviceGetHandleByIndex(index)
        self._name = f"gpu{index}"
        self._is_told = False

    def sample(self) -> Metrics:
        if not self._is_told:
            self._is_told = True
            yield from self._identity()
        # A device may lack one of these (MIG, vGPU) and still have the others.
        with contextlib.suppress(self._nvml.NVMLError):
            rates = self._nvml.nvmlDeviceGetUtilizationRates(self._device)
            yield None, f"{self._name}_percent", rates.gpu
        with contextlib.suppress(self._nvml.NVMLError):
            memory = self._nvml.nvmlDeviceGetMemoryInfo(self._device)
            yield None, f"{self._name}_memory_bytes", memory.used
        with contextlib.suppress(self._nvml.NVMLError):
            milliwatts = self._nvml.nvmlDeviceGetPowerUsage(self._device)
            yield None, f"{self._name}_power_watts", milliwatts / 1000

    def _identity(self) -> Metrics:
        with contextlib.suppress(self._nvml.NVMLError):
            yield None, f"{self._name}_uuid", _text(self._nvml.nvmlDeviceGetUUID(self._device))
        with contextlib.suppress(self._nvml.NVMLError):
            yield None, f"{self._name}_model", _text(self._nvml.nvmlDeviceGetName(self._device))


def _text(answer: str | bytes) -> str:
    """An answer of pynvml, whose releases differ, as text."""
    return answer.decode(errors="replace") if isinstance(answer, bytes) else answer


def _gpus() -> list[_Gpu]:
    """The machine's NVIDIA devices; none without their driver, which installs NVML."""
    import ctypes

    try:
        ctypes.CDLL("libnvidia-ml.so.1")  # pynvml takes far longer to import than this to fail
        import pynvml
    except (OSError, ImportError):
        return []
    try:
        pynvml.nvmlInit()
        return [_Gpu(pynvml, index) for index in range(pynvml.nvmlDeviceGetCount())]
    except pynvml.NVMLError:
        return []


def open_samples(directory: str) -> IO[str]:
    """DIR/machine.jsonl, to append to. Raises OSError."""
    descriptor = regular_files.open_file(directory, FILE, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    return open(descriptor, "a", encoding="utf-8", buffering=1 << 16)


def write_samples(file: IO[str], metrics: Metrics) -> None:
    """Appends one sample; all of its metrics carry the same time."""
    now = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    for pid, metric, value in metrics:
        shown = round(value, 3) if isinstance(value, float) else value
        line = {"time_ns": now, "pid": pid, "metric": metric, "value": shown}
        file.write(json.dumps(line) + "\n")
