"""How a loop's process waits until its GPU has done all."""

from __future__ import annotations

import ctypes
import sys


def wait_for_gpu() -> None:
    """By PyTorch where the loop uses it, else by the driver."""
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.cuda.synchronize()
    elif ctypes.CDLL("libcuda.so.1").cuCtxSynchronize() != 0:
        raise RuntimeError("the driver could not wait for the GPU")
