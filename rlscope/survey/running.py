"""One process of a survey: started apart, given so much time, and ended with all that it started.

survey --- started_by ---> rls-prof, in a session of its own --- program, its children
   |                          |
   |-- Ctrl-C, time over ---> SIGINT, SIGTERM, SIGKILL to the whole session
   |-- killed --------------> the kernel sends rls-prof a SIGTERM, which it hands on
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from rlscope.errors import RlscopeError

_POLL_SECONDS = 0.2
# A program may tidy up; rls-prof waits 2 s for children that outlive it, and drains.
_GRACE_SECONDS = 10.0
_LAST_BYTES = 16_384
_LONGEST_LINE = 300


@dataclass(frozen=True)
class Ended:
    """How it ended."""

    status: int
    """As subprocess has it: an exit code, or the negative number of a signal."""
    seconds: float
    timed_out: bool


def rlscope_command(*arguments: str) -> list[str]:
    """`rlscope ...` in the interpreter that runs this, ended with this process."""
    return [sys.executable, "-m", "rlscope.survey.started_by", str(os.getpid()), *arguments]


def run(
    command: Sequence[str], log: Path, limit: float, while_waiting: Callable[[], None]
) -> Ended:
    """Runs a command to its end, its output in `log`.

    `while_waiting` is called a few times a second. Whatever it, or a signal, raises ends the
    command first.

    Raises RlscopeError: the log cannot be written.
    """
    begin = time.monotonic()
    with _opened(log) as output:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            timed_out = _wait(process, begin + limit, while_waiting)
        finally:
            _end(process)
    return Ended(process.returncode, time.monotonic() - begin, timed_out)


def last_words(log: Path) -> str:
    """The last line that a program left in its log, for its error; "" without one."""
    with contextlib.suppress(OSError), open(log, "rb") as file:
        file.seek(max(0, file.seek(0, os.SEEK_END) - _LAST_BYTES))
        lines = file.read().decode(errors="replace").splitlines()
        said = [line.strip() for line in lines if line.strip()]
        # What rls-prof says after the program is about the trace.
        own = [line for line in said if not line.startswith("rls-prof: ")] or said
        return own[-1][:_LONGEST_LINE] if own else ""
    return ""


@contextlib.contextmanager
def _opened(log: Path) -> Iterator[IO[bytes]]:
    try:
        log.parent.mkdir(parents=True, exist_ok=True)
        file = open(log, "wb")
    except OSError as error:
        raise RlscopeError(f"cannot write {log}: {error.strerror}") from error
    with file:
        yield file


def _wait(
    process: subprocess.Popen[bytes], deadline: float, while_waiting: Callable[[], None]
) -> bool:
    """Whether the time was over before the process."""
    while True:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_POLL_SECONDS)
            return False
        if time.monotonic() >= deadline:
            return True
        while_waiting()


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ends the session of the process; at once where the process itself is gone."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
        if not _send(process.pid, number) or process.returncode is not None:
            break
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_GRACE_SECONDS)
    process.wait()
    _send(process.pid, signal.SIGKILL)


def _send(group: int, number: int) -> bool:
    """False: nobody is left in the process group."""
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True
