"""The program's own text, as the run kept it: which loop a line stands in, and what a line does."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rlscope.analysis import statement

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace

_LOOPS = (ast.For, ast.While, ast.ListComp, ast.GeneratorExp, ast.SetComp, ast.DictComp)
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


@dataclass(frozen=True)
class Source:
    """A file. Without a text, or with one that is no Python, nothing is known of its lines."""

    tree: ast.AST | None

    def loop_at(self, line: int) -> tuple[int, int] | None:
        """The first and the last line of the innermost loop in which a line is executed again and
        again, within its function."""
        found = None
        for node in self._around(line):
            if isinstance(node, _SCOPES):
                found = None
            elif isinstance(node, _LOOPS):
                found = (node.lineno, node.end_lineno or node.lineno)
        return found

    def statement_at(self, line: int) -> ast.stmt | None:
        """The innermost statement that the line is a part of."""
        found = None
        for node in self._around(line):
            if isinstance(node, ast.stmt):
                found = node
        return found

    def _around(self, line: int) -> Iterator[ast.AST]:
        """Nodes that contain a line, the outermost first."""
        if self.tree is None:
            return
        for node in ast.walk(self.tree):
            if getattr(node, "lineno", line + 1) <= line <= (getattr(node, "end_lineno", 0) or 0):
                yield node


def source_of(trace: Trace, file: str) -> Source:
    """What the run kept of a file."""
    rows = statement.run(trace, "findings/source", file=file).to_dicts()
    text = [""] * max((row["line"] for row in rows), default=0)
    for row in rows:
        text[row["line"] - 1] = row["text"]
    try:
        return Source(ast.parse("\n".join(text)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return Source(None)
