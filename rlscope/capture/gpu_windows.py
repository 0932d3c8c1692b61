"""GPU work in windows of whole iterations, chosen at random (rls-prof --gpu-share).

    iteration   1 2 3 4 | 5 6 7 8 9 10 11 12 | 13 14 15 16 17 18 19 20 | ...
    GPU work    x x x x | -  - x x -  -  -  - |  -  -  -  -  x  x  -  - |
                whole     a cycle               a cycle

CUPTI's activity records slow down a program that launches much, and what they leave behind does the
same until CUPTI is ended. So CUPTI is attached for a window and ended after it. In each cycle one
window lies at a random place, so that iterations of all kinds meet windows, whatever their period.

`auto` makes cycles so long that the windows cost the loop what is allowed. What a window costs is
measured here: the time from its begin until CUPTI is ended, less that of as many iterations of the
same cycle without it.
"""

import contextlib
import os
import random
import time

from rlscope.recorder import runtime

VARIABLE = "RLSCOPE_GPU_SHARE"
WHOLE, AUTO = "100%", "auto"
_LENGTH_VARIABLE = "RLSCOPE_TEST_GPU_WINDOW"
"""Iterations of a window, whatever they take."""

_WINDOW_NS = 250_000_000
"""A window takes as long at least: attaching and ending CUPTI takes some 25 ms."""
_WHOLE_NS = 5_000_000_000
"""With auto, a program that is shorter is recorded whole."""
_ALLOWED = 0.025
"""What windows may cost with auto, as a part of the loop. Below 3 %, because it is estimated."""
_FIRST_SHARE = 0.05
"""The share of the first cycle with auto, when the cost of a window is not known."""
_LEAST_COST_NS = 20_000_000
"""That a window may be taken for: an estimate of one window is noise."""
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
    """From now on GPU work of this process is recorded in windows, where it has iterations."""
    share = os.environ[VARIABLE]
    runtime.follow_iterations(Windows(share, int(os.environ.get(_LENGTH_VARIABLE, "0"))).boundary)


class Windows:
    """The windows of this process. Iterations are counted by their begins."""

    def __init__(self, share: str, length: int = 0) -> None:
        self._share = 0.0 if share == AUTO else float(share.rstrip("%")) / 100
        self._given_length = length
        self._random = random.Random(_SEED)
        self._costs_ns: list[float] = []
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
        usual_ns = yield from self._begin()
        while True:
            usual_ns = yield from self._cycle(usual_ns)

    def _begin(self) -> "Generator[None, None, float]":
        """The beginning is recorded, and says about how long an iteration is."""
        whole_ns = _WINDOW_NS if self._share else _WHOLE_NS
        begun_ns, passed = time.perf_counter_ns(), 0
        while passed < (self._given_length or 2) or (
            not self._given_length and time.perf_counter_ns() - begun_ns < whole_ns
        ):
            yield
            passed += 1
        usual_ns = (time.perf_counter_ns() - begun_ns) / passed
        yield from self._end_window()
        return usual_ns

    def _cycle(self, usual_ns: float) -> "Generator[None, None, float]":
        """Usual time of an iteration, before and after."""
        length = self._given_length or max(1, round(_WINDOW_NS / usual_ns))
        others = max(1, round(self._cycle_ns(length, usual_ns) / usual_ns) - length)
        before = self._random.randint(0, others)
        times_ns = [(yield from self._pass(before))]
        begun_ns = time.perf_counter_ns()
        while runtime.turn_gpu(True) != _STATE_RECORDED:  # another profiler has CUPTI
            yield from self._pass(length)
            begun_ns = time.perf_counter_ns()
        yield from self._pass(length)
        closing = yield from self._end_window()
        spent_ns = time.perf_counter_ns() - begun_ns
        after = max(0, others - before - closing)
        times_ns.append((yield from self._pass(after)))
        if passed := before + after:
            usual_ns = sum(times_ns) / passed
            self._costs_ns.append(spent_ns - (length + closing) * usual_ns)
            del self._costs_ns[:-_REMEMBERED]
        return usual_ns

    def _cycle_ns(self, length: int, usual_ns: float) -> float:
        if self._share:
            return length * usual_ns / self._share
        if not self._costs_ns:
            return length * usual_ns / _FIRST_SHARE
        cost_ns = max(_LEAST_COST_NS, sum(self._costs_ns) / len(self._costs_ns))
        return min(_LONGEST_CYCLE_NS, cost_ns / _ALLOWED)

    def _pass(self, iterations: int) -> "Generator[None, None, int]":
        """Nanoseconds that they took."""
        begun_ns = time.perf_counter_ns()
        for _ in range(iterations):
            yield
        return time.perf_counter_ns() - begun_ns

    def _end_window(self) -> "Generator[None, None, int]":
        """Iterations until CUPTI is ended, which the program's next wait for the GPU does."""
        passed = 0
        while runtime.turn_gpu(False) not in (_STATE_WHOLE, _STATE_OFF):
            yield
            passed += 1
        return passed
