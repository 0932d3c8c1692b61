"""Lost chunks: what a thread's items mean to a reader that misses some of them, as plain items.

The chunk behind the loss says in its header what was open before its first item. So a loss is a gap
at the end of the last item before it, and, at the first item behind it, entries of what was open.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ground_truth.raw import Item, Kind, RawProcess, RawThread, enter, gap, task
from ground_truth.rules import Rules

RIGHT = Rules()
SNAPSHOT = -1.0
"""Value of items that no thread recorded."""


def without_missing(process: RawProcess, rules: Rules = RIGHT) -> RawProcess:
    """The same process, none of whose threads misses anything."""
    threads = [_without_missing(thread, rules) for thread in process.threads]
    return replace(process, threads=tuple(threads))


def _without_missing(thread: RawThread, rules: Rules) -> RawThread:
    if thread.missing is None:
        return thread
    first, last = thread.missing
    items = list(forwards(thread.items))
    before, after = items[:first], items[last:]
    if before and after and rules.missing_chunks != "change nothing":
        before.append(gap(before[-1].end_ns, 0))
    if after and rules.missing_chunks == "close, what was open begins again":
        before += _snapshot(items[:last], after[0].time_ns)
    return replace(thread, items=tuple(before + after), missing=None)


def forwards(items: Sequence[Item]) -> Iterator[Item]:
    """No item before the end of the one before: the writer moved them before any was lost."""
    earliest = 0
    for item in items:
        begin = max(item.time_ns, earliest)
        earliest = max(item.end_ns, begin)
        yield item._replace(time_ns=begin, duration_ns=earliest - begin)


def _snapshot(items: Sequence[Item], now: int) -> Iterator[Item]:
    """Entries of what the items left open, in order, and the task that runs."""
    opened: list[tuple[int, str]] = []
    running = 0
    for item in items:
        if item.kind is Kind.TASK:
            running = item.number
        elif item.kind is Kind.ENTER:
            opened.append((running, item.name))
        elif item.kind is Kind.EXIT:
            _close(opened, running, item.name)
        elif item.kind is Kind.GAP:
            opened.clear()
    for owner, name in opened:
        for item in (task(now, owner), enter(now, name)):
            yield item._replace(value=SNAPSHOT)
    yield task(now, running)._replace(value=SNAPSHOT)


def _close(opened: list[tuple[int, str]], running: int, name: str) -> None:
    for owner in (running, 0):
        for place in reversed(range(len(opened))):
            if opened[place] == (owner, name):
                del opened[place]
                return
