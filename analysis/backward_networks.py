"""Of which networks a backward computes gradients that its optimizer does not use, by the program's
text: those that another optimizer trains, and that nothing froze.

    actor_loss = -critic(states, actor(states)).mean()
    actor_optimizer.zero_grad()
    actor_loss.backward()             # through the critic, whose weights get gradients, too
    actor_optimizer.step()
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace

from rlscope.analysis.loss_networks import UNKNOWN, NetworkCall, Scope
from rlscope.analysis.source_code import SCOPES, Source, name_of
from rlscope.analysis.trained_networks import Networks, Optimizers

_FREEZES = re.compile("freez|requires_grad|toggle|no_param")
# Objects whose method `backward` is given the loss.
_GIVEN = frozenset(("accelerator", "autograd", "fabric", "manager"))
# Arguments with which a backward computes no gradients of weights, or another one follows it.
_OTHERS = frozenset(("inputs", "retain_graph", "create_graph"))
_Place = tuple[int, int]
_END = (sys.maxsize, 0)


@dataclass(frozen=True)
class Backward:
    loss: str
    trained: tuple[NetworkCall, ...]
    """Calls of networks that the optimizer trains."""
    unfrozen: tuple[NetworkCall, ...]
    """Calls of others, through which the backward has to go, and whose weights need none."""

    @property
    def names(self) -> list[str]:
        """Of the unfrozen networks."""
        return list(dict.fromkeys(call.network for call in self.unfrozen))


def backward_at(optimizers: Optimizers, source: Source, line: int) -> Backward | None:
    """Of a line that calls a backward. None: all of it is needed, or it is not known."""
    passed = _passed_at(optimizers, source, line, optimizers.names)
    if passed is None:
        return None
    passed = replace(passed, networks=[each for each in passed.networks if each.is_sure])
    trained = passed.trained
    here = _Frozen(passed.scope, _place(passed.call))
    others = tuple(
        each
        for each in passed.networks
        if each.given & trained
        and optimizers.is_trained_apart(each.network, trained)
        and not here.has(each.network)
        and not _is_frozen_around(source, each)
    )
    return passed.of(others)


def _is_frozen_around(source: Source, call: NetworkCall) -> bool:
    """Whether the function that calls a network has frozen it there."""
    function = source.function_node(call.lines[0])
    return function is not None and _Frozen(function, (call.lines[-1], 0)).has(call.network)


def targets_at(optimizers: Optimizers, source: Source, line: int) -> Backward | None:
    """The same of networks that no optimizer trains, because they get the weights of others, and
    that are given nothing which a trained one made: no gradient has to go through them. Some calls
    may be in a branch that never runs."""
    targets = optimizers.copies - optimizers.names
    passed = _passed_at(optimizers, source, line, optimizers.names | targets) if targets else None
    if passed is None:
        return None
    others = tuple(
        each
        for each in passed.networks
        if each.network in targets
        and not each.given & passed.trained
        and not _is_frozen_anywhere(optimizers.trees, each.network)
    )
    return passed.of(others)


@dataclass(frozen=True)
class _Passed:
    """Of a line that calls a backward."""

    scope: ast.AST
    call: ast.Call
    loss: ast.expr
    trained: Networks
    networks: list[NetworkCall]
    """Calls that the loss comes of."""

    def of(self, unfrozen: tuple[NetworkCall, ...]) -> Backward | None:
        mine = tuple(each for each in self.networks if each.network in self.trained)
        return Backward(ast.unparse(self.loss), mine, unfrozen) if mine and unfrozen else None


def _passed_at(
    optimizers: Optimizers, source: Source, line: int, names: Networks
) -> _Passed | None:
    scope = source.function_node(line) or source.tree or ast.Module([], [])
    calls = sorted(_calls_in(scope), key=_place)
    found = [call for call in calls if call.lineno == line and _loss_of(call) is not None]
    if len(found) != 1 or _OTHERS & {each.arg for each in found[0].keywords}:
        return None
    call, loss = found[0], _loss_of(found[0])
    trained = _trained_after(optimizers, calls, call)
    stmt = next((each for each in source.around(line) if _is_statement_of(each, call)), None)
    if loss is None or not trained or not isinstance(stmt, ast.stmt):
        return None
    passed = Scope(scope, names, source.functions_by_name()).calls_for(loss, stmt, _place(call))
    if any(each.network == UNKNOWN for each in passed):
        return None
    return _Passed(scope, call, loss, trained, passed)


def _calls_in(scope: ast.AST) -> Iterator[ast.Call]:
    """Those of a scope, without functions in it."""
    for node in ast.iter_child_nodes(scope):
        if not isinstance(node, (*SCOPES, ast.ClassDef)):
            if isinstance(node, ast.Call):
                yield node
            yield from _calls_in(node)


def _place(node: ast.Call) -> _Place:
    """Of the end: scaler.scale(loss).backward() begins where scaler.scale(loss) does."""
    return node.end_lineno or node.lineno, node.end_col_offset or 0


def _loss_of(call: ast.Call) -> ast.expr | None:
    if not isinstance(call.func, ast.Attribute) or call.func.attr != "backward":
        return None
    if name_of(call.func.value) in _GIVEN:
        return call.args[0] if call.args else None
    return call.func.value


def _is_statement_of(node: ast.AST, call: ast.Call) -> bool:
    return isinstance(node, ast.Expr) and node.value is call


def _trained_after(
    optimizers: Optimizers, calls: list[ast.Call], backward: ast.Call
) -> Networks | None:
    """What the optimizers train that make a step before the next backward. None: not known."""
    found: set[str] = set()
    for call in calls[calls.index(backward) + 1 :]:
        if _loss_of(call) is not None:
            break
        nets = optimizers.of_step(call)
        if nets is None:
            return None
        found |= nets
    return frozenset(found)


class _Frozen:
    """What a scope says of whether weights of networks need gradients, before a place."""

    def __init__(self, scope: ast.AST, place: _Place) -> None:
        self._place = place
        self._said: list[tuple[_Place, Collection[str] | None, bool]] = []
        self._read(scope, {})
        self._said.sort(key=lambda each: each[0])

    def has(self, network: str) -> bool:
        """Whether it is frozen there, or may be: by the last that was said before, or if there is
        none by the last of all, because a loop comes back."""
        said = [each for each in self._said if each[1] is None or network in each[1]]
        before = [each for each in said if each[0] < self._place]
        return bool(said) and (before or said)[-1][2]

    def _read(self, node: ast.AST, loops: dict[str, Collection[str]]) -> None:
        if isinstance(node, ast.For):
            names = {name_of(part) for part in ast.walk(node.iter)}
            loops = {**loops, **dict.fromkeys(_names_in(node.target), names)}
        if isinstance(node, ast.Call) and _FREEZES.search(name_of(node.func).lower()):
            owner = getattr(node.func, "value", None)
            given = [*node.args, *(each.value for each in node.keywords)]
            if name_of(node.func) == "requires_grad_":
                is_frozen = bool(given) and getattr(given[0], "value", None) is not True
                self._say(node, owner, loops, is_frozen=is_frozen)
            else:
                self._said.append((_place(node), None, True))
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Attribute) and target.attr == "requires_grad":
                    is_frozen = getattr(node.value, "value", None) is not True
                    self._say(node, target.value, loops, is_frozen=is_frozen)
        for child in ast.iter_child_nodes(node):
            if not isinstance(child, (*SCOPES, ast.ClassDef)):
                self._read(child, loops)

    def _say(
        self,
        node: ast.Call | ast.Assign,
        owner: ast.AST | None,
        loops: dict[str, Collection[str]],
        *,
        is_frozen: bool,
    ) -> None:
        name = name_of(owner) if owner is not None else ""
        place = node.end_lineno or node.lineno, node.end_col_offset or 0
        self._said.append((place, loops.get(name, (name,)), is_frozen))


def _is_frozen_anywhere(trees: Iterable[ast.AST], network: str) -> bool:
    """Whether some function, or a file outside of its functions, leaves a network frozen."""
    functions = (
        node for tree in trees for node in ast.walk(tree) if isinstance(node, (ast.Module, *SCOPES))
    )
    return any(_Frozen(each, _END).has(network) for each in functions)


def _names_in(target: ast.expr) -> list[str]:
    return [part.id for part in ast.walk(target) if isinstance(part, ast.Name)]
