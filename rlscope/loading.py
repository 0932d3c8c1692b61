"""Opens a trace for a verb, and shows on the terminal how far its tables are meanwhile."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from rlscope import calibrations, stderr
from rlscope.status_line import StatusLine

if TYPE_CHECKING:
    from pathlib import Path

    from rlscope.load import Trace, Traces


def load_shown(
    directory: str | os.PathLike[str],
    *,
    step: Callable[[str], None] | None = None,
    unrestricted: bool = False,
) -> Trace:
    """The trace; see rlscope.load.

    `step` shows the work that goes on; without it a line of the terminal does, which is gone when
    the tables are made.
    """
    from rlscope.load import load

    line = StatusLine()
    step = step or line.step
    if reason := calibrations.place(os.fspath(directory)):
        stderr.write(f"rlscope: {reason}\n")

    def tell(part: float) -> None:
        if part >= 1:
            line.clear()
        else:
            step(f"making tables: {part:.0%}")

    return load(directory, unrestricted=unrestricted, progress=tell)


def load_many_shown(
    directories: Sequence[str | os.PathLike[str]], *, unrestricted: bool = False
) -> Traces:
    """Several traces behind one SQL; see rlscope.load.load_many."""
    from rlscope.load import load_many

    line = StatusLine()

    def open_shown(path: Path) -> Trace:
        return load_shown(path, step=lambda text: line.step(f"{path}: {text}"))

    try:
        return load_many(directories, unrestricted=unrestricted, open_trace=open_shown)
    finally:
        line.clear()
