"""What rlscope's own capture costs a loop: its modes by turns, under rls-prof.

    rls-prof ... -- python recording_turns.py LOOP SECONDS FILE LIMIT

    before   CUPTI was never attached, and nothing is recorded
    off      CUPTI is attached, and does nothing: no callbacks, no activity records
    all      everything is recorded
    calls    all but the records of GPU work: CUPTI's callbacks alone
    work     all but CUDA calls: CUPTI's activity records alone
    cpu      all but CUDA: native calls and annotations
    paused   CUPTI is left to others (as for torch.profiler), and nothing is recorded

LIMIT: seconds after which the process is ended in any case. Blocks go to FILE (blocks.py).
"""

from __future__ import annotations

import sys
from pathlib import Path

import loops
from blocks import BEFORE, Blocks, end_after
from driver import say
from waiting import wait_for_gpu

from rlscope.recorder import runtime

RECORDED = {"all": (True, True), "calls": (True, False), "work": (False, True), "cpu": (False,) * 2}
"""Whether CUPTI makes callbacks, and activity records."""
PAUSED = "paused"


class Recording:
    """The mode in which this process is recorded."""

    def __init__(self) -> None:
        self._mode = BEFORE
        runtime.hold(True)
        runtime.pause_cuda()  # CUPTI is attached when the pause ends, and not before

    def switch(self, mode: str) -> None:
        runtime.hold(True)
        runtime.intercept_switch(mode in RECORDED)
        runtime.pause_cuda() if mode == PAUSED else runtime.resume_cuda()
        self._mode = mode
        self.read()
        runtime.hold(mode not in RECORDED)

    def read(self) -> dict[str, int]:
        """Has CUPTI's finished records read: switching to what is so already does this alone."""
        if self._mode not in (BEFORE, PAUSED):
            if not runtime.switch_cuda(*RECORDED.get(self._mode, (False, False))):
                raise SystemExit("CUPTI is not rlscope's in this process")
        return {}


def main(name: str, seconds: float, file: Path, limit: float) -> None:
    end_after(limit)
    recording = Recording()
    blocks = Blocks(loops.make(name), wait_for_gpu, file, seconds, recording.read)
    runtime.intercept_remember()
    runtime.intercept_switch(False)
    blocks.before()
    blocks.take_turns([*RECORDED, PAUSED], recording.switch)
    say(loop=name, iterations=blocks.iterations)


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]), Path(sys.argv[3]), float(sys.argv[4]))
