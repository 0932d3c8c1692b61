"""The stopwatch of the annotations, in the blocks of iterations that `rlscope validate` compares.

    block      timed                        recorded
               what the stopwatch says      when it began and ended, to find its iterations
               of each operation            in the trace

The stopwatch's own cost is measured before each block, where the caches are as every block finds
them: a loop of an operation that does nothing, with it and without it, in turns.
"""

import statistics
import time

from rlscope.recorder import runtime
from rlscope.rundir import stopwatch_file, turns_file

TYPE_CHECKING = False  # the first import of typing costs 5 ms
if TYPE_CHECKING:
    from rlscope.rundir.stopwatch_file import TimedBlock
    from rlscope.rundir.turns_file import Block

_ENTRIES = 40
_TURNS = 5
"""Together 0.1 ms a block: a third of what a switch of pointers takes with PyTorch."""
_HALVES = 4
"""Half events of an entry: before and after each of enter and exit."""


class Stopwatch:
    """That of this process."""

    def __init__(self, turns: str) -> None:
        """`turns`: the file of the blocks; what operations took lies beside it."""
        self._path = stopwatch_file.beside(turns)
        self._half_ns = 0.0
        self._start_ns = self._end_ns = 0
        self._taken: tuple[float, list[tuple[bool, tuple[str, ...], float, int, int]]] | None = None

    def switch(self, mode: str) -> None:
        """A block of this mode begins. Keeps the process from recording."""
        runtime.hold(True)
        self._half_ns = half_event_ns()
        runtime.time_operations(mode == turns_file.TIMED)

    def begin(self) -> None:
        """The measured part of the block begins."""
        runtime.take_operation_times()
        self._start_ns = time.monotonic_ns()

    def end(self) -> None:
        """It ends."""
        self._end_ns = time.monotonic_ns()
        self._taken = runtime.take_operation_times()

    def write(self, block: "Block") -> None:
        """Keeps what it says of the block that has ended. Raises OSError."""
        if block.mode == turns_file.RECORDED:
            span = (block.iterations, self._start_ns, self._end_ns)
            entry = stopwatch_file.RecordedBlock(block.process, block.round, *span)
            stopwatch_file.append_recorded(self._path, entry)
        elif block.mode == turns_file.TIMED:
            stopwatch_file.append_timed(self._path, self._timed(block))

    def _timed(self, block: "Block") -> "TimedBlock":
        times = None
        if self._taken is not None:
            times = tuple(stopwatch_file.OperationTime(*each) for each in self._taken[1])
        wall_ns = self._end_ns - self._start_ns
        place = (block.process, block.round)
        return stopwatch_file.TimedBlock(*place, wall_ns, self._half_ns, times)


def half_event_ns() -> float:
    """What the stopwatch adds on one side of an enter or exit, but for its own work, which it
    leaves out itself. The process is held; it is not timed after it."""
    bare, timed = [], []
    for _ in range(_TURNS):
        runtime.time_operations(False)
        bare.append(_loop_ns())
        runtime.time_operations(True)
        loop_ns = _loop_ns()
        taken = runtime.take_operation_times()
        timed.append(loop_ns - (taken[0] if taken is not None else 0.0))
    runtime.time_operations(False)
    return (statistics.median(timed) - statistics.median(bare)) / (_ENTRIES * _HALVES)


def _loop_ns() -> float:
    operation = runtime.operation("rlscope stopwatch")
    start_ns = time.perf_counter_ns()
    for _ in range(_ENTRIES):
        with operation:
            pass
    return time.perf_counter_ns() - start_ns
