"""Copies of a running trace: its files are linked, so that a copy takes no room of its own."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterable

from rlscope.rundir import process_log, regular_files


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
