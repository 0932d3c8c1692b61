"""Lines of the program as the trace keeps them, and what they cost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rlscope.agents import quoted
from rlscope.agents.answer import Answer, answer, asked, opened
from rlscope.agents.folder import Folder
from rlscope.analysis import lines
from rlscope.errors import Refused

if TYPE_CHECKING:
    from rlscope.opening import Trace

_HOTTEST = 10
_FILES = 10
"""Files that are named where the one that was asked for is not there."""


def hottest(folder: Folder, run: str) -> Answer:
    """The lines of the program's own code that take most of the training loop."""
    notes: list[str] = []
    with opened(folder.run(run), notes) as trace:
        return _answered(run, notes, lines=asked(trace, "hot_line", lines=_HOTTEST))


def excerpt(folder: Folder, run: str, *, file: str, line: int, context: int) -> Answer:
    """A line and so many around it. `file`: a path, or the end of one.

    Raises Refused: the trace keeps no such file, or several.
    """
    notes: list[str] = []
    with opened(folder.run(run), notes) as trace:
        path = _meant(trace, quoted.unmarked(file))
        first = max(line - context, 1)
        shown = asked(trace, "file_line", file=path, first=first, last=line + context)
        if not shown["rows"]:
            raise Refused(f"the trace keeps no line {line} of {quoted.text(path)}")
        return _answered(run, notes, file=quoted.text(path), lines=shown)


def _answered(run: str, notes: list[str], **values: Any) -> Answer:
    return answer(
        {
            "run": quoted.text(quoted.unmarked(run)),
            **values,
            "notes": [quoted.text(each, quoted.SENTENCE) for each in notes],
        }
    )


def _meant(trace: Trace, name: str) -> str:
    """The path of the file that ends so."""
    files = lines.kept_files(trace)["file"]
    ending = f"/{name.lstrip('/')}"
    found = [file for file in files if file == name or f"/{file}".endswith(ending)]
    if len(found) == 1:
        return str(found[0])
    known = ", ".join(quoted.text(file) for file in (found or files)[:_FILES])
    if found:
        raise Refused(f"several files end so, give more of the path: {known}")
    raise Refused(
        f"the trace keeps no text of {quoted.text(name)}; it has {known or 'none of any file'}"
    )
