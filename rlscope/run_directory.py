"""The directory of one run: made ready before anything is recorded, cleared of an earlier run.

DIR/run.json       command, versions, start, options (rlscope/run_json.py)
DIR/trace          files of the drainer
DIR/rings          live memory of the recording processes
"""

import contextlib
import json
import os
import re
import struct
from collections.abc import Iterator
from typing import Any

from rlscope import own_files, process_log
from rlscope.capture.processes import process_start_time
from rlscope.errors import DirectoryInUse, RecordingError
from rlscope.run_json import RUN_FORMAT

# What an earlier run of ours can have left: force removes these and nothing else, and a folder once
# it is empty. A user's own files may lie beside ours, so ours are known by their whole names...
_LOGS = (process_log.FILE, "run.json")  # the last one says that the rest is ours
_TEMPORARY = re.compile(r"run\.json\.\d+\.tmp|\.report\.(html|json|txt)\.\d+\.tmp")
_IMAGE = r"\d+\.\d+\.\d+"  # pid, start time, begin
_FOLDERS = {
    "trace": re.compile(rf"[^/]+\.{_IMAGE}\.rls"),
    "rings": re.compile(rf"control|probe|{_IMAGE}\.(process|\d+\.(ring|names))"),
    "tables": re.compile(
        r"lock|(manifest|event)\.json(\.\d+\.tmp)?"
        rf"|[a-z_]+/{own_files.TABLE_PART}"
    ),
}
# ... and results, whose names others use too, by what they begin with. report.txt, which a run does
# not make, cannot be told from a user's own and stays.
_RESULTS = {
    "machine.jsonl": b'{"time_ns": ',
    "report.html": b'<meta name="generator" content="rlscope ',
    "report.json": b'{\n "headline": {',
}
_BEGINNING = 1024  # bytes

# First 24 bytes of a ControlPage: csrc/trace/shared_pages.h.
_CONTROL_PAGE = struct.Struct("<QIIQ")
_CONTROL_MAGIC = 0x314C544E43534C52


def prepare_directory(path: str | os.PathLike[str], *, force: bool = False) -> str:
    """Makes `path` ready for a new run and returns it absolute, symbolic links resolved.

    Creates it with its folders `trace` and `rings`. A directory that holds other people's files
    is fine; one that holds a run of ours is refused, or with `force` that run is removed first.

    Raises:
        DirectoryInUse: it holds a run and `force` is not set, or a process of that run lives.
        RecordingError: it cannot be created or written.
    """
    directory = os.path.realpath(path)
    try:
        os.makedirs(directory, exist_ok=True)
        _check_writable(directory)
        if _holds_run(directory):
            _make_room(directory, force)
        else:
            _refuse_foreign_results(directory)
        os.makedirs(os.path.join(directory, "trace"), exist_ok=True)
        os.makedirs(os.path.join(directory, "rings"), mode=0o700, exist_ok=True)
    except OSError as error:
        reason = error.strerror or str(error)
        raise RecordingError(f"cannot record into {directory}: {reason}") from error
    return directory


def remove_run(directory: str) -> None:
    """Removes what a run of ours left in `directory`, and its rings elsewhere; nothing else.

    What tells that the directory is ours goes last, so that a removal cut short can be repeated.
    """
    _remove_rings_elsewhere(directory)
    for name, files in _FOLDERS.items():
        own_files.remove(os.path.join(directory, name), files)
    _, _, found = next(os.walk(directory), ("", [], []))
    temporary = (name for name in found if _TEMPORARY.fullmatch(name))
    results = (name for name, beginning in _RESULTS.items() if _begins(directory, name, beginning))
    for name in (*temporary, *results, *_LOGS):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(os.path.join(directory, name))


def living_processes(directory: str) -> list[int]:
    """Process ids of the run in `directory` that still run, its drainer included.

    A process is known by its pid and the start time the kernel gives it, so a recycled pid is
    not mistaken for it. Records are not checked against their CRC: a damaged one can only name
    a process that does live.
    """
    logged = ((record.pid, record.start_time) for record in process_log.read(directory))
    known = {*logged, *_drainer(directory)}
    return sorted(pid for pid, start in known if process_start_time(pid) == start)


def _holds_run(directory: str) -> bool:
    return any(os.path.lexists(os.path.join(directory, name)) for name in _LOGS)


def _refuse_foreign_results(directory: str) -> None:
    """A run would overwrite these: without a run beside them they are somebody else's."""
    for name in (*_RESULTS, "tables"):
        if os.path.lexists(os.path.join(directory, name)):
            raise _not_ours(directory, name)


def _make_room(directory: str, force: bool) -> None:
    """Removes the run that `directory` holds, if that is allowed."""
    _refuse_foreign_run_json(directory)
    if not force:
        raise DirectoryInUse(
            f"directory holds a run, will not overwrite without force: {directory}"
        )
    living = living_processes(directory)
    if living:
        pids = ", ".join(map(str, living))
        raise DirectoryInUse(f"directory holds a run that is still going (pid {pids}): {directory}")
    _check_removable(directory)
    remove_run(directory)


def _check_removable(directory: str) -> None:
    """Finds what would stop a removal half way, or a run after it, before anything is removed."""
    for name in _LOGS:
        if os.path.isdir(os.path.join(directory, name)):
            raise _not_ours(directory, name)
    for name, beginning in _RESULTS.items():
        there = os.path.lexists(os.path.join(directory, name))
        if there and not _begins(directory, name, beginning):
            raise _not_ours(directory, name)
    for name in _FOLDERS:
        folder = os.path.join(directory, name)
        if os.path.lexists(folder) and not os.path.isdir(folder):
            raise _not_ours(directory, name)
        for parent, files in own_files.find(folder, _FOLDERS[name]):
            if files:
                _check_writable(parent)


def _check_writable(folder: str) -> None:
    if not os.access(folder, os.W_OK | os.X_OK):
        raise PermissionError(13, "Permission denied")


def _begins(directory: str, name: str, beginning: bytes) -> bool:
    """Whether a file looks like ours; an empty one may be what we began."""
    path = os.path.join(directory, name)
    if not os.path.isfile(path):
        return False
    with open(path, "rb") as file:
        found = file.read(_BEGINNING)
    return not found or beginning in found


def _not_ours(directory: str, name: str) -> DirectoryInUse:
    return DirectoryInUse(f"{name} is not ours, choose another directory: {directory}")


def _refuse_foreign_run_json(directory: str) -> None:
    path = os.path.join(directory, "run.json")
    if not os.path.lexists(path) or os.path.getsize(path) == 0:
        return
    run: Any = None
    with contextlib.suppress(ValueError), open(path, encoding="utf-8") as file:
        run = json.load(file)
    if not isinstance(run, dict) or run.get("format") != RUN_FORMAT:
        raise _not_ours(directory, "run.json")


def _remove_rings_elsewhere(directory: str) -> None:
    """Removes the rings outside of `directory` that its log names, of processes that are gone."""
    log = process_log.read(directory)
    images = "|".join(
        {
            rf"{record.pid}\.{record.start_time}\.{record.began_ns}"
            for record in log
            if process_start_time(record.pid) != record.start_time
        }
    )
    files = re.compile(rf"(?:{images})\.(?:process|\d+\.(?:names|ring))")
    for folder in process_log.ring_folders(log):
        with contextlib.suppress(OSError):  # gone, or not for us to change
            if images and os.lstat(folder).st_uid == os.getuid():
                own_files.remove(folder, files)


def _drainer(directory: str) -> Iterator[tuple[int, int]]:
    """(pid, start time) of the process that drains the run's rings, if one does."""
    try:
        with open(os.path.join(directory, "rings", "control"), "rb") as file:
            page = file.read(_CONTROL_PAGE.size)
    except OSError:
        return
    if len(page) == _CONTROL_PAGE.size:
        magic, _, pid, start = _CONTROL_PAGE.unpack(page)
        if magic == _CONTROL_MAGIC and pid != 0:
            yield pid, start
