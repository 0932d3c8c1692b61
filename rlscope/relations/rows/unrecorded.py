"""DIR/unrecorded.jsonl (rlscope/record/unrecorded.py) as the relation `unrecorded`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rlscope.relations.rows.machine_samples import ProcessFinder
from rlscope.rundir import unrecorded_file
from rlscope.rundir.unrecorded_file import NO_PYTHON_LAYER, Unrecorded

_COLUMNS = (
    "process_id", "parent_process_id", "os_pid", "program", "start_ns", "end_ns", "cpu_ns", "kind",
    "reason", "remedy",
)  # fmt: skip


def read(root: Path, processes: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """The relation, in order of start."""
    finder = ProcessFinder(processes)
    rows = [_row(each, processes, finder) for each in unrecorded_file.read(root)]
    return {name: [row[name] for row in rows] for name in _COLUMNS}


def end_ns(columns: Mapping[str, Sequence[Any]]) -> int:
    """The last end; 0 without any process."""
    return max(columns["end_ns"], default=0)


def _row(
    found: Unrecorded, processes: Sequence[Mapping[str, Any]], finder: ProcessFinder
) -> dict[str, Any]:
    before = finder.find(found.os_pid, found.start_ns)
    own = before if found.kind == NO_PYTHON_LAYER else None
    parent = before if own is None else None
    if parent is None:
        parent = finder.find(found.parent_os_pid, found.start_ns)
    row = {
        **vars(found),
        "process_id": own,
        "parent_process_id": parent,
        "remedy": found.remedy or None,
    }
    if own is not None:
        process = processes[own]
        times = ("start_ns", "end_ns", "cpu_ns")
        return {**row, **{name: process[name] for name in times}}
    if before is not None:  # the recorded program ended when it executed this one
        ended_ns = min(processes[before]["end_ns"], found.end_ns)
        row["start_ns"] = max(found.start_ns, ended_ns)
    return row
