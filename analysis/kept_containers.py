"""Containers that a program keeps from step to step, and lines that go through them."""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Callable, Container, Iterator, Sequence
from functools import lru_cache

from rlscope.analysis.source_code import LOOPS, SCOPES, Source, name_of
from rlscope.analysis.trained_networks import pairs

# What gives all items of a container, or their numbers.
_ALL_OF = frozenset(("enumerate", "len", "list", "range", "reversed", "tuple"))
# What puts an item into a container.
_ADDS = frozenset(("append", "appendleft", "extend", "insert"))
# What makes one value of many, which could be kept up to date instead.
_STATISTICS = frozenset("mean median percentile quantile std sum var".split())
# Methods that look for an item, from the first one on.
_SEARCHES = frozenset(("count", "index", "remove"))
# Methods that move all items of a list, if their first argument is 0, and how many they have.
_IN_FRONT = frozenset((("pop", 1), ("insert", 2)))
_DICTIONARIES = ("Counter", "OrderedDict", "defaultdict", "dict")
_IN = (ast.In, ast.NotIn)
_NAMED = (ast.Attribute, ast.Name)
# Items of a stretch that is worth a word.
_FEW = 50


def reader_of_kept(source: Source, line: int, functions: Container[str]) -> str | None:
    """Which of some functions a line calls with a container that is kept, and gets one item after
    the other: np.array(self.rewards). Statistics may be of a stretch of it: seen.std() with
    seen = self.rows[:self.count]. None: none."""
    for node in source.around(line):
        if isinstance(node, ast.Call) and name_of(node.func) in functions:
            for value in _read_by(node):
                made = _made(source, line, value)
                is_part = isinstance(made, ast.Subscript)
                whole = _all_of(made)
                if is_part and (name_of(node.func) not in _STATISTICS or _is_short(made)):
                    continue  # such as the last frames, for a network
                if whole is not None and _is_kept(source, whole, line, _is_counted(made)):
                    return name_of(node.func)
    return None


def searched_list(source: Source, line: int) -> str | None:
    """By what a line looks for an item in such a list, from its first one on: `state in self.seen`,
    self.seen.index(state). None: it does not."""
    return _of_kept_list(source, line, _searched)


def moved_list(source: Source, line: int) -> str | None:
    """By what a line moves all items of such a list, to take or put one in front of them:
    self.rows.pop(0), self.rows.insert(0, row). None: it does not."""
    return _of_kept_list(source, line, _moved)


def sorted_queue(source: Source, line: int) -> str | None:
    """The list that a line sorts in each pass of a loop, which takes an item of it and puts others
    in: frontier.sort(), frontier.pop(0), frontier.append(place). None: it sorts none."""
    loop = source.innermost_loop(line)
    calls = [node for node in ast.walk(loop) if isinstance(node, ast.Call)] if loop else []
    asked = {
        (ast.unparse(call.func.value), call.func.attr, call.lineno == line)
        for call in calls
        if isinstance(call.func, ast.Attribute)
    }
    for name in [name for name, method, is_here in asked if method == "sort" and is_here]:
        methods = {method for owner, method, _ in asked if owner == name}
        if "pop" in methods and methods & _ADDS:
            return name
    return None


def _of_kept_list(
    source: Source, line: int, asks: Callable[[ast.AST], tuple[str, list[ast.expr]]]
) -> str | None:
    for node in source.around(line):
        how, places = asks(node)
        for place in places:
            if _is_made_list(source, ast.unparse(place)):
                if _is_kept(source, ast.unparse(place), line, is_counted=False):
                    return how
    return None


def _moved(node: ast.AST) -> tuple[str, list[ast.expr]]:
    """By what a part of a line moves the items of a list, and of which."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        first = getattr(node.args[0], "value", None) if node.args else None
        if first == 0 and (node.func.attr, len(node.args)) in _IN_FRONT:
            return f"{node.func.attr}(0)", [node.func.value]
    return "", []


def _searched(node: ast.AST) -> tuple[str, list[ast.expr]]:
    """By what a part of a line searches, and where."""
    if isinstance(node, ast.Compare) and any(isinstance(each, _IN) for each in node.ops):
        return "in", [each for each in node.comparators if isinstance(each, _NAMED)]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr in _SEARCHES and len(node.args) == 1:
            return node.func.attr, [node.func.value]
    return "", []


def _is_made_list(source: Source, container: str) -> bool:
    """Whether what a container is set to is a list, or a deque."""
    return any(
        isinstance(value, (ast.List, ast.ListComp)) or _is_made_by(value, "list", "deque")
        for value in _values_of(source, container)
    )


def is_deque(source: Source, container: str) -> bool:
    """Whether what a container is set to is a deque."""
    return any(_is_made_by(value, "deque") for value in _values_of(source, container))


def _is_dictionary(source: Source, container: str) -> bool:
    return any(
        isinstance(value, (ast.Dict, ast.DictComp)) or _is_made_by(value, *_DICTIONARIES)
        for value in _values_of(source, container)
    )


def _is_made_by(value: ast.expr, *functions: str) -> bool:
    return isinstance(value, ast.Call) and name_of(value.func) in functions


def _values_of(source: Source, name: str) -> Iterator[ast.expr]:
    """What a variable or an attribute is set to in a file, in both cases of a condition."""
    for target, value in pairs(source.tree or ast.Module([], [])):
        if ast.unparse(target) == name:
            yield from (value.body, value.orelse) if isinstance(value, ast.IfExp) else (value,)


def _read_by(call: ast.Call) -> Iterator[ast.expr]:
    """The first argument of a call, and what it is a method of."""
    yield from call.args[:1]
    if isinstance(call.func, ast.Attribute):
        yield call.func.value


def _made(source: Source, line: int, value: ast.expr) -> ast.expr:
    """What a variable was set to in the function around a line, if that is part of something."""
    function = source.function_node(line)
    if isinstance(value, ast.Name) and function is not None:
        for node in ast.walk(function):
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Subscript):
                if [ast.unparse(target) for target in node.targets] == [value.id]:
                    return node.value
    return value


def _all_of(value: ast.expr) -> str | None:
    """The attribute or variable of which a value has all, or a stretch: self.rows,
    range(len(self.rows)), [f(x) for x in self.rows], self.rows[-100:]. None: it is none."""
    if isinstance(value, ast.Call) and name_of(value.func) in _ALL_OF and value.args:
        return _all_of(value.args[0])
    if isinstance(value, ast.Call) and name_of(value.func) in ("items", "keys", "values"):
        return _all_of(getattr(value.func, "value", value.func))
    if isinstance(value, (ast.ListComp, ast.GeneratorExp)) and len(value.generators) == 1:
        return None if value.generators[0].ifs else _all_of(value.generators[0].iter)
    if isinstance(value, ast.Subscript) and isinstance(value.slice, ast.Slice):
        return _all_of(value.value)
    return ast.unparse(value) if isinstance(value, (ast.Attribute, ast.Name)) else None


def _is_short(value: ast.expr) -> bool:
    """Whether a value is a stretch of few items: self.rows[-4:], self.rows[:8]."""
    bounds = value.slice if isinstance(value, ast.Subscript) else ast.Pass()
    numbers = (node.value for node in ast.walk(bounds) if isinstance(node, ast.Constant))
    return any(isinstance(number, int) and number < _FEW for number in numbers)


def _is_counted(value: ast.expr) -> bool:
    """Whether a value is what an array has so far: self.rows[:self.count]."""
    upper = getattr(getattr(value, "slice", None), "upper", None)
    return isinstance(upper, (ast.Name, ast.Attribute))


def _is_kept(source: Source, container: str, line: int, is_counted: bool) -> bool:
    """Whether items are added to a container of the file, which is made once, and never made
    empty. They are added after it is made: in another function, or in a loop, which also has the
    line if the container is a variable of the same function. If it is an array of which a part is
    counted, or a dictionary, entries are set."""
    made, added = [], []
    has_entries = is_counted or _is_dictionary(source, container)
    for node, scope, loop in _changes(source.tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if ast.unparse(node.func.value) == container:
                if node.func.attr == "clear":
                    return False
                if node.func.attr in _ADDS:
                    added.append((scope, loop))
        elif isinstance(node, (ast.Assign, ast.AnnAssign, ast.Delete)):
            targets = [node.target] if isinstance(node, ast.AnnAssign) else node.targets
            made += [(scope, loop) for target in targets if _is_of(target, container)]
            if has_entries and any(_is_entry(target, container) for target in targets):
                added.append((scope, loop))
    if len(made) != 1:
        return False
    (maker, around), is_variable = made[0], container.isidentifier()
    if is_variable and (around is not None or not _sees(source, line, maker, container)):
        return False
    inside = is_variable and _function_of(source, line) is maker
    return any(
        scope is not maker or (is_variable and loop is not None)
        for scope, loop in added
        if not inside or _has(loop, line)
    )


@lru_cache(maxsize=8)
def _changes(tree: ast.AST | None) -> Sequence[tuple[ast.AST, ast.AST, ast.AST | None]]:
    """What may set, fill or empty a container: each with its function, or the file, and the
    outermost loop there around it. A file is gone through once, and not for each of its lines."""
    found: list[tuple[ast.AST, ast.AST, ast.AST | None]] = []
    nodes: deque[tuple[ast.AST, ast.AST, ast.AST | None]] = deque()
    if tree is not None:
        nodes.append((tree, tree, None))
    while nodes:
        node, scope, loop = nodes.popleft()
        if isinstance(node, (ast.Call, ast.Assign, ast.AnnAssign, ast.Delete)):
            found.append((node, scope, loop))
        elif isinstance(node, ast.ClassDef):
            found += [(each, node, None) for each in _fields(node)]
        elif isinstance(node, SCOPES):
            scope, loop = node, None
        elif loop is None and isinstance(node, LOOPS):
            loop = node
        nodes.extend((each, scope, loop) for each in ast.iter_child_nodes(node))
    return found


def _fields(node: ast.ClassDef) -> Iterator[ast.Assign]:
    """The fields of a dataclass that have a value, as if a method made them."""
    for each in node.body:
        if isinstance(each, ast.AnnAssign) and each.value and isinstance(each.target, ast.Name):
            field = ast.Attribute(ast.Name("self", ast.Load()), each.target.id, ast.Store())
            yield ast.Assign([field], each.value)


def _function_of(source: Source, line: int) -> ast.AST | None:
    return source.function_node(line) or source.tree


def _sees(source: Source, line: int, maker: ast.AST, name: str) -> bool:
    """Whether a line sees a variable of a function, or of the file: no argument hides it."""
    function = source.function_node(line)
    given = ast.walk(function.args) if function is not None else ()
    hidden = any(isinstance(each, ast.arg) and each.arg == name for each in given)
    return maker in (source.tree, _function_of(source, line)) and not hidden


def _has(loop: ast.AST | None, line: int) -> bool:
    first = getattr(loop, "lineno", line + 1)
    return first <= line <= getattr(loop, "end_lineno", first)


def _is_of(target: ast.expr, container: str) -> bool:
    """Whether an assignment makes a container, or its parts. a, self.rows = ... does."""
    if isinstance(target, (ast.Tuple, ast.List)):
        return any(_is_of(each, container) for each in target.elts)
    if isinstance(target, ast.Subscript):
        return isinstance(target.slice, ast.Slice) and ast.unparse(target.value) == container
    return ast.unparse(target) == container


def _is_entry(target: ast.expr, container: str) -> bool:
    """Whether an assignment sets one entry, which no text names."""
    if isinstance(target, (ast.Tuple, ast.List)):
        return any(_is_entry(each, container) for each in target.elts)
    is_entry = isinstance(target, ast.Subscript) and not isinstance(
        target.slice, (ast.Slice, ast.Constant)
    )
    return is_entry and ast.unparse(getattr(target, "value", target)) == container
