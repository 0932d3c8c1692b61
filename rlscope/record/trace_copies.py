"""Copies of a running trace: its files are linked, so that a copy takes no room of its own."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterable
from contextlib import suppress

from rlscope.rundir import process_log, regular_files, source_files


def copy_trace(files: Iterable[str], folder: str, log: bytes, min_free: int) -> None:
    """Makes `folder` a trace directory that holds these trace files and this log of processes.

    Where the disk has no hard links the files are copied, as long as `min_free` bytes stay free.

    Raises OSError: `folder` cannot be written, or a file is gone.
    """
    os.mkdir(os.path.join(folder, "trace"))
    for path in files:
        _link_or_copy(path, os.path.join(folder, "trace", os.path.basename(path)), min_free)
    with open(os.path.join(folder, process_log.FILE), "xb") as file:
        file.write(log)


def share_source_text(directory: str, folder: str, min_free: int) -> None:
    """Gives the copy in `folder` the text of the run's source files that is kept so far. Where
    files can be linked, it has what is kept later, too. Raises OSError."""
    path, name = (os.path.join(each, source_files.FILE) for each in (directory, folder))
    with suppress(FileNotFoundError):
        os.unlink(name)
    with suppress(FileNotFoundError):
        _link_or_copy(path, name, min_free)


def _link_or_copy(path: str, name: str, min_free: int) -> None:
    try:
        os.link(path, name, follow_symlinks=False)
    except OSError as error:
        if error.errno not in regular_files.LINKS_REFUSED:
            raise
        _check_free(os.path.dirname(name), os.path.getsize(path) + min_free)
        shutil.copyfile(path, name)


def _check_free(folder: str, least: int) -> None:
    disk = os.statvfs(folder)
    if disk.f_bavail * disk.f_frsize < least:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
