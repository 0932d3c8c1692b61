"""Opens a trace for a verb, and shows on the terminal how far its tables are meanwhile."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rlscope import calibrations, stderr
from rlscope.status_line import StatusLine

if TYPE_CHECKING:
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
    _place_calibration(directory)
    return _open(directory, step, unrestricted=unrestricted)


def _place_calibration(directory: str | os.PathLike[str]) -> None:
    if reason := calibrations.place(os.fspath(directory)):
        stderr.write(f"rlscope: {reason}\n")


def _open(
    directory: str | os.PathLike[str],
    step: Callable[[str], None] | None,
    *,
    unrestricted: bool = False,
) -> Trace:
    from rlscope.load import Trace

    line = StatusLine()
    step = step or line.step

    def tell(part: float) -> None:
        if part >= 1:
            line.clear()
        else:
            step(f"making tables: {part:.0%}")

    return Trace(directory, unrestricted=unrestricted, progress=tell)


def load_many_shown(
    directories: Sequence[str | os.PathLike[str]], *, unrestricted: bool = False
) -> Traces:
    """Several traces behind one SQL; see rlscope.load.load_many."""
    from rlscope.load import Traces

    line = StatusLine()
    paths = [*map(Path, directories)]

    def open_shown(path: Path) -> Trace:
        return _open(path, lambda text: line.step(f"{path}: {text}"))

    for path in paths:
        _place_calibration(path)
    try:
        return Traces(paths, unrestricted=unrestricted, open_trace=open_shown)
    finally:
        line.clear()
