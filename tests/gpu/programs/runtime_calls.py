"""Sets and copies by the CUDA runtime library, called by ctypes; prints the number of calls."""

from __future__ import annotations

import ctypes
import importlib
import importlib.util
from ctypes import byref, c_size_t, c_void_p

from driver import Driver, say

from rlscope.doctor.probe_cuda import load

SONAMES = ("libcudart.so.13", "libcudart.so.12")
ROUNDS, SIZE = 100, 4096


def load_runtime() -> ctypes.CDLL | None:
    """The loader's, else the one that comes with PyTorch."""
    runtime = first_loaded()
    if runtime is None and importlib.util.find_spec("torch") is not None:
        importlib.import_module("torch")
        runtime = first_loaded()
    return runtime


def first_loaded() -> ctypes.CDLL | None:
    return next((found for found, _ in map(load, SONAMES) if found is not None), None)


def work(runtime: ctypes.CDLL) -> int:
    memory, host = c_void_p(), (ctypes.c_char * SIZE)()
    runtime.cudaMalloc(byref(memory), c_size_t(SIZE))
    for _ in range(ROUNDS):
        runtime.cudaMemsetAsync(memory, 0, c_size_t(SIZE), c_void_p())
        runtime.cudaMemcpyAsync(memory, host, c_size_t(SIZE), 1, c_void_p())
    runtime.cudaDeviceSynchronize()
    return 2 * ROUNDS + 2


def main() -> None:
    runtime = load_runtime()
    if runtime is None:
        say(calls=0)
        return
    Driver()
    say(calls=work(runtime))


if __name__ == "__main__":
    main()
