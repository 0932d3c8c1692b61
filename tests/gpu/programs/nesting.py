"""Whether CUPTI calls back for driver calls inside calls of the CUDA runtime library.

Says how many runtime calls there were, how many driver calls inside them, and how many of those
have the runtime call's correlation id.
"""

from __future__ import annotations

import ctypes
import importlib
import importlib.util
from collections.abc import Callable
from ctypes import CFUNCTYPE, byref, c_int, c_size_t, c_uint32, c_void_p
from typing import Any

from driver import Driver, say
from raw_records import load_cupti

from rlscope.doctor.probe_cuda import load

DRIVER, RUNTIME = 1, 2  # domains
ENTER = 0
CORRELATION = 64  # offset in the data of a callback
SONAMES = ("libcudart.so.13", "libcudart.so.12")


class Nesting:
    """Counts callbacks; the program has one thread that calls CUDA."""

    def __init__(self) -> None:
        self.runtime = self.inside = self.same = 0
        self._open: list[tuple[int, int]] = []
        self._callback = CFUNCTYPE(None, c_void_p, c_uint32, c_uint32, c_void_p)(self._on_call)

    def watch(self, cupti: ctypes.CDLL, work: Callable[[], None]) -> None:
        subscriber = c_void_p()
        for status in (
            cupti.cuptiSubscribe(byref(subscriber), self._callback, None),
            cupti.cuptiEnableDomain(1, subscriber, DRIVER),
            cupti.cuptiEnableDomain(1, subscriber, RUNTIME),
        ):
            if status != 0:
                raise SystemExit(f"CUPTI answered {status}")
        work()
        cupti.cuptiUnsubscribe(subscriber)

    def _on_call(self, _user: Any, domain: int, _id: int, data: int) -> None:
        if domain not in (DRIVER, RUNTIME):
            return
        if c_int.from_address(data).value != ENTER:
            self._open.pop()
            return
        correlation = c_uint32.from_address(data + CORRELATION).value
        self.runtime += domain == RUNTIME
        if domain == DRIVER and self._open and self._open[-1][0] == RUNTIME:
            self.inside += 1
            self.same += correlation == self._open[-1][1]
        self._open.append((domain, correlation))


def load_runtime() -> ctypes.CDLL | None:
    """The loader's, else the one that comes with PyTorch."""
    runtime = first_loaded()
    if runtime is None and importlib.util.find_spec("torch") is not None:
        importlib.import_module("torch")
        runtime = first_loaded()
    return runtime


def first_loaded() -> ctypes.CDLL | None:
    return next((found for found, _ in map(load, SONAMES) if found is not None), None)


def work(runtime: ctypes.CDLL) -> None:
    memory, host = c_void_p(), (ctypes.c_char * 4096)()
    runtime.cudaMalloc(byref(memory), c_size_t(4096))
    for _ in range(100):
        runtime.cudaMemsetAsync(memory, 0, c_size_t(4096), c_void_p())
        runtime.cudaMemcpyAsync(memory, host, c_size_t(4096), 1, c_void_p())
    runtime.cudaDeviceSynchronize()


def main() -> None:
    runtime = load_runtime()
    if runtime is None:
        say(runtime=0)
        return
    Driver()
    nesting = Nesting()
    nesting.watch(load_cupti(), lambda: work(runtime))
    say(runtime=nesting.runtime, driver_inside=nesting.inside, same_correlation=nesting.same)


if __name__ == "__main__":
    main()
