"""The brute-force twin: automatic operations of a thread, from its whole stream at once.

A segment goes from its record to the next one, or to the resolve that gives it a final state. Its
last state is what it is called; neighbours of one name that touch are one instance, but a compiled
function is never one with what a rule found. A stretch that turned out to be an evaluation is that
up to the end of its last step, whatever else lies in it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from ground_truth.raw import NAMED_STATE, Auto, Item, Kind, Stretch, stretch_of, target_of
from ground_truth.rules import Rules

FINAL = {Auto.NOTHING: "", Auto.INFERENCE: "inference", Auto.BACKPROP: "backprop",
         Auto.SIMULATION: "simulation", Auto.TARGET: "target",
         Auto.GENERATION: "generation", Auto.ADVANTAGE: "advantage",
         Auto.REFERENCE: "reference", Auto.REWARD: "reward",
         Auto.REPLAY: "replay", Auto.EVALUATION: "evaluation"}  # fmt: skip

_LATE = range(Auto.TARGET, Auto.REWARD + 1)


class Placed(NamedTuple):
    """An item with the window that it lies in, None if it is not recorded."""

    time_ns: int
    order: int
    item: Item
    window: int | None


class Change(NamedTuple):
    """At the item `order` the automatic operation that is open closes, and `opens` opens."""

    order: int
    opens: str


@dataclass
class _Segment:
    order: int
    start_ns: int
    state: Auto | str  # str: the name of an operation
    stretch: int  # between gaps and windows, which no resolve and no instance crosses
    end_order: int | None = None  # None: closed by something else than a record of the track
    end_ns: int | None = None
    is_step: bool = False

    def end(self, at: Placed) -> None:
        self.end_order, self.end_ns = at.order, at.time_ns


def find_changes(items: Iterable[Placed], rules: Rules) -> list[Change]:
    """What the records of one thread's track do, in order."""
    segments = _segments(items, rules)
    for segment in segments:
        segment.state = _unresolved(segment.state, rules)
        if segment.state in _LATE and rules.without_gradients == "is backprop":
            segment.state = Auto.BACKPROP
    groups: list[list[_Segment]] = []
    for before, segment in pairwise([None, *segments]):
        assert segment is not None
        if before is not None and _touch(before, segment, rules):
            groups[-1].append(segment)
        else:
            groups.append([segment])
    changes: dict[int, str] = {}
    for group in groups:
        name = FINAL.get(group[0].state, group[0].state)
        if name:
            changes[group[0].order] = name
            if group[-1].end_order is not None:
                changes.setdefault(group[-1].end_order, "")
    return [Change(order, opens) for order, opens in sorted(changes.items())]


def _segments(items: Iterable[Placed], rules: Rules) -> list[_Segment]:
    found: list[_Segment] = []
    running: _Segment | None = None
    stretch, window = 0, None
    undecided: int | None = None  # where the stretch begins that may be an evaluation
    for at in items:
        if at.window is None:
            continue
        if at.window != window or at.item.kind is Kind.GAP:
            running, stretch, window = None, stretch + 1, at.window
            undecided = None
        if at.item.kind is Kind.ENTER and rules.explicit_entry == "ends the automatic track":
            break
        if at.item.kind is Kind.AUTO_SEGMENT:
            if running is not None:
                running.end(at)
            named = at.item.number >= NAMED_STATE
            state = at.item.name if named else Auto(at.item.number)
            running = _Segment(at.order, at.time_ns, state, stretch)
            running.is_step = state is Auto.SIMULATION
            found.append(running)
        if at.item.kind is Kind.AUTO_RESOLVE:
            open_before = running is not None and _is_open(running.state)
            since = [segment for segment in found if segment.stretch == stretch]
            for segment in since[-1:] if rules.resolve == "of the last segment" else since:
                if _is_open(segment.state):
                    segment.state = target_of(at.item.number, segment.state)
            if running is not None and open_before and not _is_open(running.state):
                if rules.resolved_segment == "ends":
                    running.end(at)
                    running = None
            says = stretch_of(at.item.number)
            if says is Stretch.WAS_EVALUATION and undecided is not None:
                _name_evaluation(found[undecided:], rules)
            if says is not Stretch.KEEPS:
                undecided = len(found) if says is Stretch.BEGINS else None
    return found


FORWARDS = (Auto.INFERENCE, Auto.GENERATION, Auto.INSIDE, Auto.ASIDE)


def _name_evaluation(segments: list[_Segment], rules: Rules) -> None:
    if rules.evaluation == "is none":
        return
    steps = [number for number, segment in enumerate(segments) if segment.is_step]
    if not steps and rules.evaluation_without_steps == "holds all to its last forward":
        steps = [number for number, segment in enumerate(segments) if segment.state in FORWARDS]
    if rules.evaluation == "holds all until it is known":
        steps = [len(segments) - 1]
    last = steps[-1] if steps else -1
    for segment, following in zip(segments, [*segments[1:], None], strict=False):
        if last < 0:
            break
        last -= 1
        if segment.is_step or rules.evaluation != "holds its steps":
            segment.state = Auto.EVALUATION
            if following is not None:
                segment.end_order, segment.end_ns = following.order, following.start_ns


def _is_open(state: Auto | str) -> bool:
    return isinstance(state, Auto) and state not in FINAL


def _unresolved(state: Auto | str, rules: Rules) -> Auto | str:
    if not _is_open(state):
        return state
    if rules.unresolved == "all is inference":
        return Auto.INFERENCE
    inside = state in (Auto.INSIDE, Auto.ASIDE) and rules.unresolved == "forwards are inference"
    return Auto.INFERENCE if inside else Auto.NOTHING


def _touch(before: _Segment, after: _Segment, rules: Rules) -> bool:
    return (
        rules.touching_segments == "are one instance"
        and before.state == after.state
        and before.stretch == after.stretch
        and before.end_ns == after.start_ns
    )
