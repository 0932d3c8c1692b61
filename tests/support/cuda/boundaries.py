"""Begins and ends of recorded CUDA calls beside those of the truth, however busy the machine is.

The simulated CUDA reads the clock before and after each of CUPTI's callbacks, in which the recorder
reads its own:

    enter_ns [enter callback] start_ns    the call's body    end_ns [exit callback] exit_ns
                    ^ recorded begin                                ^ recorded end

Nothing can delay a reading out of the two that it lies between: a boundary outside of them is wrong
on any machine, with any load. Between them it is within 1 us of the truth's own (start_ns, end_ns),
unless the thread lost the CPU in between. When it did, the kernel says so (enter_switched,
exit_switched): those boundaries are excused, be they many. But of no function may half of the
begins or of the ends be late: that is no accident. The first call of a thread does not count there:
the recorder gives the thread its ring, and others may be at it.

What the kernel does not count is an interrupt, or a hypervisor that takes the CPU away. Callback
and readings take 0.1 us, so that one in a thousand boundaries would meet them only where they came
ten thousand times a second: more late boundaries than that are the recorder's own doing. That holds
on a calm machine. On a busy one, other programs, those of a neighbouring virtual machine too, empty
the caches while a thread waits or before it is born, and the callback takes 1 to 4 us: seen for up
to 3 % of the boundaries of a program that pauses. So a program's boundaries are checked with room
for those (check_boundaries), and what is late on a calm machine where many can be had and a run can
be repeated (unexplained).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

Row = dict[str, Any]

NS_TOLERATED = 1_000
UNEXPLAINED_SHARE = 0.001
UNEXPLAINED_ANYWAY = 3  # interrupts in a short program
COLD_NS = 10_000  # what empty caches can explain, amply
COLD_SHARE = 0.05
ENOUGH_TO_COMPARE = 8  # boundaries of one function


@dataclass(frozen=True)
class Boundary:
    """One end of a call: where it was recorded, where it was, and between which readings."""

    function: str
    side: str
    recorded_ns: int
    truth_ns: int
    earliest_ns: int
    latest_ns: int
    switched: bool
    is_first: bool = False
    """The begin of its thread's first call."""

    def is_inside(self) -> bool:
        return self.earliest_ns - NS_TOLERATED <= self.recorded_ns <= self.latest_ns + NS_TOLERATED

    def is_late(self, tolerated_ns: int = NS_TOLERATED) -> bool:
        return abs(self.recorded_ns - self.truth_ns) > tolerated_ns


def boundaries(recorded: dict[int, Row], truth: dict[int, Row]) -> Iterator[Boundary]:
    """Both ends of each call, by correlation id; every call of the truth must be recorded."""
    firsts: dict[int, int] = {}
    for real in truth.values():
        firsts[real["tid"]] = min(real["enter_ns"], firsts.get(real["tid"], real["enter_ns"]))
    for correlation, real in sorted(truth.items(), key=lambda item: item[1]["end_ns"]):
        call, name = recorded[correlation], real["name"]
        begin = real["enter_ns"], real["start_ns"], real["enter_switched"]
        end = real["end_ns"], real["exit_ns"], real["exit_switched"]
        is_first = real["enter_ns"] == firsts[real["tid"]]
        yield Boundary(name, "begin", call["start_ns"], begin[1], *begin, is_first)
        yield Boundary(name, "end", call["end_ns"], end[0], *end)


def check_boundaries(recorded: dict[int, Row], truth: dict[int, Row]) -> None:
    """Every boundary is where it was; see above for what is excused."""
    every = list(boundaries(recorded, truth))
    assert not [boundary for boundary in every if not boundary.is_inside()]
    late = unexplained(every)
    assert len(late) <= UNEXPLAINED_ANYWAY + COLD_SHARE * len(every), late
    very_late = [boundary for boundary in late if boundary.is_late(COLD_NS)]
    assert len(very_late) <= UNEXPLAINED_ANYWAY + UNEXPLAINED_SHARE * len(every), very_late
    assert not _late_as_a_rule(every)


def unexplained(every: list[Boundary]) -> list[Boundary]:
    """Those that are late though their thread had the CPU."""
    return [boundary for boundary in every if boundary.is_late() and not boundary.switched]


def _late_as_a_rule(every: list[Boundary]) -> list[tuple[str, str]]:
    """Functions, and which of their ends, that are late more often than not."""
    late = defaultdict(list)
    for boundary in every:
        if not boundary.is_first:
            late[boundary.function, boundary.side].append(boundary.is_late())
    return [
        key
        for key, each in late.items()
        if len(each) >= ENOUGH_TO_COMPARE and 2 * sum(each) > len(each)
    ]
