"""Where the text of a program asks PyTorch for double precision."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from rlscope.analysis import statement
from rlscope.analysis.source_code import name_of, source_of

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace

_NAMES = frozenset(("double", "float64", "DoubleTensor"))


def asked_at(trace: Trace) -> tuple[str, int] | None:
    """File and number of a line: one that sets the default, or the first of others."""
    found = [
        (rank, file, line)
        for file in statement.run(trace, "findings/own_file", pattern="|".join(_NAMES))["file"]
        for rank, line in _lines_of(source_of(trace, file).tree or ast.Module([], []))
    ]
    return min(found)[1:] if found else None


def _lines_of(tree: ast.AST) -> Iterator[tuple[int, int]]:
    """Each with 0 if it sets the default, 1 if it is of PyTorch's numbers."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            given = {name_of(each) for each in node.args}
            if name_of(node.func).startswith("set_default_") and given & _NAMES:
                yield 0, node.lineno
            elif name_of(node.func) == "double" and not node.args:
                yield 1, node.lineno
        elif isinstance(node, ast.Attribute) and node.attr in _NAMES:
            if name_of(node.value) in ("torch", "th"):
                yield 1, node.lineno
