"""Who waits in collectives for the latest process, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rlscope.analysis import process_verdicts
from rlscope.report import units

_NAMES = {
    "backward": "inside of backward",
    "collective": "in collectives",
    "broadcast": "in broadcasts of parameters",
}


def waiting(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """The longest wait: rows of `collective`. Silent where it is short."""
    return [
        f"{units.visible(row['process'])} waits {units.duration(row['waited_ns'])} of its loop's "
        f"{units.duration(row['loop_ns'])} {place(row['name'])} for the latest process: "
        f"{units.visible(row['last_process'])} is last in {row['last_last']:,} of "
        f"{row['meetings']:,}."
        for row in rows[:1]
        if process_verdicts.is_collective_notable(row)
    ]


def place(name: str) -> str:
    """Where a process waits: "inside of backward"."""
    return _NAMES.get(name, units.visible(name))
