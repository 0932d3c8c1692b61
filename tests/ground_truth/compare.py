"""Row-by-row comparison of two implementations, with a message that shows the rows that differ."""

from __future__ import annotations

from collections.abc import Iterable

from ground_truth.raw import RawProcess
from ground_truth.relations import Rows


def first_difference(one: Rows, other: Rows, relations: Iterable[str]) -> str | None:
    """The first relation that differs and its rows on either side; None when all are equal."""
    for relation in relations:
        if one[relation] != other[relation]:
            left = [row for row in one[relation] if row not in other[relation]]
            right = [row for row in other[relation] if row not in one[relation]]
            return "\n".join(
                [relation, *(f"  - {row}" for row in left), *(f"  + {row}" for row in right)]
            )
    return None


def without_moves(rows: Rows, process: RawProcess) -> Rows:
    """The rows, without the number of times moved when any had to be: whether a move outside of
    all windows is counted depends on how far a stream is read."""
    if not has_moves(process):
        return rows
    return {**rows, "loss": [row for row in rows["loss"] if row[0] != "clamped"]}


def has_moves(process: RawProcess) -> bool:
    """Whether any time lies outside of the process or runs backwards in its stream."""
    for thread in process.threads:
        for stream in (thread.items, thread.cuda_calls):
            spans = [(each[0], each.end_ns) for each in stream]
            times = [process.start_ns, *(time for span in spans for time in span), process.end_ns]
            if times != sorted(times):
                return True
    return False
