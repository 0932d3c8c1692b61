"""The CUDA driver by ctypes, as far as the programs here need it, and one kernel: it spins."""

from __future__ import annotations

import ctypes
import json
import os
from ctypes import byref, c_char_p, c_float, c_int, c_size_t, c_uint64, c_void_p
from typing import Any

# Lasts its argument, nanoseconds of the GPU's own clock. The simulated CUDA knows it by its name.
SPIN = b"""
.version 7.0
.target sm_75
.address_size 64
.visible .entry sim_spin(.param .u64 duration_ns) {
  .reg .u64 %begin, %now, %passed, %wanted;
  .reg .pred %less;
  ld.param.u64 %wanted, [duration_ns];
  mov.u64 %begin, %globaltimer;
again:
  mov.u64 %now, %globaltimer;
  sub.u64 %passed, %now, %begin;
  setp.lt.u64 %less, %passed, %wanted;
  @%less bra again;
  ret;
}
"""
NON_BLOCKING = 1
TIMING_OFF = 2


class Driver:
    """Device 0 with its primary context, current on the thread that made this."""

    def __init__(self) -> None:
        self._cuda = ctypes.CDLL("libcuda.so.1")
        self.call("cuInit", 0)
        self._begin()

    def _begin(self) -> None:
        self._context = c_void_p()
        self.call("cuDevicePrimaryCtxRetain", byref(self._context), 0)
        self.enter_thread()
        module, self._spin = c_void_p(), c_void_p()
        self.call("cuModuleLoadData", byref(module), c_char_p(SPIN))
        self.call("cuModuleGetFunction", byref(self._spin), module, b"sim_spin")

    def call(self, name: str, *arguments: Any) -> None:
        """Raises RuntimeError when the driver does not answer 0."""
        status = getattr(self._cuda, name)(*arguments)
        if status != 0:
            raise RuntimeError(f"{name} answered {status}")

    def function(self, name: str) -> Any:
        return getattr(self._cuda, name)

    def enter_thread(self) -> None:
        self.call("cuCtxSetCurrent", self._context)

    def reset(self) -> None:
        """Destroys the context with all that is in it, and makes everything anew."""
        self.call("cuDevicePrimaryCtxReset_v2", 0)
        self._begin()

    def stream(self) -> c_void_p:
        made = c_void_p()
        self.call("cuStreamCreate", byref(made), NON_BLOCKING)
        return made

    def event(self, *, timed: bool = False) -> c_void_p:
        made = c_void_p()
        self.call("cuEventCreate", byref(made), 0 if timed else TIMING_OFF)
        return made

    def elapsed_ns(self, begin: c_void_p, end: c_void_p) -> float:
        """Between two timed events that have happened, by the GPU's clock."""
        passed_ms = c_float()
        self.call("cuEventElapsedTime", byref(passed_ms), begin, end)
        return passed_ms.value * 1e6

    def device_memory(self, size: int) -> c_uint64:
        made = c_uint64()
        self.call("cuMemAlloc_v2", byref(made), c_size_t(size))
        return made

    def pinned_memory(self, size: int) -> c_void_p:
        made = c_void_p()
        self.call("cuMemHostAlloc", byref(made), c_size_t(size), 0)
        return made

    def spin_arguments(self, duration_ns: int) -> tuple[Any, ...]:
        """Arguments of cuLaunchKernel up to the stream, and those behind it; keep both alive."""
        value = c_uint64(duration_ns)
        pointers = (c_void_p * 1)(ctypes.addressof(value))
        shape = [c_int(each) for each in (1, 1, 1, 32, 1, 1, 0)]
        return (self._spin, *shape), (pointers, None, value)

    def spin(self, stream: c_void_p, duration_ns: int) -> None:
        front, (pointers, extra, _value) = self.spin_arguments(duration_ns)
        self.call("cuLaunchKernel", *front, stream, pointers, extra)

    def graph(self, kernels: int, duration_ns: int) -> c_void_p:
        """An executable graph of so many kernels, one after the other."""
        stream, graph, executable = self.stream(), c_void_p(), c_void_p()
        self.call("cuStreamBeginCapture_v2", stream, c_int(0))
        for _ in range(kernels):
            self.spin(stream, duration_ns)
        self.call("cuStreamEndCapture", stream, byref(graph))
        self.call("cuGraphInstantiateWithFlags", byref(executable), graph, c_uint64(0))
        return executable


def say(**facts: Any) -> None:
    """What the program did, for the step that compares it with the trace."""
    print(json.dumps({"pid": os.getpid(), **facts}), flush=True)
