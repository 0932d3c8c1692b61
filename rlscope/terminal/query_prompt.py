"""The prompt of `rlscope query DIR`: statements, line by line, until Ctrl-D.

The line editor is readline, which Python has: history and completion, and nothing to install.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from rlscope.errors import RlscopeError
from rlscope.relations import statements
from rlscope.visible import visible

if TYPE_CHECKING:
    import sqlalchemy as sa

_FIRST, _NEXT = "rlscope> ", "    ...> "
_KEPT_LINES = 1000  # of the history
_HELP = """\
A statement ends with a semicolon and may have several lines. Ctrl-C drops it, Ctrl-D ends.
  .tables             every relation, one line each
  .schema [RELATION]  the same; or the columns of one, with their meaning
  .help               this
  .quit               ends, as Ctrl-D does
"""


class Prompt:
    """Reads statements and has them answered. What fails is said in one line, and it goes on."""

    def __init__(
        self,
        answer: Callable[[str], None],
        describe: Callable[[str], str],
        relations: Mapping[str, sa.Table],
    ) -> None:
        """`answer` prints the answer to a statement; `describe` has the text of .schema."""
        self._answer = answer
        self._describe = describe
        self._words = _words_of(relations)
        self._text = ""

    def run(self) -> None:
        """Returns at Ctrl-D or .quit."""
        print("Statements end with a semicolon; .help lists what else there is.")
        with _line_editor(self._words):
            while self._take_line():
                pass

    def _take_line(self) -> bool:
        """Reads a line and does what it completes; False at the end."""
        try:
            line = input(_NEXT if self._text else _FIRST)
            return self._obey(line)
        except EOFError:
            print()
            return False
        except KeyboardInterrupt:  # at the prompt, or while a statement runs
            print()
            self._text = ""
        except RlscopeError as error:
            print(f"rlscope: {visible(' '.join(str(error).split()))}", file=sys.stderr)
        return True

    def _obey(self, line: str) -> bool:
        if not self._text and line.lstrip().startswith("."):
            return self._do(*line.split()[:2])
        self._text = f"{self._text}{line}\n" if self._text or line.strip() else ""
        if statements.is_complete(self._text):
            text, self._text = self._text, ""
            for statement in statements.split(text):
                self._answer(statement)
        return True

    def _do(self, command: str, relation: str = "") -> bool:
        if command in (".quit", ".exit"):
            return False
        if command == ".tables":
            print(self._describe(""), end="")
        elif command == ".schema":
            print(self._describe(relation), end="")
        elif command == ".help":
            print(_HELP, end="")
        else:
            raise RlscopeError(f"no {command}; there are .tables, .schema, .help and .quit")
        return True


def _words_of(relations: Mapping[str, sa.Table]) -> list[str]:
    """What the tabulator key completes: names of relations and columns, and the commands."""
    columns = {column.name for relation in relations.values() for column in relation.columns}
    return sorted({*relations, *columns, ".tables", ".schema", ".help", ".quit"})


class _line_editor:
    """History in a file and completion while it is open; nothing where Python has no readline."""

    def __init__(self, words: Collection[str]) -> None:
        self._words = words
        self._history = _history_file()

    def __enter__(self) -> None:
        with suppress(ImportError):
            import readline

            readline.set_completer(self._complete)
            readline.set_completer_delims(" \t\n,()=<>+-*/;\"'")
            is_libedit = "libedit" in (readline.__doc__ or "")
            readline.parse_and_bind("bind ^I rl_complete" if is_libedit else "tab: complete")
            with suppress(OSError):
                readline.read_history_file(self._history)

    def __exit__(self, *_: object) -> None:
        with suppress(ImportError, OSError):
            import readline

            readline.set_history_length(_KEPT_LINES)
            os.makedirs(os.path.dirname(self._history), mode=0o700, exist_ok=True)
            readline.write_history_file(self._history)

    def _complete(self, text: str, number: int) -> str | None:
        # "b.dura" is completed behind its dot, ".tab" from it.
        alias, dot, word = text.rpartition(".")
        before, word = (f"{alias}{dot}", word) if alias else ("", text)
        found = [f"{before}{each}" for each in self._words if each.startswith(word)]
        return found[number] if number < len(found) else None


def _history_file() -> str:
    """Where the XDG base directory specification puts what a program did."""
    state = os.environ.get("XDG_STATE_HOME") or os.path.expanduser("~/.local/state")
    return os.path.join(state, "rlscope", "query_history")
