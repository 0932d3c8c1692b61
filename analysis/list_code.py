"""Which values of a program's text are lists of Python's objects."""

from __future__ import annotations

import ast
from collections.abc import Container, Iterator

from rlscope.analysis.source_code import Source, name_of

_DISPLAYS = (ast.List, ast.Tuple, ast.ListComp)
_MAKE_LISTS = frozenset(("list", "map", "sorted", "tolist", "zip"))
_DEEPEST = 4  # x = y, y = z, ...


def converts_list(source: Source, line: int, functions: Container[str]) -> bool:
    """Whether a line calls one of some functions with a list that the program makes:
    torch.tensor(states), after states.append(state)."""
    return any(
        isinstance(node, ast.Call)
        and name_of(node.func) in functions
        and node.lineno <= line <= (node.end_lineno or node.lineno)
        and node.args
        and _is_list(source, node.args[0], node.lineno, _DEEPEST)
        for node in ast.walk(source.tree or ast.Module([], []))
    )


def _is_list(source: Source, value: ast.expr, line: int, deepest: int) -> bool:
    if isinstance(value, _DISPLAYS):
        return True
    if isinstance(value, ast.Call):
        return name_of(value.func) in _MAKE_LISTS
    if not isinstance(value, (ast.Name, ast.Attribute)) or deepest == 0:
        return False
    made = _value_of(source, ast.unparse(value), line)
    return made is not None and _is_list(source, made, made.lineno, deepest - 1)


def _value_of(source: Source, name: str, line: int) -> ast.expr | None:
    """What a variable was set to last before a line of its function, or of the file; else after
    it, as in the loop around."""
    for scope in filter(None, (source.function_node(line), source.tree)):
        found = [*_assignments(scope, name)]
        before = [each for each in found if each.lineno < line]
        if found:
            return max(before or found, key=lambda each: each.lineno)
    return None


def _assignments(scope: ast.AST, name: str) -> Iterator[ast.expr]:
    for node in ast.walk(scope):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                yield from _parts(target, node.value, name)


def _parts(target: ast.expr, value: ast.expr, name: str) -> Iterator[ast.expr]:
    """What `name` is set to by an assignment, which may set several at once."""
    if isinstance(target, (ast.Tuple, ast.List)):
        values = value.elts if isinstance(value, (ast.Tuple, ast.List)) else None
        for place, part in enumerate(target.elts):
            alone = values[place] if values and len(values) == len(target.elts) else value
            yield from _parts(part, alone, name)
    elif ast.unparse(target) == name:
        yield value
