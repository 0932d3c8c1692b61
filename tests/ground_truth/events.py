"""The relation `event` of one process, summed up as other relations are."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

from support.files.streamed_rows import known_operations, read_rows

from ground_truth.relations import AUTOMATIC, NONE, UNLINKED
from ground_truth.written import ORIGIN_NS
from rlscope import _trace


class Event(NamedTuple):
    thread: int | None
    kind: str
    layer: str | None
    name: str
    start_ns: int
    duration_ns: int
    correlation: int | None
    device: int | None
    stream: int | None
    bytes: int | None
    graph: int | None
    operation: str | None
    iteration: int  # -1: none had begun


def read_events(directory: Path, most_paths: int) -> list[Event]:
    """Every event of the first process, operations as text."""
    trace = _trace.Directory(str(directory))
    known = known_operations(trace, 0, most_paths)
    marks = [path + (AUTOMATIC if source == "automatic" else "") for path, source, _ in known]
    rows = trace.event_rows(0, first_thread=0, operations=known, most_paths=most_paths)
    found = read_rows(rows)
    threads = trace.threads(0)["thread"]
    return [_event(row, marks, threads) for row in found]


def _event(row: tuple[object, ...], marks: list[str], threads: list[int]) -> Event:
    thread, kind, layer, name, start_ns, *numbers, operation, iteration = row
    assert isinstance(start_ns, int)
    return Event(
        None if thread is None else int(threads[thread]),  # type: ignore[call-overload]
        kind,  # type: ignore[arg-type]
        layer,  # type: ignore[arg-type]
        name,  # type: ignore[arg-type]
        start_ns - ORIGIN_NS,
        *numbers,  # type: ignore[arg-type]
        operation=None if operation is None else marks[operation],  # type: ignore[call-overload]
        iteration=-1 if iteration is None else iteration,  # type: ignore[arg-type]
    )


def operation_of(text: str) -> str | None:
    """An operation of another relation as events name it."""
    return None if text in (NONE, UNLINKED) else text


def summed(
    events: Iterable[Event], kind: str, key: Callable[[Event], tuple[object, ...]]
) -> dict[tuple[object, ...], tuple[int, int, int]]:
    """(count, duration, bytes) of the events of a kind, by key."""
    sums: dict[tuple[object, ...], list[int]] = defaultdict(lambda: [0, 0, 0])
    for event in events:
        if event.kind == kind:
            row = sums[key(event)]
            size = (event.bytes or 0) if kind in ("memcpy", "memset") else 0
            for place, value in enumerate((1, event.duration_ns, size)):
                row[place] += value
    return {key: (count, duration, size) for key, (count, duration, size) in sums.items()}
