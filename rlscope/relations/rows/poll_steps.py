"""Steps between readings of a poller, the time that each speaks of (semantics.md, Utilisation)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

# All cores that Linux can have; a larger reading is damage.
_MOST_PERCENT = 8192 * 100.0

Span = tuple[int, int]


def merged(spans: Iterable[Span]) -> list[Span]:
    """The union of spans: ascending, those that meet or overlap are one."""
    union: list[Span] = []
    for start_ns, end_ns in sorted(spans):
        if union and start_ns <= union[-1][1]:
            union[-1] = union[-1][0], max(end_ns, union[-1][1])
        elif start_ns < end_ns:
            union.append((start_ns, end_ns))
    return union


@dataclass(frozen=True)
class Measured:
    """Steps that count, ascending, each with the reading at its end. All three are arrays."""

    starts_ns: Any
    ends_ns: Any
    percents: Any

    def __bool__(self) -> bool:
        return len(self.starts_ns) > 0

    @property
    def lengths_ns(self) -> Any:
        return self.ends_ns - self.starts_ns

    def spans(self) -> list[Span]:
        return merged(zip(self.starts_ns.tolist(), self.ends_ns.tolist(), strict=True))

    def columns(self) -> dict[str, Any]:
        """Columns of the relation that every kind of device has."""
        return {
            "start_ns": int(self.starts_ns[0]),
            "end_ns": int(self.ends_ns[-1]),
            "duration_ns": int(self.lengths_ns.sum()),
            "readings": len(self.percents),
            "polled_percent": float(np.average(self.percents, weights=self.lengths_ns)),
        }

    def used_ns(self) -> int:
        """Time that the readings stand for, where each is a share of it."""
        return round(float((self.percents * self.lengths_ns).sum()) / 100)

    def covered(self, starts_ns: Any, bucket_ns: Any) -> Any:
        """The part of each bucket that the steps cover."""
        spans = self.spans()
        origin_ns = spans[0][0]  # what is left are numbers that a float holds exactly
        edges = np.array(spans, dtype=np.int64).ravel() - origin_ns
        inside = np.cumsum(np.diff(edges, prepend=0) * (np.arange(len(edges)) % 2))
        starts = starts_ns - origin_ns
        within = np.interp(starts + bucket_ns, edges, inside) - np.interp(starts, edges, inside)
        return within / bucket_ns


class Steps:
    """Times between the moments at which a machine was read."""

    def __init__(self, moments_ns: Any) -> None:
        self._moments = np.unique(np.asarray(moments_ns, dtype=np.int64))

    def measured(self, times_ns: Any, percents: Any, windows: Sequence[Span]) -> Measured:
        """The steps that end with a reading and lie in one of the windows, which ascend and are
        apart from each other."""
        times_ns, first = np.unique(np.asarray(times_ns, dtype=np.int64), return_index=True)
        percents = np.asarray(percents, dtype=np.float64)[first]
        place = np.searchsorted(self._moments, times_ns)
        is_end = (place > 0) & (place < len(self._moments))
        is_end &= (percents >= 0) & (percents <= _MOST_PERCENT)  # neither NaN
        place, percents = place[is_end], percents[is_end]
        ends = self._moments[place]
        counts = (ends == times_ns[is_end]) & _within(self._moments[place - 1], ends, windows)
        return Measured(self._moments[place - 1][counts], ends[counts], percents[counts])


def _within(starts_ns: Any, ends_ns: Any, windows: Sequence[Span]) -> Any:
    """Whether one of the windows holds a span, for each span."""
    if not windows:
        return np.zeros(len(starts_ns), dtype=bool)
    window_starts, window_ends = np.array(windows, dtype=np.int64).T
    window = np.searchsorted(window_starts, starts_ns, side="right") - 1
    return (window >= 0) & (ends_ns <= window_ends[window])
