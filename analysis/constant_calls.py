"""Which lines of a program's text make the same in each call of their function."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlscope.analysis.source_code import LOOPS, SCOPES, Source, name_of

_MODULES = frozenset(("np", "numpy"))
# Functions of NumPy that make an array of numbers alone.
_MAKERS = frozenset(
    "arange array asarray eye full geomspace identity linspace logspace meshgrid ones zeros".split()
)
_PLAIN = (
    *(ast.Constant, ast.UnaryOp, ast.unaryop, ast.BinOp, ast.operator, ast.Tuple, ast.List),
    *(ast.Name, ast.Attribute, ast.expr_context, ast.keyword),
)
# Methods that change what they are a method of.
_CHANGES = frozenset(
    "add append appendleft clear extend fill insert itemset partition pop put remove resize"
    " setflags sort update".split()
)


def constant_call(source: Source, line: int) -> str | None:
    """A function of NumPy that a line of a function, or of a loop, calls with constants alone, if
    nothing changes the array: np.linspace(-1, 1, 40)."""
    function = source.function_node(line) or (source.tree if source.loop_at(line) else None)
    if function is None or source.tree is None:
        return None
    for node in ast.walk(function):
        if isinstance(node, ast.Call) and node.lineno == line and _makes_array(node):
            given = [*node.args, *node.keywords]
            if all(_is_constant(source.tree, function, each) for each in given):
                return None if _is_changed(function, node) else name_of(node.func)
    return None


def is_all_of(source: Source, line: int) -> bool:
    """Whether a line only gives a name to what it calls."""
    return any(
        isinstance(node, ast.Assign)
        and isinstance(node.value, ast.Call)
        and all(isinstance(each, ast.Name) for each in node.targets)
        for node in source.around(line)
    )


def _makes_array(call: ast.Call) -> bool:
    if not isinstance(call.func, ast.Attribute) or not isinstance(call.func.value, ast.Name):
        return False
    return call.func.value.id in _MODULES and call.func.attr in _MAKERS


def _is_constant(tree: ast.AST, function: ast.AST, value: ast.AST) -> bool:
    parts = [*ast.walk(value)]
    if not all(isinstance(part, _PLAIN) for part in parts):
        return False
    owned = {id(part.value) for part in parts if isinstance(part, ast.Attribute)}
    return all(
        _is_kept(tree, function, part)
        for part in parts
        if isinstance(part, (ast.Name, ast.Attribute)) and id(part) not in owned
    )


def _is_kept(tree: ast.AST, function: ast.AST, name: ast.Name | ast.Attribute) -> bool:
    """Whether a variable is set once, as the program begins or as an object is made, and no part of
    it changes."""
    text = ast.unparse(name)
    if text.partition(".")[0] in _MODULES:
        return True
    if any(_changes(node, {text}) for node in ast.walk(tree)):
        return False
    if isinstance(name, ast.Attribute):
        places = [*_settings(tree, text)]
        return bool(places) and all(getattr(each, "name", "") == "__init__" for each in places)
    if any(each.arg == text for each in ast.walk(function) if isinstance(each, ast.arg)):
        return False
    return [*_settings(tree, text)] == [tree]


def _settings(tree: ast.AST, name: str) -> Iterator[ast.AST]:
    """The functions, loops, or the file, that set a variable, once for each time."""
    inside: list[tuple[ast.AST, ast.AST]] = [(tree, tree)]
    while inside:
        node, scope = inside.pop()
        context = getattr(node, "ctx", None)
        if isinstance(context, (ast.Store, ast.Del)) and ast.unparse(node) == name:
            yield scope
        scope = node if isinstance(node, (*SCOPES, *LOOPS)) else scope
        inside += [(each, scope) for each in ast.iter_child_nodes(node)]


def _is_changed(function: ast.AST, call: ast.Call) -> bool:
    """Whether a function changes, or gives away, what a call made there."""
    names = set()
    for node in ast.walk(function):
        if isinstance(node, (ast.Return, ast.Yield)) and node.value is call:
            return True
        if isinstance(node, ast.Assign) and any(part is call for part in ast.walk(node.value)):
            targets = [part for each in node.targets for part in ast.walk(each)]
            if any(isinstance(part, (ast.Attribute, ast.Subscript)) for part in targets):
                return True  # it is kept elsewhere
            if node.value is call or isinstance(node.value, ast.Tuple):
                names |= {ast.unparse(part) for part in targets if isinstance(part, ast.Name)}
    return any(_gives_away(node, names) or _changes(node, names) for node in ast.walk(function))


def _gives_away(node: ast.AST, names: set[str]) -> bool:
    if not isinstance(node, (ast.Return, ast.Yield)):
        return False
    parts = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
    return any(isinstance(each, ast.Name) and each.id in names for each in parts)


def _changes(node: ast.AST, names: set[str]) -> bool:
    if isinstance(node, ast.AugAssign):
        return ast.unparse(node.target).partition("[")[0] in names
    if isinstance(node, ast.Subscript):
        return isinstance(node.ctx, ast.Store) and ast.unparse(node.value) in names
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.attr in _CHANGES and ast.unparse(node.func.value) in names
    return False
