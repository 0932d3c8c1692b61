"""Which machine an imported file is of, and of whom a GPU's number is: few files say it.

A trace directory keeps both in the metadata of its processes (relations/rows/imported_places.py).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from rlscope.importing.importer import Scan
from rlscope.relations.rows.imported_places import Place
from rlscope.relations.rows.roles import RANK_NOTE

_NAMED = "name"  # begins the key of a machine that a file names


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
