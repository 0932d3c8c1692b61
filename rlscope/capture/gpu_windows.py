"""GPU work in windows of whole iterations, chosen at random (rls-prof --gpu-share).

    iteration   1 2 3 4 | 5 6 7 8 9 10 11 12 | 13 14 15 16 17 18 19 20 | ...
    GPU work    x x x x | -  - x x -  -  -  - |  -  -  -  -  x  x  -  - |
                whole     a cycle               a cycle

CUPTI's activity records slow down a program that launches much, and what they leave behind does the
same until CUPTI is ended. So CUPTI is attached for a window and ended after it. In each cycle one
window lies at a random place, so that iterations of all kinds meet windows, whatever their period.

Updates of a network may be so rare that windows seldom meet one, and take most of the GPU's time.
So every other window, by chance, waits for the next long iteration, for a cycle at most:

    iteration   . . . . . L . . . . . L . . . . . L . . .
    at random       - x x - -
    for a long one                        - - x x - -

`auto` uses windows only where recording all may be dear (gpu_choice.py). It makes cycles so long
that they cost the loop what is allowed. What a window costs is measured here: the time from its
begin until CUPTI is ended, less that of as many iterations of the same cycle without it. The
stretch before was recorded whole: windows cost half of what is allowed until that is made up for.
"""

import contextlib
import os
import random
import time

from rlscope.capture.gpu_choice import ALLOWED, STRETCH_NS, Choice
from rlscope.recorder import runtime

VARIABLE = "RLSCOPE_GPU_SHARE"
WHOLE, AUTO = "100%", "auto"
_LENGTH_VARIABLE = "RLSCOPE_TEST_GPU_WINDOW"
"""Iterations of a window, whatever they take."""
_STRETCH_VARIABLE = "RLSCOPE_TEST_GPU_STRETCH"
"""Seconds for which launches are counted."""

_WINDOW_NS = 250_000_000
"""A window takes as long at least: attaching and ending CUPTI takes some 25 ms."""
_FIRST_SHARE = 0.05
"""The share of the first cycles with auto, when the cost of a window is not known."""
_FEWEST = 3
"""So many windows say what others cost, and what the other iterations launched."""
_LEAST_COST_NS = 20_000_000
"""That a window may be taken for: an estimate of one window is noise."""
_LONG = 4.0
"""An iteration that takes so many times the usual time is a long one (as in gpu_window.sql)."""
_EVEN = 8
"""Distances between long iterations are even if they differ by such a part at most."""
_REMEMBERED = 16
"""Windows whose cost counts for the next."""
_LONGEST_CYCLE_NS = 120_000_000_000
_SEED = 39
_STATE_WHOLE, _STATE_RECORDED, _STATE_OFF = 0, 1, 3

TYPE_CHECKING = False  # the first import of typing costs 5 ms
if TYPE_CHECKING:
    from collections.abc import Generator

    Steps = Generator[None, None, None]


def begin() -> None:
    """From this begin of an iteration on, GPU work of this process is recorded in windows."""
    share = os.environ[VARIABLE]
    length = int(os.environ.get(_LENGTH_VARIABLE, "0"))
    # In tests with windows of a given length, nothing depends on what iterations take.
    windows = Windows(share, length, looks=not length)
    runtime.follow_iterations(windows.boundary)
    windows.boundary()


def _may_begin() -> bool:
    """Another profiler of the process may have CUPTI, or a part of it."""
    return runtime.turn_gpu(True) == _STATE_RECORDED


class Windows:
    """The windows of this process. Iterations are counted by their begins."""

    def __init__(self, share: str, length: int = 0, *, looks: bool = True) -> None:
        """`looks`: for long iterations, where they come at even distances."""
        self._share = 0.0 if share == AUTO else float(share.rstrip("%")) / 100
        self._given_length = length
        self._random = random.Random(_SEED)
        self._costs_ns: list[float] = []
        self._begin_ns = 0.0  # how long the beginning was recorded,
        self._owed_ns = 0.0  # and what is left of its cost, once that is known
        self._looks = looks
        stretch_ns = int(1e9 * float(os.environ.get(_STRETCH_VARIABLE, STRETCH_NS / 1e9)))
        self._choice = Choice(stretch_ns) if share == AUTO and not length else None
        # Iterations, the latest long one's number, and how many it came after the one before.
        self._passed = self._last_long = self._distance = 0
        self._period = 0  # of them; 0: they come at no even distance
        self._late = 0  # iterations by which a cycle was too long
        self._steps = self._record()

    def boundary(self) -> None:
        """An iteration begins. Nothing may be raised into the program."""
        with contextlib.suppress(ValueError):  # another thread is at one
            next(self._steps)

    def _record(self) -> "Steps":
        while not runtime.has_cuda():
            yield
        if runtime.turn_gpu(True) == _STATE_WHOLE:
            runtime.follow_iterations(None)
            while True:  # this boundary may not be the last one
                yield
        while True:
            usual_ns = yield from self._whole()
            yield from self._end_window(Lap(usual_ns))
            while self._choice is None or not self._choice.is_cheap():
                usual_ns = yield from self._cycle(usual_ns)
            while runtime.turn_gpu(True) != _STATE_RECORDED:  # another profiler has CUPTI
                yield

    def _whole(self) -> "Generator[None, None, float]":
        """All is recorded: the beginning, and with auto as long as that is cheap. About how long an
        iteration is at its end."""
        while True:
            begun_ns, passed = time.perf_counter_ns(), 0
            if self._choice is not None:
                self._choice.begin_stretch()
            while passed < (self._given_length or 2) or not self._is_stretch_over(begun_ns):
                yield
                passed += 1
            self._begin_ns = time.perf_counter_ns() - begun_ns
            if self._choice is None or (_may_begin() and self._choice.wants_windows()):
                self._costs_ns, self._owed_ns = [], 0.0
                return self._begin_ns / passed

    def _is_stretch_over(self, begun_ns: int) -> bool:
        if self._choice is not None:
            return self._choice.is_stretch_over()
        return bool(self._given_length) or time.perf_counter_ns() - begun_ns >= _WINDOW_NS

    def _cycle(self, usual_ns: float) -> "Generator[None, None, float]":
        """Usual time of an iteration, before and after."""
        length = self._given_length or max(1, round(_WINDOW_NS / usual_ns))
        cycle = round(self._cycle_ns(length, usual_ns) / usual_ns)
        others = max(1, cycle - length - self._late)
        before = self._place(self._random.randint(0, others), length, cycle)
        self._late = max(0, before - others)
        outside = Lap(usual_ns)
        yield from self._pass(before, outside)
        window = Lap(usual_ns)
        while runtime.turn_gpu(True) != _STATE_RECORDED:  # another profiler has CUPTI
            yield from self._pass(length, outside)
            window = Lap(usual_ns)
        window.switch()
        inside = Lap(usual_ns)
        yield from self._pass(length, inside)
        window.join(inside)
        yield from self._end_window(window)
        after = max(0, others - before - (window.iterations - length))
        yield from self._pass(after, outside)
        if outside.short:
            usual_ns = outside.short_ns / outside.short
            self._remember(window.more_ns(usual_ns), window.short * usual_ns)
            if self._choice is not None and inside.short:
                self._choice.add_window(inside.short_ns / inside.short / usual_ns - 1)
        return usual_ns

    def _remember(self, cost_ns: float, plain_ns: float) -> None:
        """What a window cost that would have taken so long."""
        if not self._costs_ns:
            self._owed_ns = self._begin_ns * cost_ns / (plain_ns + cost_ns)
        self._costs_ns.append(cost_ns)
        del self._costs_ns[:-_REMEMBERED]

    def _cycle_ns(self, length: int, usual_ns: float) -> float:
        if self._share:
            return length * usual_ns / self._share
        if len(self._costs_ns) < _FEWEST:
            return length * usual_ns / _FIRST_SHARE
        cost_ns = max(_LEAST_COST_NS, sum(self._costs_ns) / len(self._costs_ns))
        allowed = ALLOWED
        if self._owed_ns > 0:
            self._owed_ns -= cost_ns
            allowed /= 2
        return min(_LONGEST_CYCLE_NS, cost_ns / allowed)

    def _place(self, before: int, length: int, cycle: int) -> int:
        """Iterations before the window: so many, or, for every other window, a few more, so that it
        holds a long iteration, where windows seldom do."""
        if self._period <= length or self._random.random() < 0.5:
            return before
        next_long = self._last_long + self._period - self._passed
        while next_long < before:
            next_long += self._period
        if next_long - before > cycle:
            return before
        # Attaching CUPTI makes the first one of a window longer: it is left out where it can be.
        return max(before, next_long - self._random.randint(min(1, length - 1), length - 1))

    def _pass(self, iterations: int, lap: "Lap") -> "Steps":
        lap.begin()
        for _ in range(iterations):
            yield from self._step(lap)

    def _step(self, lap: "Lap") -> "Steps":
        """One iteration passes."""
        yield
        self._passed += 1
        if lap.add() and self._looks:
            self._notice_long()

    def _notice_long(self) -> None:
        """One that a neighbour of the machine stopped is long, too, at no even distance."""
        distance = self._passed - self._last_long
        is_even = abs(distance - self._distance) <= distance // _EVEN
        self._period = distance if is_even else 0
        self._last_long, self._distance = self._passed, distance

    def _end_window(self, lap: "Lap") -> "Steps":
        """Until CUPTI is ended, which the program's next wait for the GPU does."""
        while runtime.turn_gpu(False) not in (_STATE_WHOLE, _STATE_OFF):
            yield
            self._passed += 1
            lap.add(may_be_long=False)  # ending CUPTI is a part of it
        lap.switch()


class Lap:
    """Iterations that follow each other, and how long they took."""

    def __init__(self, usual_ns: float) -> None:
        self._longer_ns = _LONG * usual_ns
        self._at_ns = time.perf_counter_ns()
        self.short = self.short_ns = self.long_ns = self.iterations = 0

    def begin(self) -> None:
        """The time since then is no part of them."""
        self._since_ns()

    def add(self, *, may_be_long: bool = True) -> bool:
        """One has passed. Whether it was a long one."""
        self.iterations += 1
        took_ns = self._since_ns()
        if may_be_long and took_ns > self._longer_ns:
            self.long_ns += took_ns
            return True
        self.short += 1
        self.short_ns += took_ns
        return False

    def switch(self) -> None:
        """CUPTI was attached or ended since: that is a part of their time."""
        self.short_ns += self._since_ns()

    def join(self, other: "Lap") -> None:
        """Its iterations, which are the latest, belong to this one, too."""
        self.iterations += other.iterations
        self.short += other.short
        self.short_ns += other.short_ns
        self.long_ns += other.long_ns
        self._at_ns = other._at_ns

    def _since_ns(self) -> int:
        before_ns, self._at_ns = self._at_ns, time.perf_counter_ns()
        return self._at_ns - before_ns

    def more_ns(self, usual_ns: float) -> float:
        """What they took more than others that take so long: the long ones as much as the short
        ones, for their time."""
        more_ns = self.short_ns - self.short * usual_ns
        return more_ns * (1 + self.long_ns / max(1, self.short_ns))
