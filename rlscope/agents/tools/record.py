"""Runs a command under rls-prof, in the folder and for a limited time: only with --allow-record."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from rlscope.agents import bounded, quoted
from rlscope.agents.answer import Answer, answer
from rlscope.agents.folder import Folder
from rlscope.errors import Refused

_OUTPUT_CHARACTERS = 4_000
_LAST_OUTPUT_S = 2.0  # after the end, for a process that took the pipe along
_PROF = (sys.executable, "-m", "rlscope", "prof", "--quiet", "--no-report")


def record(
    folder: Folder, command: Sequence[str], *, run: str, working_folder: str, seconds: float
) -> Answer:
    """Records the command as the run `run`, which must not be there yet.

    Raises Refused: a path is outside of the folder, the run is there, no command is given.
    """
    if not command or not command[0] or any("\0" in word for word in command):
        raise Refused("give the command as a list of words, the program first")
    path = folder.inside(run)
    if path.exists():
        raise Refused(f"{quoted.text(run)} is there already: give the run another name")
    work = folder.inside(working_folder)
    if not work.is_dir():
        raise Refused(f"there is no folder {quoted.text(working_folder)}")
    code, output = _run([*_PROF, "-o", str(path), "--", *command], work, seconds)
    return answer(
        {
            "run": quoted.text(folder.name_of(path)) if path.exists() else None,
            "exit_code": code,
            "is_time_over": code == bounded.TIME_OVER,
            "output": quoted.lines(output, _OUTPUT_CHARACTERS),
            "query": shlex.join(["rls-prof", "-o", folder.name_of(path), "--", *command]),
        }
    )


def _run(command: Sequence[str], work: Path, seconds: float) -> tuple[int, str]:
    """The exit code, and the end of what it printed."""
    process = subprocess.Popen(
        [sys.executable, "-m", "rlscope.agents.bounded", str(seconds), *command],
        cwd=work,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    assert process.stdin is not None and process.stdout is not None
    kept = _Tail(process.stdout)
    kept.start()
    try:
        code = process.wait()
    finally:
        process.stdin.close()
    kept.join(_LAST_OUTPUT_S)
    return code, kept.text()


class _Tail(threading.Thread):
    """Reads to the end, and keeps the last of it."""

    def __init__(self, stream: IO[bytes]) -> None:
        super().__init__(daemon=True)
        self._stream = stream
        self._kept = b""

    def run(self) -> None:
        while chunk := os.read(self._stream.fileno(), 1 << 16):
            self._kept = (self._kept + chunk)[-_OUTPUT_CHARACTERS:]

    def text(self) -> str:
        return self._kept.decode(errors="replace")
