"""Which calls of a program's text give what an earlier call gave, as nothing changed between them.

def left(self, cell):
    return self.distances()[cell]     # of self.walls, which only build() sets

def product(v):
    g = gradient(loss(policy, obs))   # of variables of the function around alone
    return gradient(g @ v)
"""

from __future__ import annotations

import ast
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass

from rlscope.analysis.constant_values import changes, is_kept, only_reads
from rlscope.analysis.pure_functions import is_own_call, is_pure
from rlscope.analysis.random_draws import draws
from rlscope.analysis.read_names import names_in
from rlscope.analysis.repeated_calls import given, trains
from rlscope.analysis.source_code import SCOPES, Function, Source, name_of

_SELF = "self"
# What calls a function that it is given for each of its steps.
_SOLVERS = frozenset("cg conjugate_gradient conjugate_gradients".split())
_DEEPEST = 3  # functions that call functions


@dataclass(frozen=True)
class Call:
    """A call of a function of the same file, which computes with what its object has and with what
    stays the same."""

    name: str
    reads: frozenset[str]
    """Attributes of the object."""


def call_at(source: Source, line: int) -> Call | None:
    """The call of a pure function in a line that is given only what may have been the same before:
    self.distances(), search(self.walls, GOAL)."""
    functions = source.functions_by_name()
    for node in source.around(line):
        if isinstance(node, ast.Call) and (call := _of_kept(source, node, line, functions)):
            return call
    return None


def calls_of_kept(source: Source, lines: Container[int]) -> dict[str, tuple[Call, set[int]]]:
    """Such calls in some lines, by their text, with all lines of the file that call like that."""
    functions = source.functions_by_name()
    calls = [
        node
        for node in ast.walk(source.tree or ast.Module([], []))
        if isinstance(node, ast.Call) and is_own_call(node) and name_of(node.func) in functions
    ]
    found: dict[str, tuple[Call, set[int]]] = {}
    for node in calls:
        if node.lineno in lines and (call := _of_kept(source, node, node.lineno, functions)):
            found[ast.unparse(node)] = call, set()
    names = {call.name for call, _ in found.values()}
    for node in calls:
        if name_of(node.func) in names and ast.unparse(node) in found:
            found[ast.unparse(node)][1].add(node.lineno)
    return found


def _of_kept(
    source: Source, node: ast.Call, line: int, functions: Mapping[str, Function]
) -> Call | None:
    function = functions.get(name_of(node.func)) if is_own_call(node) else None
    if function is None or not is_pure(function, functions) or _is_replaced(source, function):
        return None
    if not _are_kept(source, line, node) or not _reads_what_stays(source, function, functions):
        return None
    reads = _of_self(given(node)) | _attributes(function, functions)
    return Call(function.name, reads) if reads or given(node) else None


def _is_replaced(source: Source, function: Function) -> bool:
    """Whether the file sets another function in its place: Maze.far = keep(Maze.far)."""
    return any(
        isinstance(node, (ast.Attribute, ast.Name))
        and isinstance(node.ctx, ast.Store)
        and (node.attr if isinstance(node, ast.Attribute) else node.id) == function.name
        for node in ast.walk(source.tree or function)
    )


def _are_kept(source: Source, line: int, call: ast.Call) -> bool:
    """Whether a call is given attributes of its object, constants and what the file keeps."""
    function = source.function_node(line)
    return function is not None and all(
        isinstance(each, ast.Constant)
        or _is_of_self(each)
        or (isinstance(each, ast.Name) and is_kept(source.tree or function, function, each))
        for each in given(call)
    )


def _reads_what_stays(
    source: Source, function: Function, functions: Mapping[str, Function]
) -> bool:
    """Whether what a function reads of its file is set once."""
    tree = source.tree or function
    set_by_file = {
        each.id
        for each in ast.walk(tree)
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
    }
    for each in _with_called(function, functions):
        own = {part.arg for part in ast.walk(each.args) if isinstance(part, ast.arg)}
        names = [part for part in ast.walk(each) if isinstance(part, ast.Name)]
        own |= {part.id for part in names if isinstance(part.ctx, ast.Store)}
        outer = (part for part in names if part.id in set_by_file - own)
        if not all(is_kept(tree, each, part) for part in outer):
            return False
    return True


def may_change(
    part: ast.AST,
    call: Call,
    functions: Mapping[str, Sequence[Function]],
    deepest: int = _DEEPEST,
) -> bool:
    """Whether a function, or a statement, may change what a call reads, or calls one of the file's
    own functions that may.

    Args:
        functions: all of the file's own of each name.
    """
    if _changes(part, call):
        return True
    called = {name_of(node.func) for node in ast.walk(part) if isinstance(node, ast.Call)}
    return deepest > 0 and any(
        may_change(each, call, functions, deepest - 1)
        for name in called & functions.keys()
        for each in functions[name]
    )


def _changes(part: ast.AST, call: Call) -> bool:
    """Of any object: what is self.maze.walls in one class may be self.walls in another one."""
    names = {
        ast.unparse(node)
        for node in ast.walk(part)
        if isinstance(node, ast.Attribute) and node.attr in call.reads
    }
    return any(changes(node, names) or _gives(node, names, call) for node in ast.walk(part))


def _gives(node: ast.AST, names: Container[str], call: Call) -> bool:
    """Whether it sets an attribute, or gives what that has to others: another variable, or a
    function that may do more than read."""
    if isinstance(node, ast.Attribute):
        return not isinstance(node.ctx, ast.Load) and ast.unparse(node) in names
    if isinstance(node, ast.Assign):
        return ast.unparse(node.value) in names
    return (
        isinstance(node, ast.Call)
        and name_of(node.func) != call.name
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


def callers(functions: Mapping[str, Sequence[Function]], name: str) -> list[Function]:
    """The functions that call one of a name."""
    return [
        each
        for nodes in functions.values()
        for each in nodes
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


def _attributes(function: Function, functions: Mapping[str, Function]) -> frozenset[str]:
    """Those of its object that a method and the methods that it calls read."""
    found: set[str] = set()
    for each in _with_called(function, functions):
        called = {id(node.func) for node in ast.walk(each) if isinstance(node, ast.Call)}
        found |= _of_self(node for node in ast.walk(each) if id(node) not in called)
    return frozenset(found)


def _of_self(nodes: Iterable[ast.AST]) -> frozenset[str]:
    """The attributes of the object among some nodes."""
    return frozenset(
        node.attr for node in nodes if isinstance(node, ast.Attribute) and _is_of_self(node)
    )


def _with_called(function: Function, functions: Mapping[str, Function]) -> list[Function]:
    """A function and those of its file that it calls, each once."""
    found, waiting = [function], [function]
    while waiting:
        calls = (node for node in ast.walk(waiting.pop()) if isinstance(node, ast.Call))
        for name in {name_of(call.func) for call in calls if is_own_call(call)} & functions.keys():
            if all(functions[name] is not each for each in found):
                found.append(functions[name])
                waiting.append(functions[name])
    return found


def _is_of_self(value: ast.AST) -> bool:
    return (
        isinstance(value, ast.Attribute)
        and isinstance(value.value, ast.Name)
        and value.value.id == _SELF
    )
