"""Which lines of a program's text make the same in each call of their function."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from rlscope.analysis.source_code import LOOPS, SCOPES, Source, name_of
from rlscope.analysis.trained_networks import pairs_of

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
# What only reads the arrays that it is given: functions of Python, and of these libraries but some.
_READS = frozenset(
    "abs all any bool enumerate float int len list max min print range reversed round sorted str"
    " sum tuple zip".split()
)
_LIBRARIES = frozenset(("F", "jnp", "math", "np", "numpy", "th", "torch"))
_WRITES = frozenset(
    "as_tensor asarray at copyto fill_diagonal from_numpy place put put_along_axis putmask"
    " shuffle".split()
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
    array = _Array(
        call,
        {
            target.id
            for node in ast.walk(function)
            if isinstance(node, ast.Assign)
            for target, value in _pairs(node)
            if value is call and isinstance(target, ast.Name)
        },
    )
    return any(
        array.is_given_away(node) or _changes(node, array.names) for node in ast.walk(function)
    )


def _pairs(node: ast.Assign) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Targets, each with its value: a, b = f(), g() are two."""
    for target in node.targets:
        yield from pairs_of(target, node.value)


@dataclass(frozen=True)
class _Array:
    """What a call made, and the variables that are set to it."""

    call: ast.Call
    names: set[str]

    def is_given_away(self, node: ast.AST) -> bool:
        """Whether others may keep the array, or change it: who calls the function, an object, a
        container, another variable, or a function that may do more than read."""
        if isinstance(node, (ast.Return, ast.Yield)):
            return self._is_in(node.value)
        if isinstance(node, ast.Assign):
            return any(
                self._is_in(value) and not (value is self.call and isinstance(target, ast.Name))
                for target, value in _pairs(node)
            )
        if not isinstance(node, ast.Call) or node is self.call or _only_reads(node):
            return False
        return any(map(self._is_in, (*node.args, *(each.value for each in node.keywords))))

    def _is_in(self, value: ast.AST | None) -> bool:
        """Whether a value is the array, or a container with it."""
        if isinstance(value, (ast.Tuple, ast.List, ast.Set)):
            return any(map(self._is_in, value.elts))
        if isinstance(value, ast.Dict):
            return any(map(self._is_in, value.values))
        return value is self.call or (isinstance(value, ast.Name) and value.id in self.names)


def _only_reads(call: ast.Call) -> bool:
    name = name_of(call.func)
    if any(each.arg == "out" for each in call.keywords) or name in _WRITES:
        return False
    return name in _READS or ast.unparse(call.func).partition(".")[0] in _LIBRARIES


def _changes(node: ast.AST, names: set[str]) -> bool:
    if isinstance(node, ast.AugAssign):
        return ast.unparse(node.target).partition("[")[0] in names
    if isinstance(node, ast.Subscript):
        return isinstance(node.ctx, ast.Store) and ast.unparse(node.value) in names
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.attr in _CHANGES and ast.unparse(node.func.value) in names
    return False
