"""The programs' own clock, which stands still while the main thread waits for a CPU.

A machine with other work then gives the times of an idle one, but for shared caches. Imports are no
part of a training loop, so what PyTorch imports at the first step of an optimizer is imported
before the clock is read.
"""

import sys
import time
from collections.abc import Callable
from pathlib import Path

_SCHEDULER = Path("/proc/self/schedstat")


def now() -> float:
    """Seconds, from any time on."""
    if "torch" in sys.modules:
        import torch._dynamo  # noqa: F401
    _, waited_ns, _ = _SCHEDULER.read_text().split()
    return time.perf_counter() - int(waited_ns) / 1e9


def time_gpu(run: Callable[[int], object], steps: int) -> None:
    """Prints how long run(steps) takes, with all of its GPU work, after a few steps to warm up."""
    import torch

    run(5)
    torch.cuda.synchronize()
    began = now()
    run(steps)
    torch.cuda.synchronize()
    print(f"loop {now() - began:.6f}")
