"""Which functions of a program's text compute the same several times before it may change.

def step(self, action):
    self.move(action)
    return self.seen(), self.reward(), self.is_over()    # of which each asks self.distances()
"""

from __future__ import annotations

import ast
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass

from rlscope.analysis.kept_results import Call, calls_of_kept, may_change
from rlscope.analysis.pure_functions import is_own_call, is_pure
from rlscope.analysis.repeated_calls import lines_of_the_same
from rlscope.analysis.source_code import Function, Source, name_of

_DEEPEST = 3  # functions that call functions
_FEWEST = 2


@dataclass(frozen=True)
class Repeated:
    """A call that gives the same several times."""

    name: str
    """Of the function."""
    times: int
    lines: frozenset[int]
    """All that call it like that."""


def computed_again(
    source: Source, costly: Container[int], seen: Container[int]
) -> Iterator[Repeated]:
    """Calls of pure functions that are given what stays the same: self.distances(). A function
    makes each at least twice, by itself or in pure functions that it calls, and nothing in between
    may change what is read.

    Args:
        costly: the lines that are looked at, and the functions around them.
        seen: lines that ran for long enough to be seen.
    """
    functions, every = source.functions_by_name(), source.functions_of_name()
    around = [
        function
        for nodes in every.values()
        for function in nodes
        if any(line in costly for line in range(function.lineno, (function.end_lineno or 0) + 1))
    ]
    for text, (call, lines) in calls_of_kept(source, costly).items():
        asked = _Asked(text, call, functions, every, seen)
        times = max((_most_unchanged(function, asked) for function in around), default=0)
        if times >= _FEWEST:
            yield Repeated(call.name, times, frozenset(lines))


def computed_in_lines(source: Source, line: int) -> Repeated | None:
    """The call of a pure function that a line and others of the same function make with the same
    variables, which do not change: score(board, me) in three lines."""
    functions = source.functions_by_name()
    for node in source.around(line):
        if isinstance(node, ast.Call) and is_own_call(node) and name_of(node.func) in functions:
            name = name_of(node.func)
            lines = lines_of_the_same(source, line)
            if lines and is_pure(functions[name], functions):
                return Repeated(name, len(lines), frozenset(lines))
    return None


@dataclass(frozen=True)
class _Asked:
    text: str
    call: Call
    functions: Mapping[str, Function]
    every: Mapping[str, Sequence[Function]]
    seen: Container[int]


def _most_unchanged(function: Function, asked: _Asked) -> int:
    """How often a call is made at most until something may change."""
    most = times = 0
    for statement in function.body:
        times += _times_in(statement, asked, _DEEPEST)
        most = max(most, times)
        if times and may_change(statement, asked.call, asked.every):
            times = 0
    return most


def _times_in(statement: ast.stmt, asked: _Asked, deepest: int) -> int:
    """How often a statement makes the call, at least. What it takes is seen at the statement."""
    lines = range(statement.lineno, (statement.end_lineno or statement.lineno) + 1)
    if not any(line in asked.seen for line in lines):
        return 0
    return sum(_times(each, asked, deepest) for each in _always(statement))


def _times(part: ast.AST, asked: _Asked, deepest: int) -> int:
    """How often an expression makes the call, at least."""
    found = 0
    for node in _evaluated(part):
        if not isinstance(node, ast.Call) or not is_own_call(node):
            continue
        if ast.unparse(node) == asked.text:
            found += 1
        elif deepest and (called := asked.functions.get(name_of(node.func))) is not None:
            if is_pure(called, asked.functions):
                found += sum(_times_in(each, asked, deepest - 1) for each in called.body)
    return found


def _always(statement: ast.stmt) -> Iterator[ast.AST]:
    """What a statement computes whichever way it goes."""
    if isinstance(statement, (ast.If, ast.While)):
        yield statement.test
    elif isinstance(statement, ast.For):
        yield statement.iter
    elif isinstance(statement, ast.With):
        for each in statement.body:
            yield from _always(each)
    elif not hasattr(statement, "body"):
        yield statement


def _evaluated(part: ast.AST) -> Iterator[ast.AST]:
    """Its parts, but for those that may not be computed."""
    yield part
    parts: Sequence[ast.AST] = [*ast.iter_child_nodes(part)]
    if isinstance(part, ast.IfExp):
        parts = [part.test]
    elif isinstance(part, ast.BoolOp):
        parts = part.values[:1]
    elif isinstance(part, (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
        parts = [each.iter for each in getattr(part, "generators", [])[:1]]
    for each in parts:
        yield from _evaluated(each)
