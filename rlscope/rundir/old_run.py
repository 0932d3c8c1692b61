"""The files of a run's directory, the processes that record there, and how a run is removed.

DIR/claim.<n>      which process records into it (rlscope/rundir/claim.py)
DIR/run.json       command, versions, start, options (rlscope/rundir/run_json.py)
DIR/trace          files of the drainer
DIR/rings          live memory of the recording processes
DIR/iterations-... the traces of kept iterations (rlscope/rundir/kept_iterations.py)
"""

import contextlib
import json
import os
import re
import struct
from collections.abc import Iterator
from typing import Any

from rlscope.errors import DirectoryInUse
from rlscope.rundir import (
    claim,
    experiments_file,
    kept_iterations,
    own_files,
    process_log,
    regular_files,
    source_files,
    unrecorded_file,
)
from rlscope.rundir.proc import process_start_time
from rlscope.rundir.process_log import Event
from rlscope.rundir.run_json import MOST_BYTES, RUN_FORMAT

# Files of an earlier run of ours: force removes these and nothing else, and a folder once
# it is empty. A user's own files may lie beside ours, so ours are known by their whole names...
_LOGS = (process_log.FILE, "run.json")  # the last one makes the rest ours
_WRITTEN = r"(run|rlscope_calibration)\.json|report\.(html|json|txt)"
_TEMPORARY = re.compile(rf"\.?({_WRITTEN})\.\d+\.tmp|{claim.TEMPORARY}")
_IMAGE = r"\d+\.\d+\.\d+"  # pid, start time, begin
_FOLDERS = {
    "trace": re.compile(rf"[^/]+\.{_IMAGE}\.rls(\.new)?"),
    "rings": re.compile(rf"control|probe|{_IMAGE}\.(process|\d+\.(ring|names))"),
    "tables": re.compile(
        r"lock|\.?(manifest|event|headline)\.json(\.\d+\.tmp)?"
        rf"|[a-z_]+/{own_files.TABLE_PART}"
    ),
}
# ... and results, whose names others use too, by what they begin with. report.txt, which a run does
# not make, cannot be distinguished from a user's own and stays.
_RESULTS = {
    "machine.jsonl": b'{"time_ns": ',
    unrecorded_file.FILE: unrecorded_file.BEGINNING,
    source_files.FILE: source_files.BEGINNING,
    experiments_file.FILE: experiments_file.BEGINNING,
    "rlscope_calibration.json": b'{\n "method": "`rlscope calibrate`',
    "report.html": b'<meta name="generator" content="rlscope ',
    "report.json": b'{\n "headline": {',
}
_BEGINNING = 1024  # bytes

_OF_LIVING = frozenset({Event.BEGAN, Event.FORKED, Event.PYTHON})

# First 24 bytes of a ControlPage: csrc/trace/layout/shared_pages.h.
_CONTROL_PAGE = struct.Struct("<QIIQ")
_CONTROL_MAGIC = 0x314C544E43534C52


def remove_run(directory: str) -> None:
    """Removes the files of a run of ours in `directory`, and its rings elsewhere; nothing else.

    The files that make the directory ours go last, so that a removal cut short can be repeated.
    """
    _remove_rings_elsewhere(directory)
    for name in kept_iterations.folders(directory):
        _remove_kept(os.path.join(directory, name))
    for name, files in _FOLDERS.items():
        own_files.remove(directory, name, files)
    _, _, found = next(os.walk(directory), ("", [], []))
    temporary = (name for name in found if _TEMPORARY.fullmatch(name))
    results = (name for name, beginning in _RESULTS.items() if _begins(directory, name, beginning))
    for name in (*temporary, *results, *_LOGS):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(os.path.join(directory, name))


def _remove_kept(folder: str) -> None:
    remove_run(folder)
    for emptied in (os.path.join(folder, "trace"), folder):
        with contextlib.suppress(OSError):  # it is gone, or somebody else's files are in it
            os.rmdir(emptied)


def living_processes(directory: str) -> list[int]:
    """Process ids of the run in `directory` that still record, its drainer included.

    A process is known by its pid and the start time the kernel gives it, so a recycled pid is
    not mistaken for it.
    """
    log = process_log.read(directory)
    began = {_image(record) for record in log if record.event in _OF_LIVING}
    ended = {_image(record) for record in log if record.event == Event.ENDED}
    known = {(pid, start) for pid, start, _ in began - ended} | {*_drainer(directory)}
    return sorted(pid for pid, start in known if process_start_time(pid) == start)


def _image(record: process_log.Record) -> tuple[int, int, int]:
    return record.pid, record.start_time, record.began_ns


def _holds_run(directory: str) -> bool:
    """Whether there are logs of a run, or at least files of its processes."""
    if any(os.path.lexists(os.path.join(directory, name)) for name in _LOGS):
        return True
    return any(own_files.find(directory, name, _FOLDERS[name]) for name in ("trace", "rings"))


def _refuse_foreign_results(directory: str) -> None:
    """A run would overwrite these: without a run beside them they are somebody else's."""
    for name in (*_RESULTS, "tables"):
        if os.path.lexists(os.path.join(directory, name)):
            raise _not_ours(directory, name)


def check_room(directory: str, force: bool) -> bool:
    """Whether `directory` holds a run, which `force` allows to remove. Changes nothing.

    Raises:
        DirectoryInUse: it holds a run that may not be removed, or files that are not ours.
        OSError: it cannot be read or written.
    """
    _check_writable(directory)
    if not _holds_run(directory):
        _refuse_foreign_results(directory)
        return False
    _refuse_foreign_run_json(directory)
    living = living_processes(directory)
    if living:
        pids = ", ".join(map(str, living))
        raise DirectoryInUse(
            f"directory holds a run that is still going (pid {pids}), choose another: {directory}"
        )
    if not force:
        raise DirectoryInUse(
            f"directory holds a run, will not overwrite without force: {directory}"
        )
    _check_removable(directory)
    return True


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
        for holder in own_files.find(directory, name, _FOLDERS[name]):
            _check_writable(holder)
    for name in kept_iterations.folders(directory):
        kept = os.path.join(directory, name)
        _check_writable(kept)
        _check_removable(kept)


def _check_writable(folder: str) -> None:
    if not os.access(folder, os.W_OK | os.X_OK):
        os.stat(folder)  # it may be gone
        raise PermissionError(13, "Permission denied")


def _begins(directory: str, name: str, beginning: bytes) -> bool:
    """Whether a file looks like ours; an empty one may be what we began."""
    try:
        found = regular_files.read_start(directory, name, _BEGINNING)
    except OSError:
        return False
    return not found or beginning in found


def _not_ours(directory: str, name: str) -> DirectoryInUse:
    return DirectoryInUse(f"rlscope did not write {name}, choose another directory: {directory}")


def _refuse_foreign_run_json(directory: str) -> None:
    if not os.path.lexists(os.path.join(directory, "run.json")):
        return
    run: Any = None
    with contextlib.suppress(OSError, ValueError, RecursionError):
        text = regular_files.read(directory, "run.json", MOST_BYTES)
        if not text:
            return
        run = json.loads(text)
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
    folder = process_log.ring_folder(log)
    if images and folder is not None and own_files.is_ring_folder(folder, {os.getuid()}):
        with contextlib.suppress(OSError):  # not for us to change
            own_files.remove(os.path.dirname(folder), os.path.basename(folder), files)


def _drainer(directory: str) -> Iterator[tuple[int, int]]:
    """(pid, start time) of the process that drains the run's rings, if one does."""
    try:
        page = regular_files.read_start(directory, "rings/control", _CONTROL_PAGE.size)
    except OSError:
        return
    if len(page) == _CONTROL_PAGE.size:
        magic, _, pid, start = _CONTROL_PAGE.unpack(page)
        if magic == _CONTROL_MAGIC and pid != 0:
            yield pid, start
