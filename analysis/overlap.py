"""Overlap: for how long was exactly this set of streams active at once?

    a      ####----####
    b      --####------
           A |AB|B |A        four stretches, three sets: {a}, {b}, {a, b}

The general form of the breakdown (RL-Scope, Gleeson et al., MLSys 2021, section 3): any number of
named streams of intervals, of one process or of many, on one clock.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rlscope import _trace
from rlscope.table import Table

DESCRIPTIONS = {
    "set": "names of the streams that are active together, in the order they were given",
    "duration_ns": "time in which exactly these streams are active",
    "start_ns": "when that is so for the first time",
    "end_ns": "when that is so for the last time (exclusive)",
}


def overlap(
    streams: Mapping[str, Sequence[tuple[int, int]]],
    *,
    containing: str | None = None,
) -> Table:
    """One row per set of streams that are ever active together; the durations add up to the
    union of all intervals, to the nanosecond.

    `streams` maps a name to its half-open intervals (start_ns, end_ns), in any order; intervals
    of one stream that overlap or touch count once, empty ones not at all. `containing` keeps the
    sets with that stream in them. Rows are in order of the size of the set, then of the streams.

    Raises ValueError for an interval that ends before it starts and for an unknown `containing`.
    """
    _check(streams, containing)
    rank = {name: position for position, name in enumerate(streams)}
    columns = _trace.overlap(streams)
    rows = [
        (tuple(sorted(names, key=rank.__getitem__)), int(duration), int(start), int(end))
        for names, duration, start, end in zip(*(columns[key] for key in DESCRIPTIONS), strict=True)
    ]
    kept = [row for row in rows if containing is None or containing in row[0]]
    kept.sort(key=lambda row: (len(row[0]), [rank[name] for name in row[0]]))
    return Table.from_rows(list(DESCRIPTIONS), kept, name="overlap", descriptions=DESCRIPTIONS)


def _check(streams: Mapping[str, Sequence[tuple[int, int]]], containing: str | None) -> None:
    if containing is not None and containing not in streams:
        raise ValueError(f"no stream {containing!r}; there are: {', '.join(streams)}")
    for name, intervals in streams.items():
        for start, end in intervals:
            if end < start:
                raise ValueError(f"an interval of {name!r} ends before it starts: {start}, {end}")
