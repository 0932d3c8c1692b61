"""Iterations of which a run that is rolled up keeps all records: a trace directory for each range.

DIR/iterations-100-110       a trace like any other, below that of the run
DIR/iterations-100-110.tmp   in the making, or left by an rls-prof that was killed

Its run.json says which iterations of which run it is of: a folder without that is not ours.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable
from contextlib import suppress
from typing import Any, NamedTuple

from rlscope.errors import DirectoryInUse
from rlscope.rundir import regular_files

_FOLDER = re.compile(r"iterations-([0-9]+)(?:-([0-9]+))?(\.tmp)?")
_MOST_BYTES = 16 << 20  # of run.json: rlscope/rundir/run_json.py
_KEY = "kept_iterations"


class IterationRange(NamedTuple):
    """Numbers of iterations, both included, as relation `iteration` has them."""

    first: int
    last: int

    def __str__(self) -> str:
        if self.first == self.last:
            return f"iteration {self.first}"
        return f"iterations {self.first} to {self.last}"

    @property
    def folder(self) -> str:
        """The name of its trace directory in that of the run."""
        numbers = [self.first] if self.first == self.last else [*self]
        return "-".join(map(str, ["iterations", *numbers]))

    @property
    def unfinished(self) -> str:
        """The name of the folder while it is made."""
        return f"{self.folder}.tmp"


def find(directory: str | os.PathLike[str]) -> list[IterationRange]:
    """The ranges of which all records are kept below a trace directory, in order."""
    return sorted(wanted for name, wanted in _ours(directory) if name == wanted.folder)


def folders(directory: str | os.PathLike[str]) -> list[str]:
    """The names of the folders of all ranges, the unfinished among them."""
    return [name for name, _ in _ours(directory)]


def refuse_foreign(directory: str, wanted: Iterable[IterationRange]) -> None:
    """Raises DirectoryInUse: the folder of a range is there already, of another run or a user."""
    for each in wanted:
        with suppress(OSError):  # of an rls-prof that was killed before it wrote anything there
            os.rmdir(os.path.join(directory, each.unfinished))
        for name in (each.folder, each.unfinished):
            if os.path.lexists(os.path.join(directory, name)):
                raise DirectoryInUse(f"{name} is there already, choose another: {directory}")


def describe(directory: str, folder: str, wanted: IterationRange) -> None:
    """Writes the run.json of a range in the making: that of the run, with its own name.

    Raises OSError.
    """
    run = _read(directory, "run.json")
    name = ", ".join(filter(None, [str(run.get("name", "")), str(wanted)]))
    text = json.dumps({**run, "name": name, _KEY: [*wanted]}, indent=2) + "\n"
    regular_files.replace(directory, f"{folder}/run.json", text.encode())


def _ours(directory: str | os.PathLike[str]) -> list[tuple[str, IterationRange]]:
    matches = map(_FOLDER.fullmatch, os.listdir(directory))
    named = [(match[0], _range_of(match)) for match in matches if match]
    return [
        (name, wanted)
        for name, wanted in named
        if _read(directory, f"{name}/run.json").get(_KEY) == [*wanted]
    ]


def _range_of(match: re.Match[str]) -> IterationRange:
    return IterationRange(int(match[1]), int(match[2] or match[1]))


def _read(directory: str | os.PathLike[str], name: str) -> dict[str, Any]:
    with suppress(OSError, ValueError, RecursionError):
        run = json.loads(regular_files.read(directory, name, _MOST_BYTES))
        if isinstance(run, dict):
            return run
    return {}
