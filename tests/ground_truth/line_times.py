"""The brute-force twin of `stack_time` and `source_line`: states, divided over their stacks one
stack after the other (semantics.md, "Source lines")."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import NamedTuple

from ground_truth.rules import LineRules

WAIT = "wait"
OWN, LIBRARY = "/home/me/train.py", "/usr/lib/python3.11/site-packages/torch/nn.py"


class Call(NamedTuple):
    """A line in a call; its number is its place from 1 on."""

    caller: int
    """0: nobody called it."""
    file: str
    line: int


class Row(NamedTuple):
    """A row of `breakdown`: several may be of one state."""

    duration_ns: int
    corrected_ns: int


class State(NamedTuple):
    operation: int
    layer: str
    rows: Sequence[Row]
    readings: Mapping[int, int]
    """By stack; 0: it is not known."""


class StackTime(NamedTuple):
    stack: int | None
    operation: int
    layer: str
    readings: int
    self_ns: int
    self_corrected_ns: int


@dataclass(frozen=True)
class SourceLine:
    file: str | None
    line: int | None
    operation: int
    layer: str
    readings: int = 0
    self_ns: int = 0
    own_ns: int = 0
    total_ns: int = 0
    wait_ns: int = 0
    self_corrected_ns: int = 0
    own_corrected_ns: int = 0
    total_corrected_ns: int = 0


@dataclass
class Twin:
    calls: Sequence[Call]
    states: Sequence[State]
    rules: LineRules = field(default_factory=LineRules)

    def stack_times(self) -> set[StackTime]:
        return {time for state in self.states for time in self._of_state(state)}

    def source_lines(self) -> set[SourceLine]:
        return {line for state in self.states for line in self._lines(state)}

    def _of_state(self, state: State) -> Iterator[StackTime]:
        time_ns = sum(row.duration_ns for row in state.rows)
        where = state.operation, state.layer
        if not state.readings:
            corrected_ns = self._corrected(state)
            if time_ns or self.rules.overhead_without_time == "is a row without a stack":
                yield StackTime(None, *where, 0, time_ns, corrected_ns)
            return
        counts = self._readings(state)
        times = self._divide(time_ns, counts)
        corrected = self._divide(self._corrected(state), counts)
        for stack, readings in counts.items():
            yield StackTime(stack or None, *where, readings, times[stack], corrected[stack])

    def _readings(self, state: State) -> Counter[int]:
        """Stacks that are equal are one, that of the lowest number."""
        found: Counter[int] = Counter()
        for stack, readings in state.readings.items():
            same = (each for each in range(stack + 1) if self._chain(each) == self._chain(stack))
            found[next(same)] += readings
        return found

    def _corrected(self, state: State) -> int:
        if self.rules.corrected_time == "of the first row":
            return state.rows[0].corrected_ns
        column = 0 if self.rules.corrected_time == "is the time" else 1
        return sum(row[column] for row in state.rows)

    def _divide(self, whole: int, counts: Mapping[int, int]) -> dict[int, int]:
        exact = {each: Fraction(whole * n, sum(counts.values())) for each, n in counts.items()}
        found = {each: int(part) for each, part in exact.items()}
        by_rest = sorted(exact, key=lambda each: (found[each] - exact[each], each))
        if self.rules.rest_of_a_division == "goes to the lowest numbers":
            by_rest = sorted(exact)
        if self.rules.rest_of_a_division != "is dropped":
            for each in by_rest[: whole - sum(found.values())]:
                found[each] += 1
        return found

    def _chain(self, stack: int | None) -> list[tuple[str, int]]:
        """The lines of a stack, the innermost first."""
        if not stack:
            return []
        call = self.calls[stack - 1]
        return [(call.file, call.line), *self._chain(call.caller)]

    def _own(self, chain: Sequence[tuple[str, int]]) -> tuple[str, int] | None:
        own = [line for line in chain if line[0] == OWN]
        if self.rules.own_line == "the outermost":
            own.reverse()
        return own[0] if own else None

    def _lines(self, state: State) -> Iterator[SourceLine]:
        found = {line: self._empty(state, line) for line in self._own_lines(state.operation)}
        for time in self._of_state(state):
            chain = self._chain(time.stack)
            on_it = chain if self.rules.total_time == "once for each call" else dict.fromkeys(chain)
            for line in on_it:
                found[line] = _plus(found.get(line) or self._empty(state, line), "total", time)
            for line in chain[:1]:
                found[line] = _plus(found[line], "self", time)
            own = self._own(chain)
            if own is not None:
                found[own] = _plus(found[own], "own", time)
        waits = state.layer == WAIT
        yield from (
            replace(line, wait_ns=line.own_ns) if waits else line for line in found.values()
        )
        rest_ns = sum(row.duration_ns for row in state.rows)
        rest_ns -= sum(line.own_ns for line in found.values())
        if waits and rest_ns:
            yield SourceLine(None, None, state.operation, state.layer, wait_ns=rest_ns)

    def _own_lines(self, operation: int) -> set[tuple[str, int]]:
        """Those that readings found in any layer of an operation."""
        if self.rules.own_lines_elsewhere == "have no row":
            return set()
        stacks = {n for each in self.states if each.operation == operation for n in each.readings}
        return {own for stack in stacks if (own := self._own(self._chain(stack))) is not None}

    @staticmethod
    def _empty(state: State, line: tuple[str, int]) -> SourceLine:
        return SourceLine(*line, state.operation, state.layer)


def _plus(line: SourceLine, part: str, time: StackTime) -> SourceLine:
    """With the time of a stack added to one of the three parts: self, own or total."""
    added = {
        f"{part}_ns": getattr(line, f"{part}_ns") + time.self_ns,
        f"{part}_corrected_ns": getattr(line, f"{part}_corrected_ns") + time.self_corrected_ns,
    }
    if part == "total":
        added["readings"] = line.readings + time.readings
    return replace(line, **added)
