"""What CUDA calls cost their thread, plain or recorded in several ways by turns.

    python call_turns.py LIBRARY ROUNDS WAY...     LIBRARY: calls.c, compiled; WAY: of recording.py

`plain` is nothing switched at all: alone, it is what the process has, a profiler or none. `none` is
what is left where CUPTI was used before: some of its cost stays until the process ends.

Says, for each way, the nanoseconds of CPU and of wall time that a call took, round by round; and
how long the GPU took for a row of kernels that waited in its queue.
"""

from __future__ import annotations

import ctypes
import random
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from ctypes import byref, c_char_p, c_double, c_long, c_void_p
from typing import Any

from driver import SPIN, Driver, say
from recording import leave, recorded
from runtime_calls import load_runtime

CALLS, FEW_CALLS, WARM_UP = 400, 40, 20
GRAPH_KERNELS = 3
GATE_NS, QUEUED, QUEUED_NS = 3_000_000, 200, 5_000


class Calls:
    """The kinds of calls, ready to be timed."""

    def __init__(self, library: str) -> None:
        self.driver = Driver()
        self._loops = ctypes.CDLL(library)
        self.stream = self.driver.stream()
        self._arguments, _, self._value = self.driver.spin_arguments(0)[1]
        self.timed = {**self._of_driver(), **self._of_runtime()}

    def _of_driver(self) -> dict[str, Callable[[int, Any], int]]:
        driver, stream = self.driver, self.stream
        kernel = driver.spin_arguments(0)[0][0]
        device, host = driver.device_memory(4096), driver.pinned_memory(4096)
        event, graph = driver.event(), driver.graph(GRAPH_KERNELS, 0)
        driver.call("cuEventRecord", event, stream)
        loops, of = self._loops, driver.function
        return {
            "cuLaunchKernel": lambda n, spent: loops.launch_driver(
                of("cuLaunchKernel"), kernel, stream, self._arguments, c_long(n), spent
            ),
            "cuMemcpyHtoDAsync": lambda n, spent: loops.copy_driver(
                of("cuMemcpyHtoDAsync_v2"), device, host, stream, c_long(n), spent
            ),
            "cuEventQuery": lambda n, spent: loops.on_one(
                of("cuEventQuery"), event, c_long(n), spent
            ),
            "cuStreamSynchronize": lambda n, spent: loops.on_one(
                of("cuStreamSynchronize"), stream, c_long(n), spent
            ),
            "cuGraphLaunch": lambda n, spent: loops.on_two(
                of("cuGraphLaunch"), graph, stream, c_long(min(n, FEW_CALLS)), spent
            ),
        }

    def _of_runtime(self) -> dict[str, Callable[[int, Any], int]]:
        """The same by the runtime library, as PyTorch calls it; none where it is not installed."""
        runtime = load_runtime()
        if runtime is None:
            return {}
        device, host = self.driver.device_memory(4096), self.driver.pinned_memory(4096)
        stream, loops = self.stream, self._loops
        timed: dict[str, Callable[[int, Any], int]] = {
            "cudaMemcpyAsync": lambda n, spent: loops.copy_runtime(
                runtime.cudaMemcpyAsync, device, host, stream, c_long(n), spent
            )
        }
        kernel = _runtime_kernel(runtime)
        if kernel is not None:
            timed["cudaLaunchKernel"] = lambda n, spent: loops.launch_runtime(
                runtime.cudaLaunchKernel, kernel, stream, self._arguments, c_long(n), spent
            )
        return timed

    def synchronize(self) -> None:
        self.driver.call("cuStreamSynchronize", self.stream)

    def time(self, name: str) -> tuple[float, float]:
        """CPU and wall nanoseconds of a call, after some that are not timed."""
        spent = (c_double * 2)()
        count = FEW_CALLS if name == "cuGraphLaunch" else CALLS
        for calls in (WARM_UP, count):
            status = self.timed[name](calls, spent)
            if status != 0:
                raise SystemExit(f"{name} answered {status}")
            self.synchronize()
        return spent[0] / count, spent[1] / count

    def queued_ns(self) -> float:
        """By the GPU's clock, of a kernel and the way to the next, where none waits for the CPU."""
        begin, end = self.driver.event(timed=True), self.driver.event(timed=True)
        self.driver.spin(self.stream, GATE_NS)
        self.driver.call("cuEventRecord", begin, self.stream)
        for _ in range(QUEUED):
            self.driver.spin(self.stream, QUEUED_NS)
        self.driver.call("cuEventRecord", end, self.stream)
        self.synchronize()
        return self.driver.elapsed_ns(begin, end) / QUEUED


def _runtime_kernel(runtime: ctypes.CDLL) -> c_void_p | None:
    """The spinning kernel as the runtime library launches it; None where it loads no libraries."""
    library, kernel, none = c_void_p(), c_void_p(), c_void_p()
    load = getattr(runtime, "cudaLibraryLoadData", None)
    if load is None or load(byref(library), c_char_p(SPIN), none, none, 0, none, none, 0) != 0:
        return None
    found = runtime.cudaLibraryGetKernel(byref(kernel), library, b"sim_spin")
    return kernel if found == 0 else None


def main(library: str, rounds: int, ways: list[str]) -> None:
    calls = Calls(library)
    if ways != ["plain"]:
        leave()
    spent: dict[str, dict[str, list[Any]]] = defaultdict(lambda: defaultdict(list))
    order = random.Random(1)
    for _ in range(rounds):
        order.shuffle(ways)
        for way in ways:
            with recorded(way):
                for name in calls.timed:
                    spent[name][way].append(calls.time(name))
                spent["queued kernel"][way].append((calls.queued_ns(),) * 2)
            time.sleep(0.005)
    say(
        cpu_ns={
            name: {way: [r[0] for r in rows] for way, rows in each.items()}
            for name, each in spent.items()
        },
        wall_ns={
            name: {way: [r[1] for r in rows] for way, rows in each.items()}
            for name, each in spent.items()
        },
    )


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3:])
