"""Kernels of a program that subscribes to CUPTI itself, before CUDA begins."""

from __future__ import annotations

import ctypes
import sys
from ctypes import CFUNCTYPE, byref, c_uint32, c_void_p

from driver import Driver, say

from rlscope.capture.cuda import cupti_folders
from rlscope.doctor.probe_cuda import SONAMES, candidates, load

KERNELS = 100
Callback = CFUNCTYPE(None, c_void_p, c_uint32, c_uint32, c_void_p)


def load_cupti() -> ctypes.CDLL:
    """The first CUPTI that can be loaded."""
    names = (*SONAMES, *candidates(cupti_folders(sys.path), (13, 12, 11)))
    library = next((found for found, _ in map(load, names) if found is not None), None)
    if library is None:
        raise SystemExit("no CUPTI")
    return library


def main() -> None:
    nothing, subscriber = Callback(lambda *_: None), c_void_p()
    status = load_cupti().cuptiSubscribe(byref(subscriber), nothing, None)
    driver = Driver()
    stream = driver.stream()
    for _ in range(KERNELS):
        driver.spin(stream, 1000)
    driver.call("cuStreamSynchronize", stream)
    say(subscribed=status, kernels=KERNELS)


if __name__ == "__main__":
    main()
