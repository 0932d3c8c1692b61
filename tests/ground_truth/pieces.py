"""Time cut at every boundary of anything, for the brute-force twin, and what holds in a piece."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

from ground_truth.relations import NONE, NOT_RECORDED
from ground_truth.replay import replay
from ground_truth.rules import Rules
from ground_truth.state import (
    Open,
    State,
    gpu_busy,
    innermost,
    owner,
    process_layer,
    process_path,
    text,
)
from ground_truth.streams import Streams


@dataclass(frozen=True)
class Segment:
    """A stretch of time in which nothing changes."""

    start_ns: int
    end_ns: int
    state: State
    recorded: bool

    @property
    def duration_ns(self) -> int:
        return self.end_ns - self.start_ns


def segments_of(streams: Streams, rules: Rules) -> list[Segment]:
    cuts = {cut for cut in _boundaries(streams) if streams.start_ns <= cut <= streams.end_ns}
    return [
        Segment(start, end, replay(streams, start, rules), streams.window_of(start) is not None)
        for start, end in pairwise(sorted(cuts))
    ]


def _boundaries(streams: Streams) -> Iterable[int]:
    yield from (streams.start_ns, streams.end_ns)
    yield from (event.time_ns for event in streams.events)
    yield from (edge for window in streams.windows for edge in window)
    yield from (edge for span, _ in streams.gpu for edge in span)
    for thread in streams.threads:
        yield from thread.life
        yield from (edge for call in thread.cuda_calls for edge in call)
    ends = (streams.process.python_begin_ns, streams.process.python_end_ns)
    yield from (edge for edge in ends if edge is not None)


def is_gap(segment: Segment) -> bool:
    return not segment.recorded and segment.state.rules.between_windows != "(none)"


def busy(segment: Segment) -> bool:
    counts = segment.recorded or segment.state.rules.gpu_between_windows == "counts"
    return counts and gpu_busy(segment.state, segment.start_ns)


def phase_of(segment: Segment, owning: Open | None) -> str:
    if segment.state.rules.phase == "splits operations" or owning is None:
        return segment.state.phase
    return owning.phase


def process_key(segment: Segment) -> tuple[str, str, str, bool] | None:
    state = segment.state
    if is_gap(segment):
        left_out = state.rules.between_windows == "left out"
        return None if left_out else (NONE, NOT_RECORDED, "none", busy(segment))
    owning = owner(state)
    opened = innermost(owning, state.rules) if owning else None
    layer = process_layer(state, segment.start_ns) if segment.recorded else "none"
    return phase_of(segment, opened), text(process_path(state)), layer, busy(segment)
