"""Functions of a program's text that give the same for the same arguments, and change nothing."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from rlscope.analysis.constant_values import only_reads
from rlscope.analysis.random_draws import draws
from rlscope.analysis.source_code import Function, name_of
from rlscope.analysis.trained_networks import pairs

# Methods of arrays, tensors, containers and texts that leave these as they are.
_READS = frozenset(
    (
        *"all any argmax argmin argsort astype clip copy count".split(),
        *"cumsum diagonal dot endswith flatten format get index items".split(),
        *"join keys lower max mean min nonzero prod ravel".split(),
        *"repeat reshape round split squeeze startswith std strip sum".split(),
        *"tobytes tolist transpose unsqueeze upper values var view".split(),
    )
)
# What fills or empties a container that the function itself has made.
_FILLS = frozenset("add append appendleft extend insert pop popleft remove update".split())
_DISPLAYS = (ast.Dict, ast.DictComp, ast.List, ast.ListComp, ast.Set, ast.SetComp)
_MAKERS = frozenset(
    "arange array concatenate copy defaultdict deque dict empty empty_like full list ones ones_like"
    " set sorted stack zeros zeros_like".split()
)
_LEAVES = (ast.Await, ast.Global, ast.Nonlocal, ast.Delete, ast.Import)
# Decorators that leave a function as it is written. Others may keep its results.
_AS_WRITTEN = frozenset(("classmethod", "staticmethod"))
_YIELDS = (ast.Yield, ast.YieldFrom)
_DEEPEST = 3  # functions that call functions


def is_pure(function: Function, functions: Mapping[str, Function], deepest: int = _DEEPEST) -> bool:
    """A generator gives another iterator each time, but may be called by such a function.

    Args:
        functions: the file's own, by name, which may be called, too.
    """
    if deepest == 0 or not all(name_of(each) in _AS_WRITTEN for each in function.decorator_list):
        return False
    own = _made_anew(function)
    leaves = (*_LEAVES, *_YIELDS) if deepest == _DEEPEST else _LEAVES
    for node in ast.walk(function):
        if isinstance(node, leaves):
            return False
        if isinstance(node, ast.Call) and not _is_pure_call(node, own, functions, deepest):
            return False
    return all(_owner(each) in own for each in _stored(function) if not isinstance(each, ast.Name))


def is_own_call(call: ast.Call) -> bool:
    """Whether it may be of a function of the same file: f(x), self.f(x)."""
    owner = getattr(call.func, "value", None)
    return isinstance(call.func, ast.Name) or (isinstance(owner, ast.Name) and owner.id == "self")


def _made_anew(function: Function) -> set[str]:
    """Variables that it sets to what nobody else has: a list, an array of NumPy."""
    made: set[str] = set()
    others = {each.arg for each in ast.walk(function.args) if isinstance(each, ast.arg)}
    for target, value in pairs(function):
        is_call = isinstance(value, ast.Call) and name_of(value.func) in _MAKERS
        (made if is_call or isinstance(value, _DISPLAYS) else others).add(ast.unparse(target))
    return made - others


def _stored(function: Function) -> Iterator[ast.expr]:
    """What it sets: variables, attributes, and entries."""
    for node in ast.walk(function):
        if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)):
            if isinstance(node.ctx, ast.Store):
                yield node


def _owner(target: ast.expr) -> str | None:
    """The variable of which an entry is set; None: an attribute is."""
    while isinstance(target, ast.Subscript):
        target = target.value
    return target.id if isinstance(target, ast.Name) else None


def _is_pure_call(
    call: ast.Call, own: set[str], functions: Mapping[str, Function], deepest: int
) -> bool:
    name = name_of(call.func)
    if only_reads(call):
        return name != "print" and not draws(call)
    if name in functions and is_own_call(call):
        return is_pure(functions[name], functions, deepest - 1)
    if isinstance(call.func, ast.Name):
        return name in _MAKERS
    if isinstance(call.func, ast.Attribute):
        return name in _READS or (name in _FILLS and _owner(call.func.value) in own)
    return False
