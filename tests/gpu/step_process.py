"""A step in a process of its own: it may fail, crash or hang, and the next one is run anyhow."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
from answers import Answer

ANSWER, OUTPUT = "answer.json", "output.txt"
DUMP_SECONDS = 2.0  # for Python's faulthandler to write where every thread is
END_SECONDS = 5.0  # a process in the driver may not end at all: it is left behind


def run_alone(step: str, folder: Path, limit_s: float, *, patient: bool) -> Answer:
    """The step's answer; FAIL with a reason when it gave none within `limit_s`."""
    folder.mkdir(parents=True, exist_ok=True)
    main = Path(__file__).with_name("acceptance.py")
    command = [sys.executable, str(main), "--alone", step, "--results", str(folder)]
    command += ["--limit", f"{limit_s:.1f}"]
    if patient:
        command.append("--patient")
    begin = time.monotonic()
    with open(folder / OUTPUT, "w") as output:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
            env=os.environ | {"PYTHONFAULTHANDLER": "1", "PYTHONUNBUFFERED": "1"},
        )
        try:
            process.wait(limit_s)
        except subprocess.TimeoutExpired:
            end(process.pid)
            return _failed(step, begin, f"it had not ended after {limit_s:.0f} s")
    end(process.pid)
    if process.returncode < 0:
        name = signal.Signals(-process.returncode).name
        return _failed(step, begin, f"ended by {name}; {OUTPUT} has where")
    try:
        return Answer(**json.loads((folder / ANSWER).read_text()))
    except (OSError, ValueError, TypeError):
        last = (folder / OUTPUT).read_text(errors="replace").strip().splitlines()[-1:]
        return _failed(step, begin, f"exit code {process.returncode}: {' '.join(last)}")


def end(session: int) -> None:
    """Ends all processes of a session; those of Python write where their threads are, first."""
    left = _of_session(session)
    if left:
        _signal(left, signal.SIGABRT)
        left = psutil.wait_procs(left, DUMP_SECONDS)[1]
        _signal(left, signal.SIGKILL)
        psutil.wait_procs(left, END_SECONDS)


def _of_session(session: int) -> list[psutil.Process]:
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(OSError, psutil.Error):
            if os.getsid(process.pid) == session and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
    return found


def _signal(processes: list[psutil.Process], number: signal.Signals) -> None:
    for process in processes:
        with contextlib.suppress(OSError, psutil.Error):
            process.send_signal(number)


def _failed(step: str, begin: float, reason: str) -> Answer:
    return Answer(step, "FAIL", round(time.monotonic() - begin, 1), reason)
