"""What follows "rlscope: " and "rls-prof: " begins in one way: in lower case, or with a name."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from pathlib import Path

import rlscope
from rlscope import errors

FOLDER = Path(rlscope.__file__).parent
ERRORS = {name for name, value in vars(errors).items() if inspect.isclass(value)}
# Names of ours may begin a message.
NAMES = ("Table.", "RLSCOPE_", "CUDA_", "SQL", "DIR")


def _messages(path: Path) -> Iterator[str]:
    """The literal beginnings of the messages of errors that the file raises."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.args):
            continue
        message = node.args[0]
        if isinstance(message, ast.JoinedStr) and message.values:
            message = message.values[0]
        is_text = isinstance(message, ast.Constant) and isinstance(message.value, str)
        if node.func.id in ERRORS and is_text:
            yield f"{path.name}:{node.lineno}: {message.value}"  # type: ignore[attr-defined]


def test_every_message_begins_in_lower_case() -> None:
    messages = [each for path in FOLDER.rglob("*.py") for each in _messages(path)]
    assert len(messages) > 15, "the search finds them"
    begins = {each: each.split(": ", 1)[1] for each in messages}
    wrong = [m for m, text in begins.items() if text[0].isupper() and not text.startswith(NAMES)]
    assert wrong == []
