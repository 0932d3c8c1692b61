"""Waits for a GPU, and what a loop would win without them.

A wait is worth less than it lasts: without it, the loop goes on, and the next call that waits does
so for this work, too. Only as far as the GPU is idle in between, its work moves there.

```
 CPU   launch |--- wait ---| python   | launch |-- wait --|
 GPU          |== work ====|          idle     |== work ==|
 won                        <-- at most this -->
```
"""

from __future__ import annotations

import re
import statistics
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

from rlscope import amounts
from rlscope.analysis import finding_verdicts, gpu_windows, prices, statement
from rlscope.analysis.prices import Price

if TYPE_CHECKING:
    from rlscope.analysis.critical_loop import Loop
    from rlscope.relations.trace import Trace

Row = Mapping[str, Any]
# Iterations in the middle of the loop, or of some windows, that are read call by call.
_ITERATIONS = 50
_WINDOWS = 10
_WAITS = "findings/gpu_wait"
# Reasons of relation `idle` with which a call waits for the GPU.
_WAITING = ("synchronisation", "copy")


@dataclass(frozen=True)
class GpuState:
    """Time of the loop in one operation for one reason of relation `idle`."""

    operation: str
    reason: str
    busy_ns: int
    """In which GPU work of the process ran."""
    idle_ns: int
    """In which none did."""

    @property
    def duration_ns(self) -> int:
        return self.busy_ns + self.idle_ns


def gpu_states(trace: Trace, loop: Loop) -> list[GpuState]:
    """The largest first. None: the loop uses no GPU, or its work was not recorded."""
    rows = statement.run(trace, "findings/gpu_state", process_id=loop.process_id).to_dicts()
    return [GpuState(**row) for row in rows]


def seen_part(trace: Trace, loop: Loop) -> tuple[str, float]:
    """If GPU work of the loop was recorded in windows: a sentence behind the evidence, and how far
    GPU times may be off, as a part of them. Else nothing."""
    part = gpu_windows.part_of(trace, loop.process_id)
    if part is None:
        return "", 0.0
    seen = amounts.share(part.seen, 1)
    return f" GPU work was seen in {seen} of the iterations, and stands for all.", part.uncertainty


def hidden(trace: Trace, loop: Loop, operations: Container[str], reason: str) -> Price:
    """What the loop wins if calls in some operations, with some reason, no longer wait for the GPU.
    Other calls still do, and then wait for what is left. In a trace with so many calls that they
    are not read one by one, it is anything from nothing to all of the waits."""
    states = gpu_states(trace, loop)
    part = _part(states, operations, reason)
    ((intervals,),) = statement.run(trace, "findings/interval_count")
    if not finding_verdicts.can_calls_be_read(intervals):
        waits_ns = sum(
            state.busy_ns
            for state in states
            if state.operation in operations and state.reason in _WAITING
        )
        return Price(waits_ns / 2, 0, waits_ns).times(part)
    asked = {"process_id": loop.process_id, "iterations": _ITERATIONS, "windows": _WINDOWS}
    won = _of_stretches([*_won(statement.run(trace, _WAITS, **asked).to_dicts(), operations)])
    if not won:
        return Price(0, 0, 0)
    each = {
        "iterations": len(won),
        "mean_ns": statistics.fmean(won),
        "deviation_ns": statistics.stdev(won) if len(won) > 1 else 0.0,
    }
    return prices.of_spread(each).times(max(loop.iterations, 1) / len(won) * part)


def _part(states: Iterable[GpuState], operations: Container[str], reason: str) -> float:
    """Which part of the waits in the operations has this reason: calls are not told apart by it."""
    waited = dict.fromkeys(_WAITING, 0)
    for state in states:
        if state.operation in operations and state.reason in waited:
            waited[state.reason] += state.busy_ns
    return waited[reason] / max(sum(waited.values()), 1)


def cuda_lines(
    trace: Trace, loop: Loop, *, operation: str, pattern: re.Pattern[str]
) -> list[dict[str, Any]]:
    """Lines of the program's own that call CUDA in an operation: those first whose text has a
    pattern, and of these the ones that take longest."""
    rows = statement.run(
        trace, "findings/cuda_line", process_id=loop.process_id, operation=operation
    ).to_dicts()
    return sorted(rows, key=lambda row: not pattern.search(row["text"] or ""))


def _of_stretches(won: Sequence[tuple[int, int]]) -> Sequence[float]:
    """What an iteration wins. Those of one window are alike: it is one of them, by their mean."""
    stretches: dict[int, list[int]] = {}
    for stretch, won_ns in won:
        stretches.setdefault(stretch, []).append(won_ns)
    if len(stretches) == 1:
        return [won_ns for _, won_ns in won]
    return [statistics.fmean(each) for each in stretches.values()]


def _won(rows: Iterable[Row], operations: Container[str]) -> Iterable[tuple[int, int]]:
    """For each iteration: its stretch, and what it wins. Work that is no longer waited for is left
    to the next iteration, too, if there is one in the stretch."""
    left_ns, last = 0, None
    for (stretch, _), waits in groupby(rows, key=lambda row: (row["stretch"], row["iteration"])):
        won_ns, left_ns, last = 0, left_ns if stretch == last else 0, stretch
        for wait in waits:
            # A wait that stays takes all that is left; one that goes leaves its own work, too.
            left_ns = left_ns + wait["waited_ns"] if wait["operation"] in operations else 0
            moved_ns = min(left_ns, wait["idle_ns"])
            won_ns += moved_ns
            left_ns -= moved_ns
        yield stretch, won_ns
