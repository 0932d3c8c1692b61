"""Which calls of a program's text give what an earlier call gave, as nothing changed between them.

def left(self, cell):
    return self.distances()[cell]     # of self.walls, which only build() sets

def product(v):
    g = gradient(loss(policy, obs))   # of variables of the function around alone
    return gradient(g @ v)
"""

from __future__ import annotations

import ast
from collections.abc import Container, Mapping
from dataclasses import dataclass

from rlscope.analysis.constant_values import changes, only_reads
from rlscope.analysis.pure_functions import is_pure
from rlscope.analysis.random_draws import draws
from rlscope.analysis.read_names import names_in
from rlscope.analysis.repeated_calls import given, trains
from rlscope.analysis.source_code import SCOPES, Function, Source, name_of

_SELF = "self"
# What calls a function that it is given for each of its steps.
_SOLVERS = frozenset("cg conjugate_gradient conjugate_gradients".split())
_DEEPEST = 3  # functions that call functions


@dataclass(frozen=True)
class Method:
    """A method without arguments, which computes with what its object has."""

    name: str
    reads: frozenset[str]
    """The attributes."""


def method_at(source: Source, line: int) -> Method | None:
    """The pure method of the same object that a line calls with nothing: self.distances()."""
    names = [
        node.func.attr
        for node in source.around(line)
        if isinstance(node, ast.Call) and not node.args and not node.keywords
        if isinstance(node.func, ast.Attribute) and _is_self(node.func.value)
    ]
    functions = source.functions_by_name() if names else {}
    for name in names:
        function = functions.get(name)
        if function is not None and is_pure(function, functions):
            reads = _attributes(function)
            if reads:
                return Method(name, reads)
    return None


def may_change(
    function: Function, method: Method, functions: Mapping[str, Function], deepest: int = _DEEPEST
) -> bool:
    """Whether a function may change what a method reads, or calls one of the file's own functions
    that may."""
    if _changes(function, method):
        return True
    called = {name_of(node.func) for node in ast.walk(function) if isinstance(node, ast.Call)}
    return deepest > 0 and any(
        may_change(functions[name], method, functions, deepest - 1)
        for name in called & functions.keys()
    )


def _changes(function: Function, method: Method) -> bool:
    names = {f"{_SELF}.{each}" for each in method.reads}
    return any(changes(node, names) or _gives(node, names) for node in ast.walk(function))


def _gives(node: ast.AST, names: Container[str]) -> bool:
    """Whether it sets an attribute, or gives what that has to others: another variable, or a
    function that may do more than read."""
    if isinstance(node, ast.Attribute):
        return not isinstance(node.ctx, ast.Load) and ast.unparse(node) in names
    if isinstance(node, ast.Assign):
        return ast.unparse(node.value) in names
    return (
        isinstance(node, ast.Call)
        and not only_reads(node)
        and any(ast.unparse(each) in names for each in given(node))
    )


def unchanged_in_closure(source: Source, line: int) -> str | None:
    """What a function inside of another one, which gives it away to be called again and again,
    computes at a line of variables of that one alone: it is the same in each of its calls. None:
    nothing, or it draws, or trains."""
    functions = [node for node in source.around(line) if isinstance(node, SCOPES)]
    closure = functions[-1] if functions else None
    if len(functions) < 2 or not isinstance(closure, ast.FunctionDef) or trains(closure):
        return None
    if not _is_given_away(functions[-2], closure.name):
        return None
    own = {each.arg for each in ast.walk(closure.args) if isinstance(each, ast.arg)}
    names = (each for each in ast.walk(closure) if isinstance(each, ast.Name))
    own |= {each.id for each in names if isinstance(each.ctx, ast.Store)}
    for node in closure.body:
        if isinstance(node, ast.Assign) and node.lineno <= line <= (node.end_lineno or 0):
            calls = [part for part in ast.walk(node.value) if isinstance(part, ast.Call)]
            is_own = {name.partition(".")[0] for name in names_in([node.value])} & own
            if calls and not is_own and not any(map(draws, calls)):
                return ast.unparse(node.targets[0])
    return None


def callers(functions: Mapping[str, Function], name: str) -> list[Function]:
    """The functions that call one of a name."""
    return [
        each
        for each in functions.values()
        if any(isinstance(node, ast.Call) and name_of(node.func) == name for node in ast.walk(each))
    ]


def _is_given_away(function: ast.AST, name: str) -> bool:
    """Whether a function returns one of its own, or gives it to a solver."""
    for node in ast.walk(function):
        if isinstance(node, ast.Return):
            values = [node.value]
        elif isinstance(node, ast.Call) and name_of(node.func) in _SOLVERS:
            values = [*node.args]
        else:
            continue
        if any(isinstance(each, ast.Name) and each.id == name for each in values):
            return True
    return False


def _attributes(function: Function) -> frozenset[str]:
    """Those of its object that a method reads, but for methods that it calls."""
    called = {id(node.func) for node in ast.walk(function) if isinstance(node, ast.Call)}
    return frozenset(
        node.attr
        for node in ast.walk(function)
        if isinstance(node, ast.Attribute) and _is_self(node.value) and id(node) not in called
    )


def _is_self(value: ast.AST) -> bool:
    return isinstance(value, ast.Name) and value.id == _SELF
