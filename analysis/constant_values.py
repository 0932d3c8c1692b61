"""Which values of a program's text are the same whenever they are computed, and stay the same."""

from __future__ import annotations

import ast
from collections.abc import Container, Iterator
from dataclasses import dataclass

from rlscope.analysis.source_code import LOOPS, SCOPES, name_of
from rlscope.analysis.trained_networks import pairs_of

_MODULES = frozenset(("math", "np", "numpy"))
_PLAIN = (
    *(ast.Constant, ast.UnaryOp, ast.unaryop, ast.BinOp, ast.operator, ast.Tuple, ast.List),
    *(ast.Compare, ast.cmpop, ast.Call, ast.Name, ast.Attribute, ast.expr_context, ast.keyword),
)
# Methods that change what they are a method of.
_CHANGES = frozenset(
    "add append appendleft clear extend fill insert itemset partition pop popitem put remove resize"
    " reverse setdefault setflags sort update".split()
)
# What only reads the values that it is given: functions of Python, and of these libraries but some.
_READS = frozenset(
    "abs all any bool enumerate float int len list max min print range reversed round sorted str"
    " sum tuple zip".split()
)
_LIBRARIES = frozenset(("F", "jnp", "math", "np", "numpy", "re", "th", "torch"))
_WRITES = frozenset(
    "as_tensor asarray at copyto fill_diagonal from_numpy place put put_along_axis putmask"
    " shuffle".split()
)
# What reads files, or memory that nobody has set.
_FROM_OUTSIDE = frozenset(
    "empty empty_like fromfile fromregex genfromtxt load loadtxt memmap".split()
)
# Methods of a container that give what is in it.
_PARTS = frozenset("get items keys values".split())


def is_constant(tree: ast.AST, function: ast.AST, value: ast.AST) -> bool:
    """Whether a value of a function is computed of constants alone, by Python or NumPy."""
    return _is_constant(tree, function, value, frozenset())


def _is_constant(tree: ast.AST, function: ast.AST, value: ast.AST, asked: frozenset[str]) -> bool:
    """`asked`: variables of the function that it is asked for."""
    parts = [*ast.walk(value)]
    calls = [part for part in parts if isinstance(part, ast.Call)]
    if not all(isinstance(part, _PLAIN) for part in parts) or not all(map(_computes, calls)):
        return False
    inner = {id(part.value) for part in parts if isinstance(part, ast.Attribute)}
    inner |= {id(call.func) for call in calls}
    return all(
        is_kept(tree, function, part) or _is_local(tree, function, part, asked)
        for part in parts
        if isinstance(part, (ast.Name, ast.Attribute)) and id(part) not in inner
    )


def _computes(call: ast.Call) -> bool:
    """Whether it is a function of numbers: of NumPy but for draws and files, or of Python."""
    text = ast.unparse(call.func)
    if text.partition(".")[0] in _MODULES:
        made = ".random" not in text and name_of(call.func) not in _FROM_OUTSIDE
        return made and only_reads(call)
    return text in _READS and text != "print"


def _is_local(
    tree: ast.AST, function: ast.AST, name: ast.Name | ast.Attribute, asked: frozenset[str]
) -> bool:
    """Whether a function sets its variable once, to a constant that nothing changes there."""
    text = ast.unparse(name)
    if not isinstance(name, ast.Name) or text in asked or len([*_settings(function, text)]) != 1:
        return False
    values = [
        value
        for node in ast.walk(function)
        if isinstance(node, ast.Assign)
        for target, value in _pairs(node)
        if ast.unparse(target) == text
    ]
    return bool(values) and all(
        _is_constant(tree, function, value, asked | {text}) and not is_changed(function, value)
        for value in values
    )


def is_kept(tree: ast.AST, function: ast.AST, name: ast.Name | ast.Attribute) -> bool:
    """Whether a variable is set once, as the program begins or as an object is made, and no part of
    it changes."""
    text = ast.unparse(name)
    if text.partition(".")[0] in _MODULES:
        return True
    if any(changes(node, {text}) for node in ast.walk(tree)):
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


def is_changed(function: ast.AST, value: ast.expr) -> bool:
    """Whether a function changes, or gives away, what it computes there, or an entry of it."""
    made = _Made(value, _names_of(function, value))
    return any(made.is_given_away(node) or changes(node, made.names) for node in ast.walk(function))


def _names_of(function: ast.AST, value: ast.expr) -> set[str]:
    """Variables that a function sets to a value, or to its entries."""
    names: set[str] = set()
    known = -1
    while known != len(names):
        known = len(names)
        for node in ast.walk(function):
            if isinstance(node, ast.Assign):
                pairs = [*_pairs(node)]
            elif isinstance(node, (ast.For, ast.comprehension)):
                pairs = [(node.target, node.iter)]
            else:
                continue
            for target, given in pairs:
                if _part_of(given) is value or ast.unparse(_part_of(given)) in names:
                    names |= {each.id for each in ast.walk(target) if isinstance(each, ast.Name)}
    return names


def _part_of(value: ast.expr) -> ast.expr:
    """rows[0]["name"], rows.items(): rows."""
    while True:
        if isinstance(value, ast.Subscript):
            value = value.value
        elif (
            isinstance(value, ast.Call)
            and isinstance(value.func, ast.Attribute)
            and value.func.attr in _PARTS
        ):
            value = value.func.value
        else:
            return value


def _pairs(node: ast.Assign) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Targets, each with its value: a, b = f(), g() are two."""
    for target in node.targets:
        yield from pairs_of(target, node.value)


@dataclass(frozen=True)
class _Made:
    """What a function computes, and the variables that are set to it."""

    value: ast.expr
    names: set[str]

    def is_given_away(self, node: ast.AST) -> bool:
        """Whether others may keep it, or change it: who calls the function, an object, a
        container, another variable, or a function that may do more than read."""
        if isinstance(node, (ast.Return, ast.Yield)):
            return self._is_in(node.value)
        if isinstance(node, ast.Assign):
            return any(
                self._is_in(given) and not (given is self.value and isinstance(target, ast.Name))
                for target, given in _pairs(node)
            )
        if not isinstance(node, ast.Call) or node is self.value or only_reads(node):
            return False
        return any(map(self._is_in, (*node.args, *(each.value for each in node.keywords))))

    def _is_in(self, value: ast.AST | None) -> bool:
        """Whether a value is it, or a container with it."""
        if isinstance(value, (ast.Tuple, ast.List, ast.Set)):
            return any(map(self._is_in, value.elts))
        if isinstance(value, ast.Dict):
            return any(map(self._is_in, value.values))
        return value is self.value or (isinstance(value, ast.Name) and value.id in self.names)


def only_reads(call: ast.Call) -> bool:
    """Whether a call is of a function of Python, NumPy or PyTorch that changes nothing."""
    name = name_of(call.func)
    if any(each.arg == "out" for each in call.keywords) or name in _WRITES:
        return False
    return name in _READS or ast.unparse(call.func).partition(".")[0] in _LIBRARIES


def changes(node: ast.AST, names: Container[str]) -> bool:
    """Whether a statement or a call changes what some variables and attributes have: it adds to
    one, sets an entry, also of an entry, or calls a method for that."""
    if isinstance(node, ast.AugAssign):
        return _owner_of(node.target) in names
    if isinstance(node, ast.Subscript):
        return isinstance(node.ctx, ast.Store) and _owner_of(node) in names
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.attr in _CHANGES and ast.unparse(node.func.value) in names
    return False


def _owner_of(target: ast.expr) -> str:
    """self.grid, of self.grid[1][2]."""
    while isinstance(target, ast.Subscript):
        target = target.value
    return ast.unparse(target)
