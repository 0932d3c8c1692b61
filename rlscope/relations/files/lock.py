"""DIR/tables/lock: readers share it, and the one that writes has it alone."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from rlscope.relations.files.places import FOLDER
from rlscope.rundir import regular_files

_LOCK = f"{FOLDER}/lock"


class Lock:
    """The lock of DIR/tables. The kernel releases it when the process ends, however it ends."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._descriptor = -1

    def share(self) -> bool:
        """Keeps writers away; False when one writes now. True without a file: no writer exists."""
        self.release()
        try:
            self._descriptor = regular_files.open_file(self._root, _LOCK)
        except OSError:
            return True
        return self._take(fcntl.LOCK_SH)

    def own(self) -> bool:
        """Keeps everybody else away; False when somebody reads or writes, or it cannot be made."""
        self.release()
        try:
            with regular_files.folder(self._root, FOLDER, make=True):
                self._descriptor = regular_files.open_file(
                    self._root, _LOCK, os.O_RDWR | os.O_CREAT
                )
        except OSError:
            return False
        return self._take(fcntl.LOCK_EX)

    def keep(self) -> bool:
        """Lets readers in after `own`; False when another writer was faster."""
        return self._take(fcntl.LOCK_SH)

    def release(self) -> None:
        """Lets everybody in."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _take(self, kind: int) -> bool:
        try:
            fcntl.flock(self._descriptor, kind | fcntl.LOCK_NB)
        except OSError:
            self.release()
            return False
        return True
