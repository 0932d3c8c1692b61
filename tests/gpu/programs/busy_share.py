"""The GPU busy for known shares of the time, beside the readings of NVIDIA's management library.

python busy_share.py FILE SECONDS

Phases of SECONDS: nothing; for each share, every 10 ms one kernel of a single small block that
lasts its part of them; matrix products that fill the GPU. FILE gets a line of JSON for each sample:
utilisation, power, energy, clocks and memory, at CLOCK_MONOTONIC nanoseconds.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pynvml
from driver import Driver, say

import rlscope as rls

SHARES = (0.01, 0.1, 0.5, 0.95)
EVERY_NS = 10_000_000
SAMPLE_SECONDS = 0.02
PRODUCT = 8192


class Sampler(threading.Thread):
    """Asks NVML, which the driver brings, until it is ended."""

    def __init__(self, file: Path) -> None:
        super().__init__(daemon=True)
        pynvml.nvmlInit()
        self._device = pynvml.nvmlDeviceGetHandleByIndex(0)
        self._file, self.ended, self.phase, self.samples = file, threading.Event(), "begin", 0
        self._readings: dict[str, Callable[[], Any]] = {
            "utilization": lambda: pynvml.nvmlDeviceGetUtilizationRates(self._device).gpu,
            "memory_utilization": lambda: pynvml.nvmlDeviceGetUtilizationRates(self._device).memory,
            "power_mw": lambda: pynvml.nvmlDeviceGetPowerUsage(self._device),
            "energy_mj": lambda: pynvml.nvmlDeviceGetTotalEnergyConsumption(self._device),
            "sm_mhz": lambda: pynvml.nvmlDeviceGetClockInfo(self._device, pynvml.NVML_CLOCK_SM),
            "memory_mhz": lambda: pynvml.nvmlDeviceGetClockInfo(
                self._device, pynvml.NVML_CLOCK_MEM
            ),
            "memory_used": lambda: pynvml.nvmlDeviceGetMemoryInfo(self._device).used,
        }

    def run(self) -> None:
        with open(self._file, "w") as output:
            while not self.ended.wait(SAMPLE_SECONDS):
                row: dict[str, Any] = {"time_ns": time.monotonic_ns(), "phase": self.phase}
                row |= {name: _given(reading) for name, reading in self._readings.items()}
                output.write(json.dumps(row) + "\n")
                self.samples += 1


def _given(reading: Callable[[], Any]) -> Any:
    """None where this GPU or this driver does not tell."""
    try:
        return reading()
    except pynvml.NVMLError:
        return None


def spin_for(driver: Driver, share: float, seconds: float) -> None:
    """A kernel of one block in every 10 ms."""
    stream = driver.stream()
    begin = time.monotonic_ns()
    for number in range(int(seconds * 1e9) // EVERY_NS):
        driver.spin(stream, int(share * EVERY_NS))
        rest = begin + (number + 1) * EVERY_NS - time.monotonic_ns()
        time.sleep(max(rest, 0) / 1e9)
    driver.call("cuStreamSynchronize", stream)


def products() -> Callable[[float], None] | None:
    """Matrix products that fill the GPU for some seconds; None where no PyTorch makes them."""
    try:
        import torch
    except ImportError:
        return None
    if not torch.cuda.is_available():
        return None
    a = torch.randn(PRODUCT, PRODUCT, device="cuda", dtype=torch.bfloat16)

    def multiply(seconds: float) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            for _ in range(10):
                a @ a
            torch.cuda.synchronize()

    multiply(0.1)
    return multiply


def main(file: Path, seconds: float) -> None:
    driver, sampler, multiply = Driver(), Sampler(file), products()
    sampler.start()
    phases: list[dict[str, Any]] = []

    def phase(name: str, asked: float | None, work: Callable[[], Any]) -> None:
        sampler.phase = name
        with rls.operation(name):
            begin = time.monotonic_ns()
            work()
            span = {"begin_ns": begin, "end_ns": time.monotonic_ns()}
            phases.append({"phase": name, "asked": asked, **span})
        sampler.phase = "between"
        time.sleep(0.3)

    phase("idle", 0.0, lambda: time.sleep(seconds))
    for share in SHARES:
        phase(f"spin {share}", share, lambda share=share: spin_for(driver, share, seconds))
    if multiply is not None:
        phase("products", None, lambda: multiply(seconds))
    sampler.ended.set()
    sampler.join()
    say(phases=phases, samples=sampler.samples)


if __name__ == "__main__":
    main(Path(sys.argv[1]), float(sys.argv[2]))
