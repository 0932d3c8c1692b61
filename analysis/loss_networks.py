"""Which networks a value was computed with, by the program's text: calls of them in its expression,
in what was assigned before, and in what the program's own functions return, but for what autograd
does not record."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from rlscope.analysis.source_code import GRADIENTS_OFF, SCOPES, Function, name_of
from rlscope.analysis.trained_networks import pairs_of

UNKNOWN = ""
"""The network of a call that may be of one of several."""
# Methods after which autograd knows nothing of what was before, and attributes that do the same.
_ENDS = frozenset("argmax data detach item numpy tolist".split())
# Methods of networks that call them not.
_NO_CALLS = frozenset(
    "buffers cpu cuda eval named_parameters parameters requires_grad_ state_dict to train"
    " zero_grad".split()
)
_RETURN = "return"  # set like a variable
_DEEPEST = 2  # functions that call functions
_Place = tuple[int, int]


@dataclass(frozen=True)
class NetworkCall:
    network: str
    lines: range
    given: frozenset[str]
    """Networks that made what it is given."""
    is_sure: bool = True
    """Whether no `if` decides what was assigned."""


@dataclass(frozen=True)
class _Assignment:
    place: _Place
    target: str
    value: ast.expr
    branches: tuple[int, ...]
    """Of `if`s, around it."""
    is_recorded: bool
    adds: bool


class Scope:
    """The text of a function, or of a file outside of its functions."""

    def __init__(
        self,
        scope: ast.AST,
        networks: Collection[str],
        functions: Mapping[str, Function],
        given: Mapping[str, list[NetworkCall]] | None = None,
        deepest: int = _DEEPEST,
    ) -> None:
        """`functions`: the file's own, by name. `given`: what its parameters come of."""
        self._networks = networks
        self._functions = functions if deepest else {}
        self._given = given or {}
        self._deepest = deepest
        self._assignments = [*_assignments(scope, (), True)]
        self._known: dict[int, list[NetworkCall]] = {}
        self._branches = {id(node): branches for node, branches in _statements(scope, ())}

    def calls_for(self, value: ast.expr, stmt: ast.stmt, place: _Place) -> list[NetworkCall]:
        """Those that a value comes of which is computed in a statement, at a place."""
        found = self._calls(value, place, self._branches.get(id(stmt), ()))
        return list(dict.fromkeys(found))

    def _calls(
        self, node: ast.AST, place: _Place, branches: tuple[int, ...]
    ) -> Iterator[NetworkCall]:
        if isinstance(node, (ast.Call, ast.Attribute)):
            if name_of(getattr(node, "func", node)) in _ENDS:
                return
        if isinstance(node, SCOPES):
            return
        function = self._function(node)
        if function is not None and isinstance(node, ast.Call):
            yield from self._returned(function, node, place, branches)
            return
        inner = [
            found
            for child in ast.iter_child_nodes(node)
            for found in self._calls(child, place, branches)
        ]
        if isinstance(node, ast.Call):
            network = self._network(node.func)
            if network is not None:
                lines = range(node.lineno, (node.end_lineno or node.lineno) + 1)
                yield NetworkCall(network, lines, frozenset(each.network for each in inner))
        yield from inner
        if isinstance(node, (ast.Name, ast.Attribute)):
            yield from self._assigned(ast.unparse(node), place, branches)

    def _assigned(
        self, name: str, place: _Place, branches: tuple[int, ...]
    ) -> Iterator[NetworkCall]:
        """By the last assignment before, and by those behind it that an `if` decides on."""
        is_sure = True
        for number in range(len(self._assignments) - 1, -1, -1):
            last = self._assignments[number]
            if last.target != name or last.place >= place:
                continue
            runs = branches[: len(last.branches)] == last.branches
            if last.is_recorded:
                if number not in self._known:
                    self._known[number] = [*self._calls(last.value, last.place, last.branches)]
                for call in self._known[number]:
                    yield call if is_sure and runs else replace(call, is_sure=False)
            if not last.adds:
                if runs:
                    return
                is_sure = False
        yield from self._given.get(name, ())

    def _function(self, node: ast.AST) -> Function | None:
        """The program's own that a call is of: target(batch), self.target(batch)."""
        called = node.func if isinstance(node, ast.Call) else None
        is_own = isinstance(called, ast.Name) or (
            isinstance(called, ast.Attribute) and ast.unparse(called.value) == "self"
        )
        if called is None or not is_own or self._network(called) is not None:
            return None
        return self._functions.get(name_of(called))

    def _returned(
        self, function: Function, call: ast.Call, place: _Place, branches: tuple[int, ...]
    ) -> Iterator[NetworkCall]:
        """What a function's values come of. Where it turns gradients off, that is nothing."""
        if any(_ends_graphs(each) for each in function.decorator_list):
            return
        names = [each.arg for each in (*function.args.posonlyargs, *function.args.args)]
        if isinstance(call.func, ast.Attribute):
            names = names[1:]
        values = [*zip(names, call.args, strict=False)]
        values += [(each.arg, each.value) for each in call.keywords if each.arg is not None]
        given = {name: [*self._calls(value, place, branches)] for name, value in values}
        inside = Scope(function, self._networks, self._functions, given, self._deepest - 1)
        for each in inside._assignments:
            if each.target == _RETURN and each.is_recorded:
                yield from inside._calls(each.value, each.place, each.branches)

    def _network(self, function: ast.expr) -> str | None:
        if name_of(function) in _NO_CALLS:
            return None
        parts = []
        while isinstance(function, ast.Attribute):
            parts.append(function.attr)
            function = function.value
        if not isinstance(function, ast.Name):
            return None
        known = [part for part in (*parts, function.id) if part in self._networks]
        return (known[0] if len(known) == 1 else UNKNOWN) if known else None


def _blocks(node: ast.AST, branches: tuple[int, ...]) -> Iterator[tuple[ast.stmt, tuple[int, ...]]]:
    """The statements inside of one, each with the branches around it: 2 n of the n-th `if`'s body,
    and one more of its `else`."""
    for name in ("body", "orelse", "handlers", "finalbody", "cases"):
        parts: Sequence[ast.AST] = getattr(node, name, ())
        is_branch = isinstance(node, ast.If) or name == "handlers" or name == "cases"
        mark = 2 * getattr(node, "lineno", 0) + (name == "orelse")
        inside = (*branches, mark) if is_branch else branches
        for part in parts if isinstance(parts, list) else ():
            if isinstance(part, ast.stmt):
                yield part, inside
            else:
                yield from _blocks(part, inside)


def _statements(
    node: ast.AST, branches: tuple[int, ...]
) -> Iterator[tuple[ast.stmt, tuple[int, ...]]]:
    for stmt, inside in _blocks(node, branches):
        yield stmt, inside
        if not isinstance(stmt, (*SCOPES, ast.ClassDef)):
            yield from _statements(stmt, inside)


def _assignments(
    node: ast.AST, branches: tuple[int, ...], is_recorded: bool
) -> Iterator[_Assignment]:
    for stmt, inside in _blocks(node, branches):
        if isinstance(stmt, (*SCOPES, ast.ClassDef)):
            continue
        place = stmt.lineno, stmt.col_offset
        targets = getattr(stmt, "targets", [getattr(stmt, "target", None)])
        value = getattr(stmt, "value", None)
        if isinstance(stmt, (ast.Assign, ast.AugAssign, ast.AnnAssign)) and value is not None:
            for target in targets:
                for each, given in pairs_of(target, value):
                    adds = isinstance(stmt, ast.AugAssign)
                    yield _Assignment(place, ast.unparse(each), given, inside, is_recorded, adds)
        if isinstance(stmt, ast.Return) and stmt.value is not None:
            yield _Assignment(place, _RETURN, stmt.value, inside, is_recorded, True)
        recorded = is_recorded and not (isinstance(stmt, ast.With) and _turns_off(stmt))
        yield from _assignments(stmt, inside, recorded)


def _turns_off(block: ast.With) -> bool:
    return any(_ends_graphs(item.context_expr) for item in block.items)


def _ends_graphs(asked: ast.expr) -> bool:
    """Whether a decorator, or what a `with` enters, turns gradients off."""
    return name_of(asked.func if isinstance(asked, ast.Call) else asked) in GRADIENTS_OFF
