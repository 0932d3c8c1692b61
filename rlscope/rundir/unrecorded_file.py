"""DIR/unrecorded.jsonl: processes of a run that its trace lacks, or has no Python layer of.

A line describes a process as it was when the line was written; the last line of a process counts.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, fields
from typing import Any

from rlscope.rundir import regular_files

FILE = "unrecorded.jsonl"
MOST_BYTES = 16 << 20
BEGINNING = b'{"os_pid": '
"""The file begins with it: force knows it by that."""

NO_RECORDER = "no recorder"
NO_PYTHON_LAYER = "no python layer"
ELSEWHERE = "elsewhere"
"""Another rls-prof records it into a directory of its own."""
KINDS = (NO_RECORDER, NO_PYTHON_LAYER, ELSEWHERE)


@dataclass(frozen=True)
class Unrecorded:
    """One process, and why it is not recorded."""

    os_pid: int
    parent_os_pid: int
    start_ns: int
    """CLOCK_MONOTONIC, as all times here."""
    end_ns: int
    cpu_ns: int
    program: str
    kind: str
    reason: str
    """Why, as a clause that follows a colon."""
    remedy: str
    """A sentence; empty: none is known."""


def append(directory: str, process: Unrecorded) -> None:
    """Raises OSError."""
    regular_files.append(directory, FILE, f"{json.dumps(asdict(process))}\n".encode())


def read(root: str | os.PathLike[str]) -> list[Unrecorded]:
    """The processes in order of start; a line that is damaged is left out."""
    try:
        text = regular_files.read(root, FILE, MOST_BYTES)
    except OSError:
        return []
    found = {}
    for line in text.split(b"\n"):
        process = _parse(line)
        if process is not None:
            found[process.os_pid, process.start_ns] = process
    return sorted(found.values(), key=lambda each: (each.start_ns, each.os_pid))


def _parse(line: bytes) -> Unrecorded | None:
    try:
        values = json.loads(line)
        process = Unrecorded(
            **{each.name: _checked(each.type, values[each.name]) for each in _FIELDS}
        )
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    known = process.kind in KINDS and process.start_ns <= process.end_ns
    return process if known else None


_FIELDS = fields(Unrecorded)
_LARGEST = 1 << 63


def _checked(kind: Any, value: Any) -> Any:
    """The value, if it is of the field's type and a relation can hold it."""
    if kind == "int" and type(value) is int and 0 <= value < _LARGEST:
        return value
    if kind == "str" and isinstance(value, str):
        return value.encode(errors="backslashreplace").decode()
    raise TypeError(kind)
