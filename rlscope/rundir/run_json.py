"""DIR/run.json: command, versions, start, options of a run. Written once, when it begins."""

import json
import os
import platform
import sys
import time
from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from typing import Any

from rlscope._version import __version__
from rlscope.cuda_driver import driver_path
from rlscope.errors import RecordingError
from rlscope.rundir import regular_files

RUN_FORMAT = "rlscope"
RUN_FORMAT_VERSION = 1
MOST_BYTES = 16 << 20
"""Most bytes of a file of ours: a command line has some megabytes at most."""

# Variables that change what a program measures and cannot hold a secret.
_ENVIRONMENT = frozenset(
    "CUDA_VISIBLE_DEVICES CUDA_DEVICE_ORDER CUDA_LAUNCH_BLOCKING CUDA_MODULE_LOADING "
    "CUDA_INJECTION64_PATH "
    "NVIDIA_VISIBLE_DEVICES PYTORCH_CUDA_ALLOC_CONF PYTORCH_ALLOC_CONF TORCH_NUM_THREADS "
    "OMP_NUM_THREADS OMP_PROC_BIND MKL_NUM_THREADS OPENBLAS_NUM_THREADS NUMEXPR_NUM_THREADS "
    "TF_NUM_INTRAOP_THREADS TF_NUM_INTEROP_THREADS JAX_PLATFORMS XLA_PYTHON_CLIENT_PREALLOCATE "
    "PYTHONHASHSEED PYTHONOPTIMIZE PYTHONDEVMODE RANK LOCAL_RANK WORLD_SIZE".split()
)
_SECRET_WORDS = ("key", "token", "password", "secret")
_MASK = "***"


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
        name: of the run; the last part of the directory's path if empty.
        start_ns: CLOCK_MONOTONIC at the start of the run; now if None.
        options: of the wrapper; JSON values.

    Raises:
        RecordingError: the file cannot be written.
    """
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
    _write_json(directory, "run.json", run)


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
    """What the numbers of a run depend on: host, processor, clock, kernel, Python, CUDA driver."""
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
        "cuda_driver": driver_path(os.environ),
    }


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


def _write_json(directory: str, name: str, value: object) -> None:
    text = json.dumps(value, indent=2) + "\n"
    try:
        regular_files.replace(directory, name, text.encode())
    except OSError as error:
        raise RecordingError(f"cannot write {directory}/{name}: {error.strerror}") from error
