"""Which values of a program's text are lists of Python's objects, how long they are, and which are
whole numbers."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Container, Iterator

from rlscope.analysis.program_options import option_number
from rlscope.analysis.source_code import Source, name_of

_DISPLAYS = (ast.List, ast.Tuple, ast.ListComp)
_MAKE_LISTS = frozenset(("list", "map", "sorted", "tolist", "zip"))
_KEEP_LENGTH = frozenset(("ModuleList", "enumerate", "list", "reversed", "tuple", "zip"))
_ARITHMETIC: dict[type, Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Mult: operator.mul,
    ast.Sub: operator.sub,
}
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


def passes_of(source: Source, line: int) -> int | None:
    """How many passes the loop around a line has, if the text says it: range(10), zip(nets, goals)
    after nets = [Net() for _ in range(10)], (left, right). None: it does not."""
    loop = source.innermost_loop(line)
    parts = getattr(loop, "generators", [loop])
    over = getattr(parts[0], "iter", None)
    return None if over is None else _length_of(source, over, line, 2 * _DEEPEST)


def number_given(source: Source, name: str) -> int | None:
    """The number that the first call of a function of this name is given: a literal, or what a
    variable or a parameter was set to. None: it is given none, or the text does not say it."""
    line = source.call_of(name)
    for node in ast.walk(source.tree or ast.Module([], [])):
        if isinstance(node, ast.Call) and node.lineno == line and name_of(node.func) == name:
            return number_of(source, node.args[0], node.lineno) if node.args else None
    return None


def number_of(source: Source, value: ast.expr, line: int) -> int | None:
    """The number that a value is, in a line: as for number_given."""
    return _number(source, value, line, _DEEPEST)


def _length_of(source: Source, value: ast.expr, line: int, deepest: int) -> int | None:
    if deepest == 0:
        return None
    if isinstance(value, (ast.List, ast.Tuple)):
        return len(value.elts)
    if isinstance(value, (ast.ListComp, ast.GeneratorExp)):
        over = value.generators
        return _length_of(source, over[0].iter, line, deepest - 1) if len(over) == 1 else None
    if isinstance(value, ast.Call) and len(value.args) == 1 and name_of(value.func) == "range":
        return _number(source, value.args[0], line, deepest - 1)
    if isinstance(value, ast.Call) and value.args and name_of(value.func) in _KEEP_LENGTH:
        return _length_of(source, value.args[0], line, deepest - 1)
    made = _made(source, value, line)
    return None if made is None else _length_of(source, made, made.lineno, deepest - 1)


def _number(source: Source, value: ast.expr, line: int, deepest: int) -> int | None:
    if isinstance(value, ast.Constant) and isinstance(value.value, int):
        return value.value
    if isinstance(value, ast.BinOp) and type(value.op) in _ARITHMETIC and deepest:
        parts = [_number(source, each, line, deepest - 1) for each in (value.left, value.right)]
        known = [each for each in parts if each is not None]
        return _ARITHMETIC[type(value.op)](*known) if len(known) == len(parts) else None
    made = _made(source, value, line)
    if made is None and isinstance(value, ast.Name):
        made = _argument(source, value.id, line)
    if made is None and isinstance(value, ast.Attribute):
        return option_number(source, value.attr)
    return None if made is None or deepest == 0 else _number(source, made, line, deepest - 1)


def _argument(source: Source, name: str, line: int) -> ast.expr | None:
    """What the function around a line is given for a parameter, if all calls in the file give it
    the same; else what it is by default: Critics(10), def __init__(self, n=10)."""
    function = source.function_node(line)
    if function is None:
        return None
    parameters = [*function.args.posonlyargs, *function.args.args]
    names = [each.arg for each in parameters]
    if name not in names:
        return None
    place = names.index(name)
    defaults = function.args.defaults
    by_default = defaults[place - len(names)] if len(names) - place <= len(defaults) else None
    owners = [each.name for each in source.around(line) if isinstance(each, ast.ClassDef)]
    called = owners[-1] if owners and function.name == "__init__" else function.name
    given = [
        _given(call, name, place - bool(owners)) or by_default
        for call in ast.walk(source.tree or ast.Module([], []))
        if isinstance(call, ast.Call) and name_of(call.func) == called
    ]
    first = given[0] if given else by_default
    texts = {each and ast.unparse(each) for each in given}
    return first if len(texts) <= 1 else None


def _given(call: ast.Call, name: str, place: int) -> ast.expr | None:
    """What a call gives for a parameter, by its name or its place."""
    by_name = (each.value for each in call.keywords if each.arg == name)
    return next(by_name, call.args[place] if 0 <= place < len(call.args) else None)


def _made(source: Source, value: ast.expr, line: int) -> ast.expr | None:
    """What a variable, or an attribute, was set to."""
    if not isinstance(value, (ast.Name, ast.Attribute)):
        return None
    return _value_of(source, ast.unparse(value), line)


def _is_list(source: Source, value: ast.expr, line: int, deepest: int) -> bool:
    if isinstance(value, _DISPLAYS):
        return True
    if isinstance(value, ast.Call):
        return name_of(value.func) in _MAKE_LISTS
    made = _made(source, value, line) if deepest else None
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
