"""The directory of one run: made ready before anything is recorded, described by its run.json.

DIR/run.json       command, versions, start, options: written here, once
DIR/trace          files of the drainer
DIR/rings          live memory of the recording processes
"""

import contextlib
import json
import os
import platform
import re
import struct
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timezone
from typing import Any

from rlscope import process_log
from rlscope.errors import DirectoryInUse, RecordingError

RUN_FORMAT = "rlscope"
RUN_FORMAT_VERSION = 1

# What an earlier run of ours can have left, and what its folders hold: force removes these files
# and nothing else, and a folder once it is empty.
_LOGS = ("run.json", process_log.FILE)
_RESULTS = ("machine.jsonl", "report.html", "report.json", "report.txt")
_FOLDERS = {
    "trace": re.compile(r".*\.rls"),
    "rings": re.compile(r"control|.*\.(ring|names|process)"),
    "tables": re.compile(r"lock|.*\.(json|parquet|tmp)"),
}

# First 24 bytes of a ControlPage: csrc/trace/shared_pages.h.
_CONTROL_PAGE = struct.Struct("<QIIQ")
_CONTROL_MAGIC = 0x314C544E43534C52

# Variables that change what a program measures and cannot hold a secret.
_ENVIRONMENT = frozenset(
    "CUDA_VISIBLE_DEVICES CUDA_DEVICE_ORDER CUDA_LAUNCH_BLOCKING CUDA_MODULE_LOADING "
    "NVIDIA_VISIBLE_DEVICES PYTORCH_CUDA_ALLOC_CONF PYTORCH_ALLOC_CONF TORCH_NUM_THREADS "
    "OMP_NUM_THREADS OMP_PROC_BIND MKL_NUM_THREADS OPENBLAS_NUM_THREADS NUMEXPR_NUM_THREADS "
    "TF_NUM_INTRAOP_THREADS TF_NUM_INTEROP_THREADS JAX_PLATFORMS XLA_PYTHON_CLIENT_PREALLOCATE "
    "PYTHONHASHSEED PYTHONOPTIMIZE PYTHONDEVMODE RANK LOCAL_RANK WORLD_SIZE".split()
)
_SECRET_WORDS = ("key", "token", "password", "secret")
_MASK = "***"


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
        if _holds_run(directory):
            _make_room(directory, force)
        else:
            _refuse_foreign_results(directory)
        os.makedirs(os.path.join(directory, "trace"), exist_ok=True)
        os.makedirs(os.path.join(directory, "rings"), mode=0o700, exist_ok=True)
        if not os.access(directory, os.W_OK | os.X_OK):
            raise PermissionError(13, "Permission denied")
    except OSError as error:
        reason = error.strerror or str(error)
        raise RecordingError(f"Cannot record into {directory}: {reason}") from error
    return directory


def remove_run(directory: str) -> None:
    """Removes what a run of ours left in `directory`, and its rings elsewhere; nothing else."""
    _remove_rings_elsewhere(directory)
    for name in (*_LOGS, *_RESULTS):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(os.path.join(directory, name))
    for name, files in _FOLDERS.items():
        _remove_files(os.path.join(directory, name), files)


def living_processes(directory: str) -> list[int]:
    """Process ids of the run in `directory` that still run, its drainer included.

    A process is known by its pid and the start time the kernel gives it, so a recycled pid is
    not mistaken for it. Records are not checked against their CRC: a damaged one can only name
    a process that does live.
    """
    logged = ((record.pid, record.start_time) for record in process_log.read(directory))
    known = {*logged, *_drainer(directory)}
    return sorted(pid for pid, start in known if _start_time(pid) == start)


def write_run_json(
    directory: str,
    *,
    command: Sequence[str],
    name: str = "",
    start_ns: int | None = None,
    options: Mapping[str, Any] | None = None,
) -> None:
    """Writes DIR/run.json: what ran, where, since when, with which options.

    Args:
        command: argument vector of the program; secrets are masked (mask_secrets).
        name: what the user calls the run; the last part of the directory's path if empty.
        start_ns: CLOCK_MONOTONIC at the start of the run; now if None.
        options: what the wrapper was asked for; JSON values.

    Raises:
        RecordingError: the file cannot be written.
    """
    from rlscope import __version__

    now_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    begun_ns = now_ns if start_ns is None else start_ns
    started = time.time() - (now_ns - begun_ns) / 1e9
    run = {
        "format": RUN_FORMAT,
        "format_version": RUN_FORMAT_VERSION,
        "version": __version__,
        "command": mask_secrets(command),
        "name": name or os.path.basename(directory),
        "start_ns": begun_ns,
        "start_time": datetime.fromtimestamp(started, timezone.utc).isoformat(),
        "working_directory": os.getcwd(),
        "host": host_facts(),
        "options": dict(options or {}),
        "environment": _environment(os.environ),
    }
    _write_json(os.path.join(directory, "run.json"), run)


def mask_secrets(command: Sequence[str]) -> list[str]:
    """The argument vector with the values of options that name a secret replaced by ***.

    >>> mask_secrets(["train.py", "--wandb-key", "abc", "--api_token=xyz", "--lr", "3e-4"])
    ['train.py', '--wandb-key', '***', '--api_token=***', '--lr', '3e-4']
    """
    masked: list[str] = []
    hide_next = False
    for argument in command:
        option, equals, _ = argument.partition("=")
        secret = option.startswith("--") and any(word in option.lower() for word in _SECRET_WORDS)
        if hide_next and not secret:
            masked.append(_MASK)
        else:
            masked.append(f"{option}={_MASK}" if secret and equals else argument)
        hide_next = secret and not equals
    return masked


def host_facts() -> dict[str, Any]:
    """What the numbers of a run depend on: host, processor, clock, kernel, Python."""
    return {
        "name": platform.node(),
        "boot_id": _read("/proc/sys/kernel/random/boot_id"),
        "cpu": _processor_name(),
        "cores": len(os.sched_getaffinity(0)),
        "memory_bytes": os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"),
        "clock": _read("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
        "time_namespace_offsets": _read("/proc/self/timens_offsets"),
        "kernel": platform.release(),
        "machine": platform.machine(),
        "python": platform.python_version(),
        "executable": sys.executable,
    }


def _holds_run(directory: str) -> bool:
    return any(os.path.lexists(os.path.join(directory, name)) for name in _LOGS)


def _refuse_foreign_results(directory: str) -> None:
    """A run would overwrite these: without a run beside them they are somebody else's."""
    for name in (*_RESULTS, "tables"):
        if os.path.lexists(os.path.join(directory, name)):
            raise DirectoryInUse(f"{name} is not ours, choose another directory: {directory}")


def _make_room(directory: str, force: bool) -> None:
    """Removes the run that `directory` holds, if that is allowed."""
    _refuse_foreign_run_json(directory)
    if not force:
        raise DirectoryInUse(
            f"Directory holds a run, will not overwrite without force: {directory}"
        )
    living = living_processes(directory)
    if living:
        pids = ", ".join(map(str, living))
        raise DirectoryInUse(f"Directory holds a run that is still going (pid {pids}): {directory}")
    remove_run(directory)


def _refuse_foreign_run_json(directory: str) -> None:
    path = os.path.join(directory, "run.json")
    if not os.path.lexists(path) or os.path.getsize(path) == 0:
        return
    run: Any = None
    with contextlib.suppress(ValueError), open(path, encoding="utf-8") as file:
        run = json.load(file)
    if not isinstance(run, dict) or run.get("format") != RUN_FORMAT:
        raise DirectoryInUse(f"run.json is not ours, choose another directory: {directory}")


def _remove_files(folder: str, names: re.Pattern[str]) -> None:
    """Removes files below `folder` by name, then folders that are empty; follows no link."""
    if os.path.islink(folder):
        return
    for parent, _, files in os.walk(folder, topdown=False):
        for file in filter(names.fullmatch, files):
            os.unlink(os.path.join(parent, file))
        with contextlib.suppress(OSError):  # somebody else's files are in it
            os.rmdir(parent)


def _remove_rings_elsewhere(directory: str) -> None:
    """Removes the rings outside of `directory` that its log names, of processes that are gone."""
    log = process_log.read(directory)
    images = "|".join(
        {
            rf"{record.pid}\.{record.start_time}\.{record.began_ns}"
            for record in log
            if _start_time(record.pid) != record.start_time
        }
    )
    files = re.compile(rf"(?:{images})\.(?:process|\d+\.(?:names|ring))")
    for folder in process_log.ring_folders(log):
        with contextlib.suppress(OSError):  # gone, or not for us to change
            if images and os.lstat(folder).st_uid == os.getuid():
                _remove_files(folder, files)


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


def _start_time(pid: int) -> int | None:
    """Field 22 of /proc/<pid>/stat; None when no such process runs (a zombie does not)."""
    stat = _read(f"/proc/{pid}/stat")
    # The name in field 2 may hold blanks and parentheses: count from its last parenthesis.
    fields = stat.rpartition(")")[2].split()
    return int(fields[19]) if len(fields) > 19 and fields[0] not in "ZX" else None


def _environment(environ: Mapping[str, str]) -> dict[str, str]:
    return {
        name: value
        for name, value in sorted(environ.items())
        if name.startswith("RLSCOPE_") or name in _ENVIRONMENT
    }


def _processor_name() -> str:
    for line in _read("/proc/cpuinfo").splitlines():
        if line.startswith(("model name", "Model")):
            return line.partition(":")[2].strip()
    return platform.machine()


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read().strip()
    except OSError:
        return ""


def _write_json(path: str, value: object) -> None:
    """Writes under another name and renames, so that a reader never sees half a file."""
    temporary = f"{path}.{os.getpid()}.tmp"
    try:
        with open(temporary, "w", encoding="utf-8") as file:
            json.dump(value, file, indent=2)
            file.write("\n")
        os.replace(temporary, path)
    except OSError as error:
        raise RecordingError(f"Cannot write {path}: {error.strerror}") from error
