"""What the stopwatch says of the blocks that `rlscope validate` compares, one line of JSON each."""

from __future__ import annotations

import json
import os
from dataclasses import astuple, dataclass

from rlscope.rundir.turns_file import append_line, read_lines


@dataclass(frozen=True)
class OperationTime:
    """A path of operations on one thread."""

    of_loop: bool
    """The thread is that of the iterations."""
    names: tuple[str, ...]
    """The outermost first."""
    ns: float
    """Time in which the operation was the innermost one, the stopwatch's cost in it included."""
    entries: int
    halves: int
    """Half events of the stopwatch in it: two for each enter or exit, before it and after it."""

    @property
    def path(self) -> str:
        """As operation.path of a trace."""
        return "/".join(each.replace("\\", "\\\\").replace("/", "\\/") for each in self.names)


@dataclass(frozen=True)
class TimedBlock:
    """The measured part of a block in which nothing was recorded and the stopwatch ran."""

    process: int
    round: int
    wall_ns: int
    half_ns: float
    """What a half event of the stopwatch cost then."""
    times: tuple[OperationTime, ...] | None
    """None: something happened that the stopwatch does not follow."""


@dataclass(frozen=True)
class RecordedBlock:
    """The measured part of a block that is in the trace."""

    process: int
    round: int
    iterations: int
    start_ns: int
    end_ns: int
    """In CLOCK_MONOTONIC. The block has the iterations that end after its start, up to its end."""


def beside(turns: str) -> str:
    """The file that belongs to one of blocks."""
    return turns + ".operations"


def append_timed(path: str, block: TimedBlock) -> None:
    """Writes one line at once. Raises OSError."""
    times = None if block.times is None else [astuple(each) for each in block.times]
    line = (block.process, block.round, block.wall_ns, block.half_ns, times)
    append_line(path, json.dumps({"timed": line}))


def append_recorded(path: str, block: RecordedBlock) -> None:
    """Writes one line at once. Raises OSError."""
    append_line(path, json.dumps({"recorded": astuple(block)}))


def read(path: str | os.PathLike[str]) -> tuple[list[TimedBlock], list[RecordedBlock]]:
    """All blocks so far, in their order; a line that is cut short is left out. None: no file."""
    timed: list[TimedBlock] = []
    recorded: list[RecordedBlock] = []
    for line in read_lines(path):
        found = json.loads(line)
        if "timed" in found:
            process, number, wall_ns, half_ns, times = found["timed"]
            spent = None if times is None else _times(times)
            timed.append(TimedBlock(process, number, wall_ns, half_ns, spent))
        else:
            recorded.append(RecordedBlock(*found["recorded"]))
    return timed, recorded


def _times(found: list[tuple[bool, list[str], float, int, int]]) -> tuple[OperationTime, ...]:
    return tuple(OperationTime(each[0], tuple(each[1]), *each[2:]) for each in found)
