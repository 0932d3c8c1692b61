"""Finds the traces below a folder, without opening one."""

import os
from collections.abc import Iterator
from contextlib import suppress

from rlscope.rundir import process_log

DEPTH = 4
"""Folders below the one that is named: traces of a survey are that deep."""


def find(root: str | os.PathLike[str], depth: int = DEPTH) -> list[str]:
    """Paths of the trace directories at and below `root`, in order; those inside of a trace, which
    belong to it, are not listed. Hidden folders, links to folders and environments of Python are
    not looked into.

    Raises OSError: `root` cannot be read. What cannot be read below it is left out.
    """
    top = os.fspath(root)
    with os.scandir(top) as entries:
        return list(_below(top, list(entries), depth))


def _below(folder: str, entries: list[os.DirEntry[str]], depth: int) -> Iterator[str]:
    names = {entry.name for entry in entries}
    if _is_trace(folder, names):
        yield folder
        return
    if depth == 0 or "pyvenv.cfg" in names:
        return
    for entry in sorted(entries, key=lambda each: each.name):
        if entry.name.startswith(".") or not entry.is_dir(follow_symlinks=False):
            continue
        try:
            with os.scandir(entry.path) as found:
                inside = list(found)
        except OSError:
            continue
        yield from _below(entry.path, inside, depth - 1)


def _is_trace(folder: str, names: set[str]) -> bool:
    """Either of its logs may be missing or damaged. One alone may be anybody's, and so may a folder
    trace beside it that has no file of ours."""
    if process_log.FILE in names and not names.isdisjoint({"run.json", "trace", "rings"}):
        return True
    return {"run.json", "trace"} <= names and _has_trace_files(os.path.join(folder, "trace"))


def _has_trace_files(folder: str) -> bool:
    with suppress(OSError):
        return any(name.endswith(".rls") for name in os.listdir(folder))
    return False
