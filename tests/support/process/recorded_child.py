"""A Python child process that is recorded, and what its trace then holds.

The child is preloaded as under rls-prof; this process drains it. `records` are the raw items of
the trace with names in the place of ids, so that a test reads as what the program did.
"""

from __future__ import annotations

import os
import struct
import subprocess
import sys
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]
# Another interpreter that has its own _runtime can be tested from this one.
PYTHON = os.environ.get("RLSCOPE_TEST_PYTHON", sys.executable)

# Kinds of csrc/trace/layout/record.h that annotations write.
ENTER, EXIT, PHASE, ITERATION, TASK, TOTAL, DONE, START, STOP = range(1, 10)
WORDS = {
    ENTER: "enter", EXIT: "exit", PHASE: "phase", ITERATION: "iteration", TASK: "task",
    TOTAL: "total", DONE: "done", START: "start", STOP: "stop",
}  # fmt: skip

Record = tuple[str, Any]


@dataclass(frozen=True)
class Recorded:
    """The trace of a child."""

    directory: str
    reader: Any
    output: str

    def process(self, number: int = 0) -> dict[str, Any]:
        """The row of the number-th Python process."""
        rows: list[dict[str, Any]] = [row for row in self.reader.processes if row["python"]]
        return rows[number]

    def threads(self, process: int = 0) -> list[int]:
        return [
            int(thread) for thread in self.reader.threads(self.process(process)["index"])["thread"]
        ]

    def records(self, process: int = 0, thread: int | None = None) -> list[Record]:
        """(what, whose) of every annotation of a thread, in order; of the first one if None."""
        index = self.process(process)["index"]
        number = self.threads(process)[0] if thread is None else thread
        items = self.reader.items(index, number)
        naming = _Naming(self.names(process))
        return [
            (WORDS[kind], naming.subject(int(kind), int(id_), int(value)))
            for kind, id_, value in zip(items["kind"], items["id"], items["value"], strict=True)
            if kind in WORDS
        ]

    def operations(self, process: int = 0, thread: int | None = None) -> list[str]:
        """The operations entered ("+name") and left ("-name") by a thread, in order."""
        signs = {"enter": "+", "exit": "-"}
        return [
            f"{signs[what]}{name}" for what, name in self.records(process, thread) if what in signs
        ]

    def names(self, process: int = 0) -> dict[int, str]:
        names = self.reader.names(self.process(process)["index"])
        return dict(zip((int(i) for i in names["id"]), names["text"], strict=True))


class _Naming:
    """The subject of a record. An exit of the innermost open operation carries no name."""

    def __init__(self, names: dict[int, str]) -> None:
        self._names = names
        self._open: dict[int, list[int]] = {}
        self._task = 0

    def subject(self, kind: int, id_: int, value: int) -> Any:
        if kind in (TOTAL, DONE):
            return struct.unpack("<d", struct.pack("<Q", value))[0]
        if kind in (ENTER, EXIT):
            return self._names[self._operation(kind, id_)]
        if kind == TASK:
            self._task = id_
        return self._names.get(id_) if kind == PHASE else id_

    def _operation(self, kind: int, id_: int) -> int:
        stack = self._open.setdefault(self._task, [])
        if kind == ENTER:
            stack.append(id_)
            return id_
        if id_ == 0:
            return stack.pop()
        if id_ in stack:
            del stack[len(stack) - 1 - stack[::-1].index(id_)]
        return id_


def environment(**changes: str) -> dict[str, str]:
    """A child's environment: rlscope can be imported, nothing is recorded, automatic operations
    are found only where the script begins them, and no waits and no probes are records beside what
    it does."""
    foreign = ("RLSCOPE_", "LD_PRELOAD", "CUDA_INJECTION64_PATH")
    environ = {name: text for name, text in os.environ.items() if not name.startswith(foreign)}
    return {
        **environ,
        "PYTHONPATH": str(ROOT),
        "RLSCOPE_AUTO": "0",
        "RLSCOPE_WAITS": "0",
        "RLSCOPE_PROBES": "0",
        **changes,
    }


def run(
    script: str, environ: dict[str, str] | None = None, *, timeout: float = 60, **options: Any
) -> str:
    """Runs a script to its end and returns what it printed; its stderr must stay empty."""
    done = subprocess.run(
        [PYTHON, "-c", textwrap.dedent(script)],
        env=environ or environment(),
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
        **options,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == "", done.stderr
    return done.stdout


def record(
    directory: str,
    script: str,
    *,
    timeout: float = 60,
    variables: Mapping[str, str] | None = None,
    **drainer_options: Any,
) -> Recorded:
    """Runs a script preloaded, drained by this process, as under rls-prof."""
    from rlscope import _runtime
    from rlscope.record.profile import prepare_directory, traced_environment

    drainer = _runtime.Drainer(prepare_directory(directory))
    drainer.start(**drainer_options)
    try:
        environ = environment(**(variables or {}))
        traced = {**environ, **traced_environment(directory, environ)}
        output = run(script, traced, timeout=timeout)
    finally:
        drainer.stop()
    return read(directory, output)


def read(directory: str, output: str = "") -> Recorded:
    from rlscope import _trace

    return Recorded(directory, _trace.Directory(directory), output)
