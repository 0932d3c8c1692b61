"""Where an imported process was recorded, as the metadata of its trace directory says it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

NOTE = "rlscope.imported"
"""Key of a process's metadata: what it was imported from, which rows, and which were not taken;
what `marks` its relations, and its place."""
_MACHINE = "machine"
_GPUS_OF = "gpus_of"


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
