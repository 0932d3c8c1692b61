"""The present work of a command, as one line of a terminal that is gone when the work is done."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator

from rlscope.terminal import stderr

# Fewer are analysed before a reader of a log could wonder; from here on a log gets one line.
_MANY_EVENTS = 1_000_000


class StatusLine:
    """Steps overwrite each other, without colours or any other escape sequence.

    A stream that is no terminal shows no steps: a log would keep them all.
    """

    def __init__(self) -> None:
        self._shown = 0
        self._wanted = _is_terminal()

    def step(self, text: str) -> None:
        """Shows `text` in place of the step before."""
        if self._wanted:
            line = f"{text[: _columns() - 4]}..."
            stderr.write(f"\r{line}{' ' * (self._shown - len(line))}")
            self._shown = len(line)

    def clear(self) -> None:
        """Takes the line away."""
        if self._shown:
            stderr.write(f"\r{' ' * self._shown}\r")
            self._shown = 0


@contextlib.contextmanager
def progress() -> Iterator[StatusLine]:
    """A line that is cleared at the end of the block, however that ends."""
    line = StatusLine()
    try:
        yield line
    finally:
        line.clear()


def announces(events: int) -> bool:
    """Whether the work on so many events deserves a line where no steps are shown."""
    return events >= _MANY_EVENTS and not _is_terminal()


def _is_terminal() -> bool:
    return sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"


def _columns() -> int:
    try:
        return os.get_terminal_size(2).columns
    except OSError:
        return 80
