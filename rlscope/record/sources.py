"""Keeps the text of the program's own files as it is when threads are first found in them."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import suppress

from rlscope.rundir import regular_files, source_files
from rlscope.rundir.own_code import is_own

_MOST_BYTES = 1 << 20
"""A longer file is no source that somebody reads."""


class SourceKeeper:
    """Looked at again and again by one thread."""

    def __init__(self, place: str, folders: Sequence[str], take: Callable[[], list[str]]) -> None:
        """
        Args:
            place: path by which the trace directory can be written.
            folders: absolute paths whose files are the program's own, too.
            take: _runtime.Drainer.take_source_files.
        """
        self._place = place
        self._folders = folders
        self._take = take
        self._left = source_files.MOST_BYTES

    def look(self) -> None:
        """Keeps the files that are new. Raises OSError: the trace directory cannot be written."""
        while files := self._take():
            for file in files:
                if os.path.isabs(file) and is_own(file, self._folders):
                    self._keep(file)

    def _keep(self, file: str) -> None:
        text = _text(file)
        if text is not None and 2 * len(text) < self._left:
            self._left -= source_files.append(self._place, file, text)


def _text(file: str) -> str | None:
    folder, name = os.path.split(file)
    with suppress(OSError):
        data = regular_files.read(folder, name, _MOST_BYTES + 1)
        if len(data) <= _MOST_BYTES:
            return data.decode(errors="replace")
    return None
