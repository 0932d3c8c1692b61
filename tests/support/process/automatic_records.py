"""Automatic tracks as a trace has them: what csrc/trace/layout/record.h says of kAutoSegment and
kAutoResolve, and nothing of why they were written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

SEGMENT, RESOLVE = 20, 21
NAMES = {0: "", 1: "inference", 2: "backprop", 3: "simulation", 10: "target",
         11: "generation", 12: "advantage", 13: "reference", 14: "reward",
         15: "replay", -1: "evaluation"}  # fmt: skip
SIMULATION = 3
FORWARDS = (1, 5, 9, 11)  # what a forward, or a generation, was by the time of a resolve
EVALUATION = -1  # in no record: what a stretch turned out to be
FIRST_OPEN, INSIDE, ASIDE = 4, 5, 9
NAMED = 16
BEGINS, WAS_EVALUATION = 1, 3
_OPEN = range(FIRST_OPEN, ASIDE + 1)


@dataclass
class Segment:
    """A stretch of the track, in any unit of time."""

    start: float
    end: float
    state: int
    text: str = ""  # of a segment that names its operation

    @property
    def name(self) -> str:
        """What it is called in the end; a forward that nothing named is inference."""
        if self.state >= NAMED:
            return self.text
        return "inference" if self.state in (INSIDE, ASIDE) else NAMES.get(self.state, "")


def read_track(
    items: Iterable[tuple[float, int, int]], end: float, names: Mapping[int, str] | None = None
) -> list[Segment]:
    """The segments of one thread from its records (time, kind, id), in order, without resolves
    that have nothing to resolve. `names` are those of the process; without them a segment that
    names its operation has no name."""
    names = names or {}
    segments = [Segment(float("-inf"), end, 0)]
    undecided: int | None = None  # where the stretch begins that may be an evaluation
    for time, kind, id_ in items:
        if kind == SEGMENT:
            segments[-1].end = time
            segments.append(Segment(time, end, id_, names.get(id_ - NAMED, "")))
        elif kind == RESOLVE:
            _resolve(segments, time, id_, end)
            says = id_ >> 4 * len(_OPEN)
            if says == WAS_EVALUATION and undecided is not None:
                _name_evaluation(segments[undecided:])
            if says:
                undecided = len(segments) if says == BEGINS else None
    return segments


def _name_evaluation(segments: list[Segment]) -> None:
    steps = [number for number, each in enumerate(segments) if each.state == SIMULATION]
    if not steps:
        steps = [number for number, each in enumerate(segments) if each.state in FORWARDS]
    for segment in segments[: steps[-1] + 1] if steps else ():
        segment.state = EVALUATION


def _resolve(segments: list[Segment], time: float, id_: int, end: float) -> None:
    targets = {state: id_ >> 4 * (state - FIRST_OPEN) & 15 for state in _OPEN}
    ran = segments[-1].state
    for segment in segments:
        segment.state = targets.get(segment.state, segment.state)
    if ran in _OPEN and segments[-1].state not in _OPEN:
        segments[-1].end = time
        segments.append(Segment(time, end, 0))


def total(segments: Iterable[Segment]) -> dict[str, float]:
    """Time by name, the nameless left out."""
    sums: dict[str, float] = {}
    for segment in segments:
        if segment.name and segment.end > segment.start:
            sums[segment.name] = sums.get(segment.name, 0.0) + segment.end - segment.start
    return sums


def instances(segments: Iterable[Segment]) -> list[tuple[str, float, float]]:
    """(name, start, end): segments of one name that touch are one instance."""
    found: list[tuple[str, float, float]] = []
    for segment in segments:
        if not segment.name or segment.end <= segment.start:
            continue
        if found and found[-1][0] == segment.name and found[-1][2] == segment.start:
            found[-1] = (segment.name, found[-1][1], segment.end)
        else:
            found.append((segment.name, segment.start, segment.end))
    return found
