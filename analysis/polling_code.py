"""Which lines of a program's text ask again and again whether something is ready."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from rlscope.analysis.source_code import Source, name_of

_ASKS = frozenset("done empty exists full is_alive is_set poll qsize ready".split())
_TAKES_IF_READY = frozenset(("get_nowait", "recv_nowait"))
# They give the time, or a lock that nobody holds for long.
_BRIEF = frozenset("acquire get_lock len monotonic perf_counter release time".split())
_GO_ON = (ast.Pass, ast.Continue)


def asking_lines(source: Source, line: int) -> set[int]:
    """The lines that the innermost `while` around a line runs until something is ready. None where
    it works, sleeps or waits in every pass."""
    loop = source.innermost_loop(line)
    if not isinstance(loop, ast.While):
        return set()
    found = _Asking()
    found.look_at(loop.test)
    works = found.goes_through(loop.body)
    return found.lines if found.asks and not works else set()


class _Asking:
    """What every pass of a loop does, as far as it is known to find nothing ready."""

    def __init__(self) -> None:
        self.lines: set[int] = set()
        self.asks = False

    def look_at(self, *nodes: ast.AST) -> None:
        for node in nodes:
            self._add(node)
            self.asks = self.asks or not _calls([node]).isdisjoint(_ASKS)

    def goes_through(self, statements: Sequence[ast.stmt]) -> bool:
        """Whether it works there in every pass."""
        for each in statements:
            if isinstance(each, ast.If):
                if self._ends_at(each):
                    return False
            elif isinstance(each, ast.With):
                self.look_at(*(item.context_expr for item in each.items))
                if self.goes_through(each.body):
                    return True
            elif isinstance(each, ast.Try) and _takes_if_ready(each):
                self.asks = True
                for part in each.body:
                    self._add(part)
                return False
            elif _calls([each]) <= _ASKS | _BRIEF:
                self.look_at(each)
            else:
                return True
        return False

    def _ends_at(self, branch: ast.If) -> bool:
        """Whether nothing is known of what follows: it may be the work."""
        asks_here = not _calls([branch.test]).isdisjoint(_ASKS)
        self.look_at(branch.test)
        if asks_here:
            return isinstance(branch.body[-1], _GO_ON)
        self.goes_through(branch.body)
        return False

    def _add(self, node: ast.AST) -> None:
        first = getattr(node, "lineno", None)
        if first is not None:
            self.lines.update(range(first, (getattr(node, "end_lineno", None) or first) + 1))


def _calls(nodes: Iterable[ast.AST]) -> set[str]:
    """Names of what is called in them."""
    return {
        name_of(inner.func)
        for node in nodes
        for inner in ast.walk(node)
        if isinstance(inner, ast.Call)
    }


def _takes_if_ready(attempt: ast.Try) -> bool:
    goes_on = any(isinstance(each.body[-1], _GO_ON) for each in attempt.handlers)
    return goes_on and not _calls(attempt.body).isdisjoint(_TAKES_IF_READY)
