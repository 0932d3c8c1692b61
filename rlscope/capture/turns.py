"""Iterations with recording and without, in turns at random: what `rlscope calibrate` compares.

    iteration:   1  2  3  |  4  5  6  |  7  8  9  |  10  11  12  |
    mode:                  bare        recorded    recorded       bare
    measured:              -  x  x     -  x  x     -   x   x      -

Blocks of equal length make a round, one of each mode, in random order. The first iterations of a
block are not measured: they meet what a switch leaves in the caches. While nothing is recorded, the
pointers to native functions are the originals too, and CUPTI makes neither callbacks nor activity
records. A switch lies between two readings of the clock, in no block.

Where CUDA is attached, blocks of three more modes tell what CUPTI costs from what else does:

                 other records   callbacks   activity records
    bare               -             -               -
    cpu                x             -               -
    calls              x             x               -
    work               x             -               x
    recorded           x             x               x

`rlscope validate` has blocks of another mode, in which annotations run a stopwatch (stopwatch.py).
"""

import atexit
import contextlib
import os
import random
import time

from rlscope.capture.stopwatch import Stopwatch
from rlscope.recorder import runtime
from rlscope.rundir import turns_file

VARIABLE = "RLSCOPE_TURNS"
"""`bare,recorded:PATH`: the modes of a round, and the file for the blocks of all processes."""

_IGNORED = 3
"""Iterations before the first round: compilers, allocators and caches settle."""
_BLOCK_NS = 5_000_000
"""CPU time that the measured part of a block should take."""

TYPE_CHECKING = False  # the first import of typing costs 5 ms
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def variables(path: str, modes: "Sequence[str]") -> dict[str, str]:
    """What tells a program's processes to begin(). Those of CUDA count where it is attached. GPU
    work is recorded by blocks and not in windows, whatever the environment says."""
    return {VARIABLE: f"{','.join(modes)}:{path}", "RLSCOPE_GPU_SHARE": "100%"}


def begin() -> None:
    """From now on this process records in turns, from its first iterations on."""
    modes, _, path = os.environ[VARIABLE].partition(":")
    runtime.hold(True)
    taken = Turns(path, modes.split(","))
    runtime.follow_iterations(taken.boundary)
    atexit.register(taken.end)


class Turns:
    """The blocks of this process."""

    def __init__(self, path: str, modes: "Sequence[str]") -> None:
        self._path = path
        self._modes = modes
        self._stopwatch = Stopwatch(path) if turns_file.TIMED in modes else None
        self._begin()

    def _begin(self) -> None:
        self._process = os.getpid()
        self._choose = random.Random(self._process)
        self._mode = turns_file.BARE
        self._has_cuda = False
        self._counts = False
        self._begun = False
        self._order: list[str] = []
        self._round: list[turns_file.Block] = []
        self._number = 0
        self._length = 1
        self._iterations = self._left = _IGNORED
        self._at_end: Callable[[int], None] = self._begin_block
        self._cpu_ns = 0

    def boundary(self) -> None:
        """An iteration has begun, and the one before has ended."""
        cpu_ns = time.process_time_ns()
        if os.getpid() != self._process:  # a fork child, which may be recorded now
            self._begin()
            self._switch(turns_file.BARE)
        if not self._counts:
            self._counts = True
            with contextlib.suppress(OSError):
                turns_file.begin(self._path)
        self._left -= 1
        if self._left < 0:
            self._at_end(cpu_ns - self._cpu_ns)
            self._cpu_ns = time.process_time_ns()

    def end(self) -> None:
        """The process exits in a block. The trace has its iterations, so the file has them, too."""
        if os.getpid() != self._process or not self._begun:
            return
        self._iterations -= self._left + 1
        if self._iterations > 0:
            self._write(0, measured=False)

    def _begin_block(self, cpu_ns: int) -> None:
        if not self._begun:
            runtime.intercept_remember()
            self._begun = True
        if not self._order:
            self._begin_round()
        self._switch(self._order.pop())
        self._run(max(1, self._length // 4), self._begin_measured)

    def _begin_measured(self, cpu_ns: int) -> None:
        self._write(cpu_ns, measured=False)
        self._run(self._length, self._end_block)
        if self._stopwatch is not None:
            self._stopwatch.begin()

    def _end_block(self, cpu_ns: int) -> None:
        if self._stopwatch is not None:
            self._stopwatch.end()
        self._round.append(self._write(cpu_ns, measured=True))
        self._begin_block(cpu_ns)

    def _run(self, iterations: int, then: "Callable[[int], None]") -> None:
        self._iterations, self._left, self._at_end = iterations, iterations - 1, then
        self._windows, self._has_cuda = runtime.windows(), runtime.has_cuda()

    def _begin_round(self) -> None:
        """The work of an iteration may have changed, so the length follows the last round's."""
        if self._round:
            spent_ns = sum(block.cpu_ns for block in self._round)
            iterations = sum(block.iterations for block in self._round)
            self._length = max(1, round(_BLOCK_NS * iterations / max(1, spent_ns)))
        self._round = []
        self._number += 1
        has_cuda = runtime.has_cuda()
        self._order = [mode for mode in self._modes if has_cuda or mode not in turns_file.OF_CUDA]
        self._choose.shuffle(self._order)

    def _switch(self, mode: str) -> None:
        """Also to what is so already: each block comes after as much work of ours."""
        self._mode = mode
        recorded = mode not in turns_file.NOT_RECORDED
        runtime.intercept_switch(recorded)
        if runtime.has_cuda():
            runtime.hold(True)  # as switch_cuda() wants it
            runtime.switch_cuda(
                mode in turns_file.WITH_CALLS, mode in (turns_file.RECORDED, turns_file.WORK)
            )
        if self._stopwatch is not None:
            self._stopwatch.switch(mode)
        runtime.hold(not recorded)

    def _write(self, cpu_ns: int, *, measured: bool) -> turns_file.Block:
        block = turns_file.Block(
            self._process,
            self._number,
            self._mode,
            measured,
            self._iterations,
            cpu_ns,
        )
        # The program may have windows of its own, and CUDA may have begun.
        recorded = self._mode not in turns_file.NOT_RECORDED
        whole = (
            runtime.is_recording() == recorded
            and runtime.windows() == self._windows
            and runtime.has_cuda() == self._has_cuda
        )
        if self._mode == turns_file.TIMED:
            whole = whole and runtime.state() == "timed"
        if whole:
            with contextlib.suppress(OSError):
                turns_file.append(self._path, block)
                if measured and self._stopwatch is not None:
                    self._stopwatch.write(block)
        return block
