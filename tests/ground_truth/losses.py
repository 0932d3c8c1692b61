"""The brute-force twin: losses that do not depend on any state, times that had to move and records
of chunks that were lost.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ground_truth.missing import forwards
from ground_truth.raw import Item, Kind, RawProcess, RawThread
from ground_truth.rules import Rules
from ground_truth.streams import forward_calls, move_inside


def count_losses(process: RawProcess, rules: Rules) -> Counter[str]:
    """By kind of loss."""
    moves = _moves(process) if rules.moved_times == "are counted" else 0
    return Counter(clamped=moves, missing_records=_missing_records(process))


def _moves(process: RawProcess) -> int:
    """Times that run backwards in their stream, and those that lie outside of the process."""
    return sum(
        _moves_of_items(process, thread) + _moves_of_calls(process, thread)
        for thread in process.threads
    )


def _moves_of_items(process: RawProcess, thread: RawThread) -> int:
    """The writer moves them all, before any is lost; the reader moves those that it has."""
    lost = range(*(thread.missing or (0, 0)))
    moves = 0
    for order, (item, placed) in enumerate(zip(thread.items, forwards(thread.items), strict=True)):
        moves += _moved(_times(item), _times(placed))
        moves += 0 if order in lost else _moved_inside(process, _times(placed))
    return moves


def _moves_of_calls(process: RawProcess, thread: RawThread) -> int:
    """Boundaries of CUDA calls that were moved; no call is lost."""
    return sum(
        _moved((call.start_ns, call.end_ns), placed) + _moved_inside(process, placed)
        for call, placed in zip(thread.cuda_calls, forward_calls(thread), strict=True)
    )


def _times(item: Item) -> Sequence[int]:
    return (item.time_ns, item.end_ns) if item.kind is Kind.CALL else (item.time_ns,)


def _moved(said: Sequence[int], placed: Sequence[int]) -> int:
    return sum(before != after for before, after in zip(said, placed, strict=True))


def _moved_inside(process: RawProcess, times: Sequence[int]) -> int:
    return _moved(times, [move_inside(time, process) for time in times])


def _missing_records(process: RawProcess) -> int:
    """As far as a later chunk of the thread shows them."""
    lost = [
        thread.items[slice(*thread.missing)]
        for thread in process.threads
        if thread.missing and thread.missing[1] < len(thread.items)
    ]
    return sum(_slots(item) for items in lost for item in items)


def _slots(item: Item) -> int:
    two = (Kind.PROGRESS_TOTAL, Kind.PROGRESS_DONE, Kind.GAP, Kind.ROOM, Kind.SHORT_WAITS)
    return 2 if item.kind in two else 1
