"""Blocks of iterations, measured one after the other in one process, each in some mode.

    off    all    off    calls   off  ...      a mode's block lies between two in which it is off
    |......|......|......|.......|......
     ^ ^^^^ iterations that count: between two readings of the clocks, without work left on the GPU
     iterations that do not count: they meet what the switch left in the caches

Hosts are shared, and their speed drifts by 30 % while a program runs. So modes take turns in random
order, and each block has a reading of a yardstick: a loop of plain Python that is always the same.

Each block is a line of JSON in a file as soon as it has ended. A program that is cut, crashes or
hangs leaves what it has measured.
"""

from __future__ import annotations

import faulthandler
import functools
import itertools
import json
import random
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from loops import Iterate

WARM_UP = 20
BLOCK_SECONDS = 0.15
UNMEASURED = 0.2  # of a block's iterations, before those that count
BEFORE_SHARE = 0.2
LEAST_BEFORE = 4

# The modes of blocks that are not recorded: before the profiler was ever attached, and after that.
BEFORE, OFF = "before", "off"


@dataclass(frozen=True)
class Spent:
    """Time of the process's threads together, and of the clock."""

    cpu_ns: int
    wall_ns: int


@dataclass(frozen=True)
class Block:
    """Iterations of one mode. `cpu_ns` counts until all that the block left has been read."""

    round: int
    mode: str
    after: str
    """The mode of the block before."""
    iterations: int
    cpu_ns: int
    wall_ns: int
    begin_ns: int
    end_ns: int
    yardstick_ns: int
    switch_cpu_ns: int
    """What the switch to this mode took."""
    switch_wall_ns: int
    counts: dict[str, int]
    """What the mode counted in these iterations, if it counts."""


def nothing() -> dict[str, int]:
    return {}


def timed(action: Callable[[], object]) -> Spent:
    cpu, wall = time.process_time_ns(), time.monotonic_ns()
    action()
    return Spent(time.process_time_ns() - cpu, time.monotonic_ns() - wall)


def yardstick_ns() -> int:
    """The shortest of a few: some 0.5 ms of a machine of 2020."""
    return min(timed(lambda: sum(range(20_000))).cpu_ns for _ in range(3))


class Blocks:
    """Measures the blocks of one loop, for so many seconds, into a file.

    Args:
        iterate: one iteration.
        wait: returns when the GPU has done all.
        read: has what the iterations left read, and returns what it counted since the last call.
        block_seconds: what the iterations of a block should take.
    """

    def __init__(
        self,
        iterate: Iterate,
        wait: Callable[[], object],
        file: Path,
        seconds: float,
        read: Callable[[], dict[str, int]] = nothing,
        block_seconds: float = BLOCK_SECONDS,
    ) -> None:
        self._iterate, self._wait, self._read = iterate, wait, read
        self._file, self._end = open(file, "a"), time.monotonic() + seconds
        self._seconds = seconds
        self._last, self._round = "", 0
        self.iterations = self._length(block_seconds)

    def _length(self, block_seconds: float) -> int:
        """Iterations of a block."""
        for _ in range(WARM_UP):
            self._iterate()
        self._wait()
        begin = time.monotonic()
        for _ in range(3):
            self._iterate()
        self._wait()
        return max(2, round(3 * block_seconds / max(time.monotonic() - begin, 1e-6)))

    def measure(self, mode: str, switch: Callable[[], object] = nothing) -> Block:
        """Switches, and measures a block of that mode."""
        switched = timed(switch)
        self._run(max(1, round(UNMEASURED * self.iterations)))
        self._read()
        stick = yardstick_ns()
        cpu, begin = time.process_time_ns(), time.monotonic_ns()
        self._run(self.iterations)
        end = time.monotonic_ns()
        counts = self._read()
        block = Block(
            self._round, mode, self._last, self.iterations, time.process_time_ns() - cpu,
            end - begin, begin, end, stick, switched.cpu_ns, switched.wall_ns, counts,
        )  # fmt: skip
        self._last = mode
        self.write(**asdict(block))
        return block

    def _run(self, iterations: int) -> None:
        for _ in range(iterations):
            self._iterate()
        self._wait()

    def write(self, **row: object) -> None:
        self._file.write(json.dumps(row) + "\n")
        self._file.flush()

    def before(self) -> None:
        """Blocks before the profiler is attached, for their share of the time."""
        end = self._end - (1 - BEFORE_SHARE) * self._seconds
        count = 0
        while count < LEAST_BEFORE or time.monotonic() < end:
            self.measure(BEFORE)
            count += 1

    def take_turns(self, modes: Sequence[str], switch: Callable[[str], object]) -> None:
        """Rounds of all modes in random order, each followed by a block in which it is off again.

        The first block is `off`, too: what attaching takes is the switch to it.
        """
        choose = random.Random(1)
        self.measure(OFF, functools.partial(switch, OFF))
        for order in self.rounds(choose.sample(modes, len(modes)) for _ in itertools.count()):
            for mode in order:
                if self._is_over():
                    return
                self.measure(mode, functools.partial(switch, mode))
                self.measure(OFF, functools.partial(switch, OFF))

    def _is_over(self) -> bool:
        return time.monotonic() > self._end

    def rounds(self, orders: Iterable[Sequence[str]]) -> Iterator[Sequence[str]]:
        """As many rounds as there is time for, if one takes as long as the longest so far."""
        longest, begin = 0.0, time.monotonic()
        for order in orders:
            self._round += 1
            yield order
            now = time.monotonic()
            longest, begin = max(longest, now - begin), now
            if now + longest > self._end:
                return


def end_after(seconds: float) -> None:
    """Ends this process with a stack of each thread, if it hangs in whatever it calls."""
    faulthandler.dump_traceback_later(seconds, exit=True)
