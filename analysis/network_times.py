"""How long the forwards of networks take that a loss is computed with, by which they differ in
size."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rlscope.analysis import statement, training_lines
from rlscope.analysis.backward_networks import Backward
from rlscope.analysis.function_time import NETWORKS
from rlscope.analysis.loss_networks import NetworkCall
from rlscope.analysis.source_code import name_of, source_of
from rlscope.analysis.trained_networks import pairs

if TYPE_CHECKING:
    from rlscope.analysis.critical_loop import Loop
    from rlscope.relations.trace import Trace

_Place = tuple[str, int]


def of_backward(trace: Trace, loop: Loop, file: str, backward: Backward) -> float | None:
    """The part of the forwards that is of unfrozen networks. None: lines call both, and their text
    does not tell whose time it is."""
    calls = [*backward.trained, *backward.unfrozen]
    lines = sorted({line for call in calls for line in call.lines})
    asked = training_lines.asked(trace, loop, NETWORKS) | {"file": file, "lines": lines}
    rows = statement.run(trace, "findings/line_below", **asked).to_dicts()
    classes = _Classes(trace)
    unfrozen_ns = trained_ns = 0.0
    for row in rows:
        at = [call for call in calls if row["line"] in call.lines]
        sides = _sides(backward, at, (row["below_file"], row["below_line"]), classes)
        if sides is None:
            return None
        unfrozen_ns += row["total_ns"] * (sides == {True})
        trained_ns += row["total_ns"] * (sides == {False})
    return unfrozen_ns / (unfrozen_ns + trained_ns) if min(unfrozen_ns, trained_ns) > 0 else None


def _sides(
    backward: Backward, calls: Sequence[NetworkCall], below: _Place, classes: _Classes
) -> set[bool] | None:
    """Whether time at a line is of unfrozen networks: of all that it calls, or of those whose class
    has the line below. What no class has is that of functions of the library: mlp(4, 1)."""
    sides = {call in backward.unfrozen for call in calls}
    if len(sides) > 1:
        of_class = [call for call in calls if classes.has(call.network, below)]
        others = [call for call in calls if not classes.is_known(call.network)]
        sides = {call in backward.unfrozen for call in of_class or others}
    return sides if len(sides) == 1 else None


class _Classes:
    """Those of a program's networks, by the names of these: actor = Actor(3).to(device)."""

    def __init__(self, trace: Trace) -> None:
        self._places: dict[str, list[tuple[str, range]]] = {}
        self._made: dict[str, set[str]] = {}
        for file in statement.run(trace, "findings/own_file", pattern="")["file"]:
            tree = source_of(trace, file).tree or ast.Module([], [])
            for node in ast.walk(tree):
                if isinstance(node, ast.ClassDef):
                    lines = range(node.lineno, (node.end_lineno or node.lineno) + 1)
                    self._places.setdefault(node.name, []).append((file, lines))
            for target, value in pairs(tree):
                makers = {name_of(each.func) for each in _calls(value)}
                self._made.setdefault(name_of(target), set()).update(makers)

    def is_known(self, network: str) -> bool:
        return any(self._of(network))

    def has(self, network: str, place: _Place) -> bool:
        places = (each for found in self._of(network) for each in found)
        return any(file == place[0] and place[1] in lines for file, lines in places)

    def _of(self, network: str) -> list[Any]:
        return [self._places.get(name, []) for name in self._made.get(network, ())]


def _calls(value: ast.expr) -> list[ast.Call]:
    return [node for node in ast.walk(value) if isinstance(node, ast.Call)]
