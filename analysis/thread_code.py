"""Which line of a program's text a thread runs again and again."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlscope.analysis.source_code import LOOPS, Function, Source, name_of

# What runs a function in a thread of the same process.
_RUNNERS = frozenset(("Thread", "Timer", "run_in_executor", "start_new_thread", "submit"))
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def line_in_thread(source: Source) -> int | None:
    """The first line of the first loop in a function that a thread runs, or of the function
    without a loop. Where the function is not in the file, the line that starts the thread."""
    tree = source.tree or ast.Module([], [])
    for started, name in _started(tree):
        if name is None:
            return started
        for node in ast.walk(tree):
            if isinstance(node, _DEFINITIONS) and node.name == name and node.lineno != started:
                return _loop_in(node)
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef) and any(_is_thread(base) for base in node.bases):
            for method in node.body:
                if isinstance(method, _DEFINITIONS) and method.name == "run":
                    return _loop_in(method)
    return next((started for started, _ in _started(tree)), None)


def _started(tree: ast.AST) -> Iterator[tuple[int, str | None]]:
    """The lines that start threads, each with the name of the function."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and name_of(node.func) in _RUNNERS:
            targets = [each.value for each in node.keywords if each.arg in ("target", "function")]
            names = (name_of(each) for each in [*targets, *node.args])
            yield node.lineno, next((name for name in names if name), None)


def _is_thread(base: ast.expr) -> bool:
    return name_of(base).endswith("Thread")


def _loop_in(function: Function) -> int:
    """The first line in its first loop, or the first of its own."""
    for node in ast.walk(function):
        if isinstance(node, LOOPS) and isinstance(node, (ast.For, ast.While)):
            return node.body[0].lineno
    return function.body[0].lineno
