"""Numbers that a program's text and command line give its options.

parser.add_argument("--num-envs", type=int, default=8)     options.num_envs
class Config:                                              config.num_envs
    num_envs: int = 8
"""

from __future__ import annotations

import ast
import shlex
from collections.abc import Iterator

from rlscope.analysis.source_code import Source, name_of


def option_number(source: Source, name: str) -> int | None:
    """The whole number that an option has: that of the command line, else its default in the text.
    None: the file has no such option, or several that differ."""
    defaults = set(_defaults(source.tree or ast.Module([], []), name))
    if not defaults:
        return None
    given = _given(source.command, name)
    found = {_number(given)} if given is not None else defaults
    return found.pop() if len(found) == 1 else None


def _defaults(tree: ast.AST, name: str) -> Iterator[int | None]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and name_of(node.func) == "add_argument":
            if any(_is_option(each, name) for each in node.args):
                values = [each.value for each in node.keywords if each.arg == "default"]
                yield _constant(values[0]) if values else None
        elif isinstance(node, ast.ClassDef):
            for each in node.body:
                if isinstance(each, ast.AnnAssign) and ast.unparse(each.target) == name:
                    yield _constant(each.value)
                elif isinstance(each, ast.Assign) and ast.unparse(each.targets[0]) == name:
                    yield _constant(each.value)


def _is_option(argument: ast.expr, name: str) -> bool:
    text = argument.value if isinstance(argument, ast.Constant) else None
    return isinstance(text, str) and text.startswith("--") and _attribute(text) == name


def _constant(value: ast.expr | None) -> int | None:
    number = value.value if isinstance(value, ast.Constant) else None
    return number if isinstance(number, int) and not isinstance(number, bool) else None


def _given(command: str, name: str) -> str | None:
    """What a command line gives an option."""
    try:
        words = shlex.split(command)
    except ValueError:
        return None
    for place, word in enumerate(words):
        option, equals, value = word.partition("=")
        if option.startswith("--") and _attribute(option.rpartition(".")[2]) == name:
            return value if equals else "".join(words[place + 1 : place + 2])
    return None


def _attribute(option: str) -> str:
    return option.lstrip("-").replace("-", "_")


def _number(text: str) -> int | None:
    return int(text) if text.isdecimal() else None
