"""Whether a program runs an operation without gradients, by its text."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from rlscope.analysis import statement
from rlscope.analysis.repeated_calls import given
from rlscope.analysis.source_code import GRADIENTS_OFF, name_of, source_of

if TYPE_CHECKING:
    from rlscope.analysis.critical_loop import Loop
    from rlscope.relations.trace import Trace

_TURNS_OFF = "set_grad_enabled"


def lines_around(trace: Trace, loop: Loop, operation: str) -> list[dict[str, Any]]:
    """Rows of findings/line_around: the program's lines that lead to it."""
    asked = {"process_id": loop.process_id, "operation": operation}
    return statement.run(trace, "findings/line_around", **asked).to_dicts()


def is_off(trace: Trace, lines: Iterable[dict[str, Any]], *, if_asked: bool) -> bool:
    """Whether one of the lines that lead to an operation stands in a block that turns gradients
    off, or the program turns them off for all that follows: a call that is no block.

    Args:
        if_asked: what a block says that asks a variable: set_grad_enabled(learns).
    """
    for each in lines:
        source, line = source_of(trace, each["file"]), each["line"]
        if source.is_under(line, GRADIENTS_OFF - {_TURNS_OFF}):
            return True
        if any(_turns_off(call, if_asked) for call in source.entered(line)):
            return True
    files = statement.run(trace, "findings/own_file", pattern=_TURNS_OFF)["file"]
    return any(
        isinstance(node, ast.Expr) and _turns_off(node.value, if_asked=False)
        for file in files
        for node in ast.walk(source_of(trace, file).tree or ast.Module([], []))
    )


def _turns_off(call: ast.expr, if_asked: bool) -> bool:
    if not isinstance(call, ast.Call) or name_of(call.func) != _TURNS_OFF:
        return False
    mode = next((each.value for each in given(call) if isinstance(each, ast.Constant)), None)
    return if_asked if mode is None else not mode
