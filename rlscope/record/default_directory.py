"""Where a run goes if nobody says where."""

from __future__ import annotations

import os
import re
import time

from rlscope.errors import RecordingError

DEFAULT_PARENT = "rlscope_out"

_PYTHON = re.compile(r"(python|pypy)[0-9.]*")


def default_directory(command: list[str], parent: str = DEFAULT_PARENT) -> str:
    """Makes a new folder rlscope_out/<program>-<time> and returns its path.

    Raises:
        RecordingError: it cannot be made.
    """
    first = os.path.join(parent, f"{program_name(command)}-{time.strftime('%Y%m%d-%H%M%S')}")
    path, attempt = first, 1
    while not _is_made(path):
        attempt += 1
        path = f"{first}-{attempt}"
    return path


def _is_made(path: str) -> bool:
    """Makes the folder; False if it was there."""
    try:
        os.makedirs(path)
    except FileExistsError:
        return False
    except OSError as error:
        raise RecordingError(f"cannot record into {path}: {error.strerror}") from error
    return True


def program_name(command: list[str]) -> str:
    """The program's name to a user: its script or module, else the command.

    >>> program_name(["python3", "-u", "examples/train.py", "--seed", "1"])
    'train'
    >>> program_name(["python3", "-", "data.py"])  # reads its program from stdin
    'python3'
    """
    name = os.path.basename(command[0])
    if _PYTHON.fullmatch(name):
        ends = (place for place, each in enumerate(command) if each in ("-", "-c"))
        arguments = command[1 : next(ends, None)]
        if "-m" in arguments[:-1]:
            name = arguments[arguments.index("-m") + 1]
        scripts = (argument for argument in arguments if argument.endswith(".py"))
        name = os.path.basename(next(scripts, name)).removesuffix(".py")
    return re.sub(r"[^\w.+-]+", "_", name)[:64] or "program"
