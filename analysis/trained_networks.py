"""Which networks the optimizers of a program train, by its text.

    optimizer = Adam(list(q1.parameters()) + list(q2.parameters()))
    self.actor.optimizer.step()       # of a class with optimizer = Adam(self.parameters())

A network has the last part of its name: self.critic is critic.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import cached_property

from rlscope.analysis.source_code import name_of

Networks = frozenset[str]
_OPTIMIZERS = frozenset(
    "adadelta adagrad adam adamax adamw asgd lion nadam radam rmsprop sgd".split()
)
LINES = rf"(?i)optim|\.step\(|zero_grad|\b({'|'.join(sorted(_OPTIMIZERS))})\b"
"""What lines have that make optimizers, or call them: a regular expression."""
GIVE_TENSORS = frozenset(("buffers", "named_parameters", "parameters", "state_dict"))
"""Methods of a network that give all of its tensors."""
_JOINS = frozenset(("chain", "list", "tuple"))
_SELF = "self"


class Optimizers:
    """Of all files of a program."""

    def __init__(self, trees: Iterable[ast.AST]) -> None:
        self.trees = list(trees)

    @property
    def names(self) -> Networks:
        """Of all networks that are known to be trained."""
        return frozenset().union(*self._steps.values())

    @property
    def copies(self) -> Networks:
        """Networks that get the weights of others, or are copies, as target networks are."""
        loads = (call for call in self._calls if name_of(call.func) == "load_state_dict")
        found = {_owner(call) for call in loads if _states_of_others(call)}
        for tree in self.trees:
            for target, value in pairs(tree):
                if _is_copy_of(value, self.names):
                    found.add(name_of(target))
        return frozenset(found)

    def of_step(self, call: ast.Call) -> Networks | None:
        """What a call trains that is the step of an optimizer, or is given one as a scaler is.
        None: it is not known. Nothing: it is none, as that of an environment."""
        if name_of(call.func) != "step":
            return frozenset()
        places = [getattr(call.func, "value", call), *call.args]
        for place in places:
            if name_of(place) in self._known:
                return self._resolved(place)
        return None if any("opt" in name_of(each).lower() for each in places) else frozenset()

    def is_trained_apart(self, network: str, together: Networks) -> bool:
        """Whether optimizers train a network that train none of some others, and clear its
        gradients before."""
        mine = [nets for nets in self._steps.values() if network in nets]
        return bool(mine) and not any(nets & together for nets in mine) and network in self._cleared

    @cached_property
    def _known(self) -> dict[str, Networks | None]:
        """By the last part of an optimizer's name. None: not known, or several."""
        found: dict[str, Networks | None] = {}
        for tree in self.trees:
            for target, value in pairs(tree):
                if _is_optimizer(value):
                    name, nets = name_of(target), _trained_by(value, tree)
                    found[name] = nets if found.get(name, nets) == nets else None
        return found

    @cached_property
    def _steps(self) -> dict[str, Networks]:
        """What each optimizer trains that makes steps somewhere, by its full name."""
        calls = (call for call in self._calls if name_of(call.func) == "step")
        steps = ((ast.unparse(call.func), self.of_step(call)) for call in calls)
        return {name: nets for name, nets in steps if nets}

    @cached_property
    def _cleared(self) -> Networks:
        """Networks whose gradients are cleared somewhere."""
        found: set[str] = set()
        for call in self._calls:
            if name_of(call.func) == "zero_grad" and isinstance(call.func, ast.Attribute):
                found |= {name_of(call.func.value), *(self._resolved(call.func.value) or ())}
        return frozenset(found)

    @property
    def _calls(self) -> Iterator[ast.Call]:
        for tree in self.trees:
            yield from (node for node in ast.walk(tree) if isinstance(node, ast.Call))

    def _resolved(self, optimizer: ast.AST) -> Networks | None:
        """What an optimizer trains. One of a class that trains itself trains its owner."""
        nets = self._known.get(name_of(optimizer))
        if nets is None or _SELF not in nets:
            return nets
        owner = name_of(getattr(optimizer, "value", optimizer))
        is_known = owner != _SELF and isinstance(optimizer, ast.Attribute)
        return frozenset((owner,)) if is_known else None


def _owner(call: ast.Call) -> str:
    """Of a method: critic of self.critic.eval()."""
    return name_of(getattr(call.func, "value", call.func))


def _states_of_others(load: ast.Call) -> bool:
    """Whether a load_state_dict is given what the state_dict() of another network returns."""
    asked = [node for given in load.args for node in ast.walk(given) if isinstance(node, ast.Call)]
    owners = {_owner(call) for call in asked if name_of(call.func) == "state_dict"}
    return bool(owners) and _owner(load) not in owners


def _is_copy_of(value: ast.expr, networks: Networks) -> bool:
    """Whether a value is deepcopy(network), of one that is trained."""
    if not isinstance(value, ast.Call) or name_of(value.func) != "deepcopy" or not value.args:
        return False
    return name_of(value.args[0]) in networks


def pairs(tree: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    """What is assigned, and its value: a, b = f(), g() are two."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                yield from pairs_of(target, node.value)
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            yield node.target, node.value


def pairs_of(target: ast.expr, value: ast.expr) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Those of one assignment. Each of several targets has a value that is one call."""
    if not isinstance(target, (ast.Tuple, ast.List)):
        yield target, value
        return
    values = [value] * len(target.elts)
    if isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == len(target.elts):
        values = value.elts
    for each, given in zip(target.elts, values, strict=True):
        yield from pairs_of(each, given)


def _is_optimizer(value: ast.expr) -> bool:
    if not isinstance(value, ast.Call):
        return False
    text = ast.unparse(value.func).lower()
    return "optim" in text or text.rpartition(".")[2] in _OPTIMIZERS


def _trained_by(value: ast.expr, tree: ast.AST) -> Networks | None:
    given = [*getattr(value, "args", ())[:1]]
    given += [each.value for each in getattr(value, "keywords", ()) if each.arg == "params"]
    return _networks_in(given[0], tree) if given else None


def _networks_in(given: ast.expr, tree: ast.AST) -> Networks | None:
    """Networks whose parameters an optimizer is given. None: there may be others."""
    if isinstance(given, ast.Call) and isinstance(given.func, ast.Attribute):
        if given.func.attr == "parameters":
            owner = given.func.value
            is_named = isinstance(owner, (ast.Name, ast.Attribute))
            return frozenset((name_of(owner),)) if is_named else None
    if isinstance(given, ast.Call) and name_of(given.func) in _JOINS:
        return _all_in(given.args, tree)
    if isinstance(given, ast.Call) and name_of(given.func) == "filter":
        return _all_in(given.args[1:], tree)
    if isinstance(given, ast.BinOp) and isinstance(given.op, ast.Add):
        return _all_in([given.left, given.right], tree)
    if isinstance(given, (ast.List, ast.Tuple)):
        # A variable among them is a tensor of its own, as the temperature of SAC.
        parts = [each for each in given.elts if not isinstance(each, (ast.Name, ast.Attribute))]
        return _all_in(parts, tree)
    if isinstance(given, ast.Starred):
        return _networks_in(given.value, tree)
    if isinstance(given, ast.Dict):
        keys = [getattr(key, "value", None) for key in given.keys]
        if "params" in keys:
            return _all_in([given.values[keys.index("params")]], tree)
        return None
    if isinstance(given, ast.Name):
        values = [value for target, value in pairs(tree) if ast.unparse(target) == given.id]
        others = [value for value in values if not isinstance(value, ast.Name)]
        return _networks_in(others[0], tree) if len(values) == len(others) == 1 else None
    return None


def _all_in(parts: Iterable[ast.expr], tree: ast.AST) -> Networks | None:
    found: set[str] = set()
    for part in parts:
        nets = _networks_in(part, tree)
        if nets is None:
            return None
        found |= nets
    return frozenset(found)
