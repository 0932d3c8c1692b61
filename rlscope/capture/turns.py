"""Iterations with recording and without, in turns at random: what `rlscope calibrate` compares.

    iteration:   1  2  3  |  4  5  6  |  7  8  9  |  10  11  12  |
    recorded:              no          yes         yes            no
    measured:              -  x  x     -  x  x     -   x   x      -

Two blocks of equal length make a pair, one recorded and one not, in random order. The first
iterations of a block are not measured: they meet what a switch leaves in the caches. While nothing
is recorded, the pointers to native functions are the originals too. A switch lies between two
readings of the clock, in no block.
"""

import contextlib
import os
import random
import time

from rlscope import turns_file
from rlscope.native import runtime

VARIABLE = "RLSCOPE_TURNS"
"""The file that each process with iterations appends its blocks to."""

_IGNORED = 3
"""Iterations before the first pair: compilers, allocators and caches settle."""
_BLOCK_NS = 5_000_000
"""CPU time that the measured part of a block should take."""

TYPE_CHECKING = False  # the first import of typing costs 5 ms
if TYPE_CHECKING:
    from collections.abc import Callable


def begin(path: str) -> None:
    """From now on this process records in turns, from its first iterations on."""
    runtime.hold(True)
    runtime.follow_iterations(Turns(path).boundary)


class Turns:
    """The blocks of this process."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._begin()

    def _begin(self) -> None:
        self._process = os.getpid()
        self._choose = random.Random(self._process)
        self._recorded = self._begun = False
        self._order: list[bool] = []
        self._pair: list[turns_file.Block] = []
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
            self._switch(recorded=False)
        self._left -= 1
        if self._left < 0:
            self._at_end(cpu_ns - self._cpu_ns)
            self._cpu_ns = time.process_time_ns()

    def _begin_block(self, cpu_ns: int) -> None:
        if not self._begun:
            runtime.intercept_remember()
            self._begun = True
        if not self._order:
            self._begin_pair()
        self._switch(recorded=self._order.pop())
        self._run(max(1, self._length // 4), self._begin_measured)

    def _begin_measured(self, cpu_ns: int) -> None:
        self._write(cpu_ns, measured=False)
        self._run(self._length, self._end_block)

    def _end_block(self, cpu_ns: int) -> None:
        self._pair.append(self._write(cpu_ns, measured=True))
        self._begin_block(cpu_ns)

    def _run(self, iterations: int, then: "Callable[[int], None]") -> None:
        self._iterations, self._left, self._at_end = iterations, iterations - 1, then
        self._windows = runtime.windows()

    def _begin_pair(self) -> None:
        """The work of an iteration may have changed, so the length follows the last pair's."""
        if self._pair:
            spent_ns = sum(block.cpu_ns for block in self._pair)
            iterations = sum(block.iterations for block in self._pair)
            self._length = max(1, round(_BLOCK_NS * iterations / max(1, spent_ns)))
        self._pair = []
        self._number += 1
        self._order = [True, False]
        self._choose.shuffle(self._order)

    def _switch(self, *, recorded: bool) -> None:
        """Also to what is so already: each block comes behind as much work of ours."""
        self._recorded = recorded
        runtime.intercept_switch(recorded)
        runtime.hold(not recorded)

    def _write(self, cpu_ns: int, *, measured: bool) -> turns_file.Block:
        block = turns_file.Block(
            self._process,
            self._number,
            self._recorded,
            measured,
            self._iterations,
            cpu_ns,
        )
        # The program may have windows of its own.
        whole = runtime.is_recording() == self._recorded and runtime.windows() == self._windows
        if whole:
            with contextlib.suppress(OSError):
                turns_file.append(self._path, block)
        return block
