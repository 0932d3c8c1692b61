"""Whether all GPU work of a process is recorded, or windows of it (rls-prof --gpu-share auto).

    launches a second   few               many                                 many more
    windows cost                               something    next to nothing
    recorded            all ............ | windows ................ | all ....... | windows ...

Windows leave most of the GPU work out. So they are used only where recording all may take more of
the loop than is allowed. A program may launch much more later, for example when its updates begin,
so it is looked at again and again. Each change is noted in the metadata of the process.
"""

import contextlib
import math
import time

from rlscope import student
from rlscope.recorder import runtime

METADATA = "gpu_share"
ALLOWED = 0.025
"""What recording may take of the loop. Below 3 %, because it is estimated."""
LAUNCH_NS = 14_000
"""The most that recording a launch took of a loop on a GPU (docs/reference/gpu.md)."""
STRETCH_NS = 5_000_000_000
"""Where all is recorded, launches are counted for so long. A shorter program is recorded whole."""

_FEWEST = 6
"""Windows that say whether recording is cheap in this program,"""
_REMEMBERED = 64
"""and how many of the latest do."""
_MORE = 2.0
"""So many times the launches of windows that were cheap may be dear."""

TYPE_CHECKING = False  # the first import of typing costs 5 ms
if TYPE_CHECKING:
    from typing import Any


class Choice:
    """What is recorded of this process, and why. All is, at first."""

    def __init__(self, stretch_ns: int = STRETCH_NS) -> None:
        self._stretch_ns = stretch_ns
        self._noted: list[dict[str, Any]] = []
        self._slower: list[float] = []
        self._most_per_s = ALLOWED / LAUNCH_NS * 1e9
        self.begin_stretch()

    def begin_stretch(self) -> None:
        """Launches are counted from now on."""
        self._at_ns, self._launches = time.perf_counter_ns(), runtime.gpu_launches()

    def is_stretch_over(self) -> bool:
        """Whether they have been counted for long enough."""
        return time.perf_counter_ns() - self._at_ns >= self._stretch_ns

    def wants_windows(self) -> bool:
        """Whether the stretch has so many launches that recording all may cost too much."""
        if not runtime.has_cuda():  # a fork child
            return False
        seconds = (time.perf_counter_ns() - self._at_ns) / 1e9
        per_s = (runtime.gpu_launches() - self._launches) / seconds
        if per_s <= self._most_per_s:
            self._note("all", "few_launches", launches_per_s=round(per_s))
            return False
        if runtime.has_traced_graphs():
            self._note("all", "graphs", launches_per_s=round(per_s))
            return False
        self._note("windows", "many_launches", launches_per_s=round(per_s))
        self._slower, self._per_s = [], per_s
        return True

    def add_window(self, slower: float) -> None:
        """By which part an iteration inside of a window was slower than those beside it."""
        self._slower.append(slower)
        del self._slower[:-_REMEMBERED]

    def is_cheap(self) -> bool:
        """Whether windows show that recording takes less than what is allowed. Then all is recorded
        until there are many more launches."""
        if len(self._slower) < _FEWEST:
            return False
        slower, high = _with_upper_end(self._slower)
        if high >= ALLOWED:
            return False
        self._most_per_s = max(self._most_per_s, _MORE * self._per_s)
        self._note("all", "cheap", slower=round(slower, 4), slower_high=round(high, 4))
        return True

    def _note(self, recorded: str, why: str, **facts: float) -> None:
        """Only changes are."""
        if self._noted and (self._noted[-1]["recorded"], self._noted[-1]["why"]) == (recorded, why):
            return
        if recorded == "all" and why == "few_launches" and self._is_all_noted():
            return  # it still is, for the reason before
        import json  # the program may never need it

        at_ns = time.perf_counter_ns()
        self._noted.append({"at_ns": at_ns, "recorded": recorded, "why": why, **facts})
        with contextlib.suppress(OSError, ValueError):
            runtime.metadata(METADATA, json.dumps(self._noted))

    def _is_all_noted(self) -> bool:
        return bool(self._noted) and self._noted[-1]["recorded"] == "all"


def _with_upper_end(values: "list[float]") -> tuple[float, float]:
    """The mean, and the upper end of its interval of 95 %."""
    mean = math.fsum(values) / len(values)
    variance = math.fsum((each - mean) ** 2 for each in values) / (len(values) - 1)
    return mean, mean + student.half_width(len(values) - 1) * math.sqrt(variance / len(values))
