"""Whether a program runs an operation without gradients, by its text."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from rlscope.analysis import statement
from rlscope.analysis.source_code import GRADIENTS_OFF, name_of, source_of

if TYPE_CHECKING:
    from rlscope.analysis.critical_loop import Loop
    from rlscope.relations.trace import Trace

_TURNS_OFF = "set_grad_enabled"


def lines_around(trace: Trace, loop: Loop, operation: str) -> list[dict[str, Any]]:
    """Rows of findings/line_around: the program's lines that lead to it."""
    asked = {"process_id": loop.process_id, "operation": operation}
    return statement.run(trace, "findings/line_around", **asked).to_dicts()


def is_off(trace: Trace, lines: Iterable[dict[str, Any]]) -> bool:
    """Whether one of the lines that lead to an operation stands in a block that turns gradients
    off, or the program turns them off for all that follows: a call that is no block."""
    texts = [(source_of(trace, each["file"]), each["line"]) for each in lines]
    if any(source.is_under(line, GRADIENTS_OFF) for source, line in texts):
        return True
    files = statement.run(trace, "findings/own_file", pattern=_TURNS_OFF)["file"]
    return any(
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Call)
        and name_of(node.value.func) == _TURNS_OFF
        and [ast.unparse(each) for each in node.value.args] == ["False"]
        for file in files
        for node in ast.walk(source_of(trace, file).tree or ast.Module([], []))
    )
