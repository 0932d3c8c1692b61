"""The process view of a program's time by brute force: every instant is asked what it is.

It takes calls, GPU work and operations as spans, wherever they come from. From what was recorded it
must give the breakdown to the nanosecond; from what truly happened, the same but for the time in
which the two disagree.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

Span = tuple[int, int]
Key = tuple[str, str, bool]
"""Operation, layer, whether the GPU is busy."""

NO_OPERATION = "(none)"


def merged(spans: Iterable[Span]) -> list[Span]:
    """What the spans cover, in order."""
    found: list[Span] = []
    for start, end in sorted(spans):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        elif end > start:
            found.append((start, end))
    return found


def covers(spans: list[Span], at: int) -> bool:
    """Whether one of the spans, which are in order and apart, holds the instant."""
    i = bisect_right(spans, (at, 1 << 63)) - 1
    return i >= 0 and at < spans[i][1]


@dataclass
class History:
    """What a process did. Threads are the system's; the main one's is the process's number."""

    main: int
    span: Span
    python: Span
    """When the main thread was the interpreter's; empty without Python."""
    operations: dict[int, list[tuple[int, int, str]]]
    """By thread: begin, end and path of each operation, an outer one before its inner ones."""
    calls: dict[int, list[Span]]
    """By thread: its outermost recorded calls."""
    work: list[tuple[int, int, int]]
    """Device, begin and end of what ran on a GPU."""


@dataclass(frozen=True)
class Stretch:
    """Time in which nothing changes."""

    duration_ns: int
    key: Key
    busy: frozenset[int]
    """Devices at work."""
    disputed: bool


def stretches(history: History, disputed: Iterable[Span] = ()) -> Iterator[Stretch]:
    """All of the process's time in order; `disputed`: spans to keep apart."""
    disputes = merged(disputed)
    calls = {thread: merged(spans) for thread, spans in history.calls.items()}
    by_device = defaultdict(list)
    for device, start, end in history.work:
        by_device[device].append((start, end))
    work = {device: merged(spans) for device, spans in by_device.items()}
    cuts = {*history.span, *history.python}
    for spans in (disputes, *calls.values(), *work.values()):
        cuts.update(at for span in spans for at in span)
    for each in history.operations.values():
        cuts.update(at for start, end, _ in each for at in (start, end))
    begin, end = history.span
    for at, until in pairwise(sorted(cut for cut in cuts if begin <= cut <= end)):
        open_now = _open_operations(history, at)
        owner = _owner(history.main, open_now)
        counted = calls.keys() - open_now.keys() - {history.main} | {owner}
        busy = frozenset(device for device, spans in work.items() if covers(spans, at))
        if any(covers(calls.get(thread, []), at) for thread in counted):
            layer = "cuda_api"
        else:
            layer = "python" if history.python[0] <= at < history.python[1] else "none"
        operation = open_now[owner][-1][2] if owner in open_now else NO_OPERATION
        yield Stretch(until - at, (operation, layer, bool(busy)), busy, covers(disputes, at))


def _open_operations(history: History, at: int) -> dict[int, list[tuple[int, int, str]]]:
    """The open operations of each thread that has any, the innermost last."""
    found = {
        thread: [each for each in operations if each[0] <= at < each[1]]
        for thread, operations in history.operations.items()
    }
    return {thread: each for thread, each in found.items() if each}


def _owner(main: int, open_now: dict[int, list[tuple[int, int, str]]]) -> int:
    """The thread to which the process's time belongs; the main one where none has an operation."""
    if main in open_now or not open_now:
        return main
    return min(open_now, key=lambda thread: open_now[thread][0][0])


def breakdown(history: History) -> Counter[Key]:
    """Nanoseconds of each state."""
    rows: Counter[Key] = Counter()
    for stretch in stretches(history):
        rows[stretch.key] += stretch.duration_ns
    return rows


def disputed_ns(histories: Iterable[History], disputes: list[Span]) -> Counter[Key]:
    """How long each state holds in disputed time: by so much may a row of the two differ."""
    rows: Counter[Key] = Counter()
    for history in histories:
        for stretch in stretches(history, disputes):
            rows[stretch.key] += stretch.disputed * stretch.duration_ns
    return rows
