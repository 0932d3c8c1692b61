"""Which machine an imported file is of, and of whom a GPU's number is: few files say it.

A trace directory keeps both in the metadata of its processes, as a part of imported.NOTE.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rlscope.trace.imported import NOTE, Scan
from rlscope.trace.roles import RANK_NOTE

_MACHINE = "machine"
_GPUS_OF = "gpus_of"
_NAMED = "name"  # begins the key of a machine that a file names


@dataclass(frozen=True)
class Place:
    """Where a file was recorded."""

    machine: int | None = None
    """Number of a machine that no file names; None: the file names its own, or is the only one."""
    gpus_of: str = ""
    """Whose number of a GPU it is; empty: every file of the machine means the same GPU by it."""

    def note(self) -> dict[str, object]:
        """Its part of a process's note."""
        named = {_MACHINE: self.machine, _GPUS_OF: self.gpus_of}
        return {key: value for key, value in named.items() if value not in (None, "")}


def find(files: Sequence[Sequence[Scan]]) -> list[Place]:
    """The place of each file, of which the scans of its processes are given.

    Two files are of one machine if both name it, or if they are of the same rank and pid: one
    process, profiled again. Where files of one machine share the number of a GPU, it is one GPU
    only if they are of one rank, or of one pid where they do not say the rank.
    """
    if len(files) == 1:
        return [Place()]
    keys = [_machine_key(number, scans) for number, scans in enumerate(files)]
    owners = [_owner(number, scans) for number, scans in enumerate(files)]
    owners_of: dict[Any, set[str]] = defaultdict(set)
    for key, owner, scans in zip(keys, owners, files, strict=True):
        for device in _devices(scans):
            owners_of[key, device].add(owner)
    sharing = {
        (key, owner)
        for (key, _), owners_of_gpu in owners_of.items()
        for owner in owners_of_gpu
        if len(owners_of_gpu) > 1
    }
    unnamed = dict.fromkeys(key for key in keys if key[0] != _NAMED)
    numbers = {key: number for number, key in enumerate(unnamed)}
    return [
        Place(numbers.get(key), owner if (key, owner) in sharing else "")
        for key, owner in zip(keys, owners, strict=True)
    ]


def of_process(process: Mapping[str, Any]) -> Place:
    """The place of a process of a trace directory; of one that was not imported nothing is said."""
    note = read_note(process)
    machine, gpus_of = note.get(_MACHINE), note.get(_GPUS_OF)
    return Place(
        machine if isinstance(machine, int) else None, gpus_of if isinstance(gpus_of, str) else ""
    )


def read_note(process: Mapping[str, Any]) -> dict[str, Any]:
    """What an import noted of a process; empty: it was not imported."""
    try:
        note = json.loads(process["metadata"].get(NOTE, "{}"))
    except (ValueError, RecursionError):  # of another version, or cut
        return {}
    return note if isinstance(note, dict) else {}


def marks(processes: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Relation -> what makes a row of it in the imported files of a trace directory."""
    found: dict[str, dict[str, None]] = {}
    for process in processes:
        of_file = read_note(process).get("marks")
        for relation, mark in of_file.items() if isinstance(of_file, dict) else ():
            found.setdefault(str(relation), {})[str(mark)] = None
    return {relation: " or ".join(each) for relation, each in found.items()}


def _machine_key(number: int, scans: Sequence[Scan]) -> tuple[object, ...]:
    host, rank = scans[0].host, _rank(scans)
    if host:
        return (_NAMED, host)
    return ("file", number) if rank is None else ("rank", rank, scans[0].os_pid)


def _owner(number: int, scans: Sequence[Scan]) -> str:
    rank, pid = _rank(scans), scans[0].os_pid
    if rank is not None:
        return f"rank {rank}"
    return f"pid {pid}" if pid and len(scans) == 1 else f"file {number + 1}"


def _rank(scans: Sequence[Scan]) -> object:
    note = scans[0].notes().get(RANK_NOTE)
    return note.get("rank") if isinstance(note, dict) else None


def _devices(scans: Sequence[Scan]) -> set[int]:
    return {device for scan in scans for device in scan.devices}
