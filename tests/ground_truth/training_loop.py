"""The brute-force twin of the training loop: its begin, its end, and what only prepares it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby, pairwise
from typing import NamedTuple

from ground_truth.relations import AUTOMATIC as MARK
from ground_truth.rules import Rules
from ground_truth.state import Path

WARM_UP = "import imports setup compilation compile warmup".split()
AROUND_LOOP = [
    *WARM_UP,
    *"loading load saving save checkpoint closing".split(),
    *"evaluation evaluate eval validation validate rendering render".split(),
]
LEARNING = set(
    "learning learn backprop backward forward loss optimizer optimiser optimize optimizer_step"
    " gradient gradients update train_step training_step target target_update advantage"
    " advantages".split()
)
_FIRST_NAME = re.compile(r"(?:[^\\/]|\\.)*")

Span = tuple[int, int]


class Moment(NamedTuple):
    """Some time of a process in which nothing changes."""

    start_ns: int
    end_ns: int
    recorded: bool
    outermost: Path = ()
    """Path of the owner's outermost operation; empty without an owner."""
    innermost: Path = ()

    def name(self) -> str:
        return plain(self.outermost[0])


class Pause(NamedTuple):
    """The time between two stretches of the loop."""

    start_ns: int
    end_ns: int
    length_ns: int
    idle_ns: int
    stretches: int
    """How many lie before it."""


def plain(name: str) -> str:
    """A name without case, mark and what follows a colon."""
    return name.removesuffix(MARK).lower().partition(":")[0]


def training_loop(moments: Sequence[Moment], rules: Rules) -> Span | None:
    """Begin and end of the loop, if there is one."""
    stretches = _stretches(moments, rules)
    if not stretches:
        return None
    pauses = [
        _pause(moments, number, (a[1], b[0]), rules)
        for number, (a, b) in enumerate(pairwise(stretches), start=1)
    ]
    set_up = [pause for pause in pauses if _is_set_up(pause, pauses, moments, rules)]
    begin_ns = stretches[0][0]
    if set_up and rules.set_up_pauses != "are in the loop":
        begin_ns = set_up[-1 if rules.set_up_pauses == "the last begins the loop" else 0].end_ns
    last = stretches[0] if rules.loop == "of the first alone" else stretches[-1]
    return begin_ns, max(begin_ns, last[1])


def stage_at(now: int, loop: Span | None, operation: str, rules: Rules) -> str:
    """Where in the process's life a time lies, in the row of this operation's path."""
    if loop is None:
        return "whole"
    begin_ns, end_ns = loop
    if now < begin_ns or now >= end_ns:
        return "start-up" if now < begin_ns else "end"
    first = _FIRST_NAME.match(operation)
    is_warm_up = first is not None and plain(first[0]) in WARM_UP
    return "warm-up" if is_warm_up and rules.warm_up == "is no share" else "loop"


def _is_in_loop(moment: Moment, rules: Rules) -> bool:
    if not moment.outermost:
        return False
    return moment.name() not in AROUND_LOOP or rules.loop == "of all operations"


def _stretches(moments: Sequence[Moment], rules: Rules) -> list[Span]:
    runs = groupby(moments, key=lambda moment: _is_in_loop(moment, rules))
    found = [list(run) for is_in_loop, run in runs if is_in_loop]
    return [(run[0].start_ns, run[-1].end_ns) for run in found]


def _pause(moments: Sequence[Moment], stretches: int, span: Span, rules: Rules) -> Pause:
    start_ns, end_ns = span
    length_ns = _time_between(moments, start_ns, end_ns, rules)
    idle = [moment for moment in moments if not moment.outermost]
    idle_ns = _time_between(idle, start_ns, end_ns, rules)
    return Pause(start_ns, end_ns, length_ns, idle_ns, stretches)


def _time_between(moments: Sequence[Moment], start_ns: int, end_ns: int, rules: Rules) -> int:
    return sum(
        moment.end_ns - moment.start_ns
        for moment in moments
        if start_ns <= moment.start_ns < end_ns
        and (moment.recorded or rules.length_of_a_gap == "all time")
        and (not _is_warm_up(moment) or rules.length_of_warm_up == "all time")
    )


def _is_warm_up(moment: Moment) -> bool:
    return bool(moment.outermost) and moment.name() in WARM_UP


def _is_set_up(pause: Pause, pauses: list[Pause], moments: Sequence[Moment], rules: Rules) -> bool:
    return (
        _is_long(pause, moments, rules)
        and not _has_learned(pause, moments, rules)
        and _something_new_follows(pause, moments, rules)
        and not _comes_again(pause, pauses, rules)
    )


def _is_long(pause: Pause, moments: Sequence[Moment], rules: Rules) -> bool:
    looping = [moment.start_ns for moment in moments if _is_in_loop(moment, rules)]
    from_ns = moments[0].start_ns if rules.long_pause == "of the process" else looping[0]
    parts = {"half of the time before": 2, "any": pause.end_ns}.get(rules.long_pause, 10)
    trials = {"63 stretches": 63, "64 stretches": 64}.get(rules.trials, pause.stretches)
    if pause.stretches > trials:
        parts = 1
    return parts * pause.length_ns >= _time_between(moments, from_ns, pause.start_ns, rules)


def _has_learned(pause: Pause, moments: Sequence[Moment], rules: Rules) -> bool:
    if rules.learning == "does not matter":
        return False
    names = LEARNING if rules.learning == "has forwards" else LEARNING - {"forward"}
    return any(
        names & {plain(name) for name in moment.innermost}
        for moment in moments
        if moment.start_ns < pause.end_ns
        and moment.innermost
        and (plain(moment.innermost[0]) not in AROUND_LOOP or rules.learning == "is anywhere")
    )


def _something_new_follows(pause: Pause, moments: Sequence[Moment], rules: Rules) -> bool:
    looping = [moment for moment in moments if _is_in_loop(moment, rules)]
    edge_ns = pause.end_ns + (rules.news == "after the first operation")
    before = {moment.name() for moment in looping if moment.start_ns < edge_ns}
    after = {moment.name() for moment in looping if moment.start_ns >= edge_ns}
    return bool(after - before) or rules.news == "do not matter"


def _comes_again(pause: Pause, pauses: list[Pause], rules: Rules) -> bool:
    later = [
        other
        for other in pauses
        if other.start_ns > pause.start_ns
        and 3 * (other.length_ns if rules.later_pause == "whole" else other.idle_ns)
        >= pause.length_ns
    ]
    return len(later) >= {"one": 1, "three": 3, "does not matter": len(pauses)}.get(rules.again, 2)
