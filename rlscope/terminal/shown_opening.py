"""Opens traces for a verb, and shows on the terminal how far their tables are meanwhile."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rlscope.terminal import stderr
from rlscope.terminal.status_line import StatusLine

if TYPE_CHECKING:
    from rlscope.opening import Trace, Traces


def load_shown(
    directory: str | os.PathLike[str],
    *,
    step: Callable[[str], None] | None = None,
    unrestricted: bool = False,
) -> Trace:
    """The trace; see rlscope.opening.load.

    `step` shows the work that goes on; without it a line of the terminal does, which is gone when
    the tables are made.
    """
    from rlscope.opening import load

    shown = _Shown(step)
    return load(directory, unrestricted=unrestricted, progress=shown.tell, say=_say)


def load_many_shown(
    directories: Sequence[str | os.PathLike[str]], *, unrestricted: bool = False
) -> Traces:
    """Several traces behind one SQL; see rlscope.opening.load_many."""
    from rlscope.opening import Trace, load_many

    line = StatusLine()

    def open_shown(path: Path) -> Trace:
        return Trace(path, progress=_Shown(lambda text: line.step(f"{path}: {text}")).tell)

    try:
        return load_many(directories, unrestricted=unrestricted, open_trace=open_shown, say=_say)
    finally:
        line.clear()


class _Shown:
    """Shows how far tables are: by `step`, or by a line of its own."""

    def __init__(self, step: Callable[[str], None] | None) -> None:
        self._line = StatusLine()
        self._step = step or self._line.step

    def tell(self, part: float) -> None:
        """Takes the part that is done, 0 to 1."""
        if part >= 1:
            self._line.clear()
        else:
            self._step(f"making tables: {part:.0%}")


def _say(reason: str) -> None:
    stderr.write(f"rlscope: {reason}\n")
