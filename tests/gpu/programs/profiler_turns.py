"""What torch.profiler costs a loop: its modes by turns, in a process without rlscope.

    python profiler_turns.py LOOP SECONDS FILE LIMIT

    before     the profiler was never used
    off        it was used before, and is not now
    cpu+cuda   it records what PyTorch does and what the GPU does
    cuda       it records what the GPU does

LIMIT: seconds after which the process is ended in any case. Blocks go to FILE (blocks.py). What it
does with its records when it stops is no part of a block: it is in the switch to the next one.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import loops
import torch
from blocks import OFF, Blocks, end_after
from driver import say
from loops import Iterate
from torch.autograd import DeviceType
from torch.profiler import ProfilerActivity
from waiting import wait_for_gpu

COUNTED = 3
"""Iterations whose kernels are counted, when all blocks have been measured."""
MODES = {
    "cpu+cuda": [ProfilerActivity.CPU, ProfilerActivity.CUDA],
    "cuda": [ProfilerActivity.CUDA],
}


class Profiler:
    """The profiler that runs now, if any."""

    def __init__(self) -> None:
        self._running: Any = None

    def switch(self, mode: str) -> None:
        if self._running is not None:
            self._running.stop()
        self._running = None if mode == OFF else torch.profiler.profile(activities=MODES[mode])
        if self._running is not None:
            self._running.start()


def launches(iterate: Iterate) -> float:
    """Kernels of an iteration, as the profiler counts them."""
    with torch.profiler.profile(activities=MODES["cuda"]) as profile:
        for _ in range(COUNTED):
            iterate()
        wait_for_gpu()
    on_gpu = [each for each in profile.events() if each.device_type == DeviceType.CUDA]
    return sum(not each.name.startswith(("Memcpy", "Memset")) for each in on_gpu) / COUNTED


def main(name: str, seconds: float, file: Path, limit: float) -> None:
    end_after(limit)
    iterate = loops.make(name)
    blocks = Blocks(iterate, wait_for_gpu, file, seconds)
    blocks.before()
    blocks.take_turns(list(MODES), Profiler().switch)
    say(loop=name, iterations=blocks.iterations, launches=launches(iterate))


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]), Path(sys.argv[3]), float(sys.argv[4]))
