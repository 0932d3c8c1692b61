"""The rows of the relations `stack`, `stack_time` and `source_line`: exact times of states, divided
over the stacks that readings found in them, and exact GPU times by the stacks of CUDA calls."""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from rlscope import _trace
from rlscope.relations.rows.blocked import as_list, share, state_rows, state_times
from rlscope.rundir.own_code import is_own

_UNKNOWN = 0
"""The number of no stack."""

_STACK = ("stack_id", "parent_id", "function", "file", "line", "first_line", "is_own")
_STATE = ("stage", "operation", "layer")
_WAIT, _GPU = _trace.LAYERS.index("wait"), _trace.LAYERS.index("gpu")
_NO_LINE = (None, None, None, False)
_STACK_TIME = (
    "stack_id", *_STATE, "readings", "self_ns", "self_low_ns", "self_high_ns", "calls", "gpu_ns",
    "self_corrected_ns",
)  # fmt: skip
_SOURCE_LINE = (
    "file", "line", "function", "is_own", *_STATE, "readings", "self_ns", "own_ns", "own_low_ns",
    "own_high_ns", "total_ns", "wait_ns", "calls", "gpu_ns", "total_gpu_ns", "self_corrected_ns",
    "own_corrected_ns", "total_corrected_ns",
)  # fmt: skip
_CORRECTED = "_corrected_ns"
"""Ends the names of columns that a process of unknown costs does not have."""

Launches = Sequence[tuple[int, str, int, int, int]]
"""CUDA calls: number of the stack, stage, operation, how many, and the GPU time of their work."""


def relations(
    swept: Mapping[str, Any],
    folders: Sequence[str] = (),
    sites: Mapping[str, Any] | None = None,
    launches: Launches = (),
) -> dict[str, dict[str, list[Any]]]:
    """The three relations of a process; none has a row if no stack is known.

    Args:
        swept: tables of the sweep of the process. Its `breakdown` has corrected_ns, if it is known.
        folders: absolute paths of what is the program's own code, too.
        sites: the stacks of CUDA calls, as the sweep has those of readings.
    """
    tree = _Tree([swept["stack"], *([sites] if sites is not None else [])], folders)
    states = _states(swept, tree) if tree.nodes else []
    calls = _launches(launches, tree)
    times = [*(row for each in states for row in each.rows()), *_call_rows(calls)]
    own = _own_lines(states, tree)
    of_states = (row for each in states for row in tree.lines(each, own[each.operation]))
    lines = [*of_states, *tree.call_lines(calls)]
    found = {
        "stack": _columns(_STACK, map(_stack_row, tree.nodes.values())),
        "stack_time": _columns(_STACK_TIME, times),
        "source_line": _columns(_SOURCE_LINE, lines),
    }
    return found if "corrected_ns" in swept["breakdown"] else _without_corrections(found)


def _without_corrections(
    found: dict[str, dict[str, list[Any]]],
) -> dict[str, dict[str, list[Any]]]:
    return {
        relation: {name: each for name, each in columns.items() if not name.endswith(_CORRECTED)}
        for relation, columns in found.items()
    }


def to_hold(table: Mapping[str, Any]) -> dict[str, Any]:
    """The stacks of a process, as the sweep has them, to be held while others are swept: equal
    texts are one object."""
    texts = {name: list(map(sys.intern, table[name])) for name in ("file", "function")}
    return {**table, **texts}


def parts(whole: int, counts: Mapping[int, int]) -> dict[int, int]:
    """A whole number in the proportion of the counts, with that sum: rounded down, and what is
    missing goes to the largest remainders, of equal ones to those of lower numbers.

    >>> parts(100, {1: 1, 2: 1, 3: 1})
    {1: 34, 2: 33, 3: 33}
    """
    total = sum(counts.values())
    found = {number: whole * count // total for number, count in counts.items()}
    missing = whole - sum(found.values())
    order = sorted(counts, key=lambda number: (-(whole * counts[number] % total), number))
    for number in order[:missing]:
        found[number] += 1
    return found


class _Line(NamedTuple):
    file: str
    line: int | None
    function: str


class _Node(NamedTuple):
    number: int
    parent: int
    line: _Line
    first_line: int
    is_own: bool


@dataclass
class _Part:
    """A part of a state, or a sum of parts."""

    readings: int = 0
    time_ns: int = 0
    corrected_ns: int = 0

    def add(self, other: _Part) -> None:
        """Adds another part to this one."""
        self.readings += other.readings
        self.time_ns += other.time_ns
        self.corrected_ns += other.corrected_ns


@dataclass
class _State:
    """Time of one stage, operation and layer."""

    key: tuple[Any, ...]
    whole: _Part
    parts: Mapping[int, _Part]
    """By number of the stack; empty: no reading fell into the state."""

    @classmethod
    def of(
        cls, key: tuple[Any, ...], duration_ns: int, corrected_ns: int, readings: Mapping[int, int]
    ) -> _State:
        """A state whose times are divided over the stacks that readings found in it."""
        whole = _Part(sum(readings.values()), duration_ns, corrected_ns)
        if not readings:
            return cls(key, whole, {})
        times, corrected = (parts(ns, readings) for ns in (duration_ns, corrected_ns))
        return cls(
            key,
            whole,
            {each: _Part(readings[each], times[each], corrected[each]) for each in times},
        )

    @property
    def operation(self) -> tuple[Any, ...]:
        """Stage and operation."""
        return self.key[:-1]

    def interval(self, readings: int) -> tuple[int | None, ...]:
        """The interval of that part of the time which as many readings stand for."""
        if not self.parts:
            return 0, self.whole.time_ns
        return share(self.whole.time_ns, self.whole.readings, readings)[1:]

    def rows(self) -> Iterable[tuple[Any, ...]]:
        """The rows of `stack_time`."""
        if not self.parts:
            whole = self.whole
            yield (None, *self.key, 0, whole.time_ns, None, None, 0, 0, whole.corrected_ns)
        for number, part in self.parts.items():
            times = part.time_ns, *self.interval(part.readings)
            yield (number or None, *self.key, part.readings, *times, 0, 0, part.corrected_ns)


def _states(swept: Mapping[str, Any], tree: _Tree) -> list[_State]:
    readings: dict[Any, Counter[int]] = {}
    for *key, number, count in state_rows(swept["state_reading"], "stack", "readings"):
        readings.setdefault(tuple(key), Counter())[tree.same[number]] += count
    times = state_times(swept["breakdown"], "duration_ns")
    is_corrected = "corrected_ns" in swept["breakdown"]
    corrected = state_times(swept["breakdown"], "corrected_ns") if is_corrected else times
    return [
        _State.of(key, time_ns, corrected[key], readings.get(key, {}))
        for key, time_ns in times.items()
    ]


def _own_lines(states: Sequence[_State], tree: _Tree) -> dict[tuple[Any, ...], dict[_Line, None]]:
    """By stage and operation: the lines that readings found as the innermost ones of the program's
    own code, in any layer."""
    found: dict[tuple[Any, ...], dict[_Line, None]] = {}
    for each in states:
        found.setdefault(each.operation, {}).update(dict.fromkeys(tree.own_lines(each.parts)))
    return found


_Calls = Mapping[tuple[str, int, int], tuple[int, int]]
"""CUDA calls and GPU time by stage, operation and number of the stack."""


def _launches(launches: Launches, tree: _Tree) -> _Calls:
    sums: dict[tuple[str, int, int], tuple[int, int]] = {}
    for number, stage, operation, calls, gpu_ns in launches:
        key = stage, operation, tree.same[number]
        before = sums.get(key, (0, 0))
        sums[key] = before[0] + calls, before[1] + gpu_ns
    return sums


def _call_rows(launches: _Calls) -> Iterable[tuple[Any, ...]]:
    """Of `stack_time`."""
    for (stage, operation, number), (calls, gpu_ns) in launches.items():
        yield (number or None, stage, operation, _GPU, 0, 0, 0, 0, calls, gpu_ns, 0)


@dataclass
class _Sums:
    """What a line has of one state."""

    is_own: bool
    innermost: _Part = field(default_factory=_Part)
    own: _Part = field(default_factory=_Part)
    total: _Part = field(default_factory=_Part)


class _Tree:
    """The stacks of a process by number. A caller has a lower number than what it calls. Tables
    come by ascending numbers, and stacks of several tables that are the same become one."""

    def __init__(self, tables: Sequence[Mapping[str, Any]], folders: Sequence[str]) -> None:
        own = {file: is_own(file, folders) for table in tables for file in set(table["file"])}
        self.nodes: dict[int, _Node] = {}
        self.same = {_UNKNOWN: _UNKNOWN}
        numbers: dict[tuple[Any, ...], int] = {}
        for number, caller, file, line, function, first_line in _rows(tables):
            parent = self.same[caller]
            key = parent, _Line(file, line or None, function), first_line
            self.same[number] = numbers.setdefault(key, number)
            self.nodes.setdefault(self.same[number], _Node(self.same[number], *key, own[file]))
        self._innermost_own: dict[int, int] = {_UNKNOWN: _UNKNOWN}
        for number, node in self.nodes.items():
            above = self._innermost_own[node.parent]
            self._innermost_own[number] = number if node.is_own else above
        self._outermost = self._find_outermost()

    def own_lines(self, numbers: Iterable[int]) -> Iterable[_Line]:
        """The innermost line of the program's own code in each of those stacks."""
        innermost = (self._innermost_own[number] for number in numbers)
        return (self.nodes[number].line for number in innermost if number != _UNKNOWN)

    def lines(self, state: _State, others: Iterable[_Line]) -> Iterable[tuple[Any, ...]]:
        """Rows of `source_line`.

        Args:
            others: lines of the program's own code that have a row in any case.
        """
        sums = self._sums(state, others)
        waits = state.key[-1] == _WAIT
        for line, each in sums.items():
            interval = state.interval(each.own.readings) if each.is_own else (0, 0)
            wait_ns = each.own.time_ns if waits else 0
            corrected = (part.corrected_ns for part in (each.innermost, each.own, each.total))
            yield (
                *line, each.is_own, *state.key, each.total.readings, each.innermost.time_ns,
                each.own.time_ns, *interval, each.total.time_ns, wait_ns, 0, 0, 0, *corrected,
            )  # fmt: skip
        rest_ns = state.whole.time_ns - sum(each.own.time_ns for each in sums.values())
        if waits and rest_ns:
            yield (*_NO_LINE, *state.key, 0, 0, 0, 0, 0, 0, rest_ns, 0, 0, 0, 0, 0, 0)

    def _sums(self, state: _State, others: Iterable[_Line]) -> dict[_Line, _Sums]:
        sums = {line: _Sums(is_own=True) for line in others}

        def of(number: int) -> _Sums:
            node = self.nodes[number]
            return sums.setdefault(node.line, _Sums(node.is_own))

        inside: dict[int, _Part] = defaultdict(_Part)
        for number, part in state.parts.items():
            inside[number].add(part)
        for number in self._with_callers(state.parts):
            if number in self._outermost:
                of(number).total.add(inside[number])
            inside[self.nodes[number].parent].add(inside[number])
        for number, part in state.parts.items():
            if number == _UNKNOWN:
                continue
            of(number).innermost.add(part)
            innermost_own = self._innermost_own[number]
            if innermost_own != _UNKNOWN:
                of(innermost_own).own.add(part)
        return sums

    def call_lines(self, launches: _Calls) -> Iterable[tuple[Any, ...]]:
        """Rows of `source_line` with CUDA calls."""
        states: dict[tuple[str, int], dict[int, tuple[int, int]]] = {}
        for (stage, operation, number), times in launches.items():
            states.setdefault((stage, operation), {})[number] = times
        for state, by_stack in states.items():
            yield from self._lines_of_calls(state, by_stack)

    def _lines_of_calls(
        self, state: tuple[str, int], by_stack: Mapping[int, tuple[int, int]]
    ) -> Iterable[tuple[Any, ...]]:
        calls: Counter[tuple[Any, ...]] = Counter()
        gpu_ns: Counter[tuple[Any, ...]] = Counter()
        total_ns: Counter[tuple[Any, ...]] = Counter()
        inside_ns = Counter({number: times[1] for number, times in by_stack.items()})
        for number in self._with_callers(by_stack):
            node = self.nodes[number]
            line: tuple[Any, ...] = (*node.line, node.is_own)
            if number in self._outermost:
                total_ns[line] += inside_ns[number]
            inside_ns[node.parent] += inside_ns[number]
        for number, times in by_stack.items():
            own = self._innermost_own[number]
            line = (*self.nodes[own].line, True) if own != _UNKNOWN else _NO_LINE
            calls[line] += times[0]
            gpu_ns[line] += times[1]
        for line in {**total_ns, **calls}:
            exact = calls[line], gpu_ns[line], total_ns[line]
            yield (*line, *state, _GPU, 0, 0, 0, 0, 0, 0, 0, *exact, 0, 0, 0)

    def _with_callers(self, numbers: Iterable[int]) -> list[int]:
        """Those stacks and their callers, what is called before its caller."""
        found: set[int] = {_UNKNOWN}
        for each in numbers:
            number = each
            while number not in found:
                found.add(number)
                number = self.nodes[number].parent
        return sorted(found - {_UNKNOWN}, reverse=True)

    def _find_outermost(self) -> set[int]:
        """The stacks whose line is none of their callers'."""
        called: dict[int, list[int]] = {}
        for number, node in self.nodes.items():
            called.setdefault(node.parent, []).append(number)
        above: Counter[_Line] = Counter()
        outermost = set()
        waiting = list(called.get(_UNKNOWN, ()))
        while waiting:
            number = waiting.pop()
            if number < 0:  # all that it calls was seen
                above[self.nodes[-number].line] -= 1
                continue
            line = self.nodes[number].line
            if not above[line]:
                outermost.add(number)
            above[line] += 1
            waiting += [-number, *called.get(number, ())]
        return outermost


def _rows(tables: Sequence[Mapping[str, Any]]) -> Iterable[tuple[Any, ...]]:
    names = ("stack", "parent", "file", "line", "function", "first_line")
    for table in tables:
        yield from zip(*(as_list(table[name]) for name in names), strict=True)


def _stack_row(node: _Node) -> tuple[Any, ...]:
    file, line, function = node.line
    parent = node.parent or None
    return node.number, parent, function, file, line, node.first_line, node.is_own


def _columns(names: Sequence[str], rows: Iterable[tuple[Any, ...]]) -> dict[str, list[Any]]:
    values = list(zip(*rows, strict=True)) or [()] * len(names)
    return {name: list(column) for name, column in zip(names, values, strict=True)}
