"""The rows of the relations `stack`, `stack_time` and `source_line`: exact times of states, divided
over the stacks that readings found in them, and exact GPU times by the stacks of CUDA calls."""

from __future__ import annotations

from collections import Counter
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
)  # fmt: skip
_SOURCE_LINE = (
    "file", "line", "function", "is_own", *_STATE, "readings", "self_ns", "own_ns", "own_low_ns",
    "own_high_ns", "total_ns", "wait_ns", "calls", "gpu_ns", "total_gpu_ns",
)  # fmt: skip

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
        swept: the sweep of the process.
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
    return {
        "stack": _columns(_STACK, map(_stack_row, tree.nodes.values())),
        "stack_time": _columns(_STACK_TIME, times),
        "source_line": _columns(_SOURCE_LINE, lines),
    }


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
class _State:
    """Time of one stage, operation and layer."""

    key: tuple[Any, ...]
    duration_ns: int
    readings: Mapping[int, int]
    """By number of the stack."""
    times_ns: Mapping[int, int] = field(init=False)

    def __post_init__(self) -> None:
        self.times_ns = parts(self.duration_ns, self.readings) if self.readings else {}

    @property
    def operation(self) -> tuple[Any, ...]:
        """Stage and operation."""
        return self.key[:-1]

    def interval(self, readings: int) -> tuple[int | None, ...]:
        """The interval of that part of the time which as many readings stand for."""
        count = sum(self.readings.values())
        return share(self.duration_ns, count, readings)[1:] if count else (0, self.duration_ns)

    def rows(self) -> Iterable[tuple[Any, ...]]:
        """The rows of `stack_time`."""
        if not self.readings:
            yield (None, *self.key, 0, self.duration_ns, None, None, 0, 0)
        for number, readings in self.readings.items():
            time_ns = self.times_ns[number]
            yield (number or None, *self.key, readings, time_ns, *self.interval(readings), 0, 0)


def _states(swept: Mapping[str, Any], tree: _Tree) -> list[_State]:
    readings: dict[Any, Counter[int]] = {}
    for *key, number, count in state_rows(swept["state_reading"], "stack", "readings"):
        readings.setdefault(tuple(key), Counter())[tree.same[number]] += count
    times = state_times(swept["breakdown"])
    return [_State(key, times_ns, readings.get(key, {})) for key, times_ns in times.items()]


def _own_lines(states: Sequence[_State], tree: _Tree) -> dict[tuple[Any, ...], dict[_Line, None]]:
    """By stage and operation: the lines that readings found as the innermost ones of the program's
    own code, in any layer."""
    found: dict[tuple[Any, ...], dict[_Line, None]] = {}
    for each in states:
        found.setdefault(each.operation, {}).update(dict.fromkeys(tree.own_lines(each.readings)))
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
        yield (number or None, stage, operation, _GPU, 0, 0, 0, 0, calls, gpu_ns)


@dataclass
class _Sums:
    """What a line has of one state."""

    self_ns: int = 0
    own_ns: int = 0
    own_readings: int = 0
    total_ns: int = 0
    readings: int = 0


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
        sums: dict[_Line, _Sums] = {line: _Sums() for line in others}
        own: dict[_Line, bool] = dict.fromkeys(sums, True)

        def of(number: int) -> _Sums:
            node = self.nodes[number]
            own[node.line] = node.is_own
            return sums.setdefault(node.line, _Sums())

        inside_ns = Counter(state.times_ns)
        inside = Counter(state.readings)
        for number in self._with_callers(state.readings):
            if number in self._outermost:
                of(number).total_ns += inside_ns[number]
                of(number).readings += inside[number]
            inside_ns[self.nodes[number].parent] += inside_ns[number]
            inside[self.nodes[number].parent] += inside[number]
        for number, readings in state.readings.items():
            if number == _UNKNOWN:
                continue
            of(number).self_ns += state.times_ns[number]
            innermost = self._innermost_own[number]
            if innermost != _UNKNOWN:
                of(innermost).own_ns += state.times_ns[number]
                of(innermost).own_readings += readings
        waits = state.key[-1] == _WAIT
        for line, each in sums.items():
            interval = state.interval(each.own_readings) if own[line] else (0, 0)
            yield (
                *line, own[line], *state.key, each.readings, each.self_ns, each.own_ns, *interval,
                each.total_ns, each.own_ns if waits else 0, 0, 0, 0,
            )  # fmt: skip
        rest_ns = state.duration_ns - sum(each.own_ns for each in sums.values())
        if waits and rest_ns:
            yield (*_NO_LINE, *state.key, 0, 0, 0, 0, 0, 0, rest_ns, 0, 0, 0)

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
            yield (*line, *state, _GPU, 0, 0, 0, 0, 0, 0, 0, *exact)

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
