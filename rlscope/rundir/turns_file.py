"""The blocks of iterations that `rlscope calibrate` compares, one line each."""

from __future__ import annotations

import os
from dataclasses import astuple, dataclass

BARE, RECORDED = "bare", "recorded"
"""Modes of a block: nothing is recorded, and pointers are the originals; all is recorded."""
TIMED = "timed"
"""The mode as BARE, but annotations run a stopwatch."""
NOT_RECORDED = (BARE, TIMED)
CPU, CALLS, WORK = "cpu", "calls", "work"
"""Modes where CUDA is attached. CPU records nothing that CUPTI tells; CALLS leaves out its activity
records of work; WORK leaves out its callbacks of calls."""
OF_CUDA = (CPU, CALLS, WORK)
WITH_CALLS = (RECORDED, CALLS)
"""Modes in which CUDA calls are recorded."""


@dataclass(frozen=True)
class Block:
    """Some iterations of one process."""

    process: int
    """As the kernel numbers it."""
    round: int
    """The blocks of a round are of equal length, one of each mode."""
    mode: str
    measured: bool
    """False: the iterations after a switch, which are not compared."""
    iterations: int
    cpu_ns: int
    """CPU time of the process, all threads."""


def begin(path: str) -> None:
    """A process counts iterations: there is a file, even if no block ever ends.

    Raises OSError.
    """
    os.close(_open(path))


def append(path: str, block: Block) -> None:
    """Writes one line at once, so that lines of several processes do not mix.

    The file is open no longer than that: the program may close descriptors that it does not know,
    and open files of its own under their numbers.

    Raises OSError.
    """
    values = (str(int(each) if isinstance(each, bool) else each) for each in astuple(block))
    append_line(path, " ".join(values))


def append_line(path: str, line: str) -> None:
    """The same for any line."""
    file = _open(path)
    try:
        os.write(file, f"{line}\n".encode())
    finally:
        os.close(file)


def _open(path: str) -> int:
    return os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)


def read(path: str | os.PathLike[str]) -> list[Block]:
    """All blocks so far, in their order; a line that is cut short is left out. None: no file."""
    return [_block(*each.split()) for each in read_lines(path)]


def read_lines(path: str | os.PathLike[str]) -> list[str]:
    """All lines that are whole; none where there is no file."""
    try:
        with open(path, "rb") as file:
            return [each.decode() for each in file.read().split(b"\n")[:-1]]
    except FileNotFoundError:
        return []


def _block(
    process: str, number: str, mode: str, measured: str, iterations: str, cpu_ns: str
) -> Block:
    return Block(int(process), int(number), mode, bool(int(measured)), int(iterations), int(cpu_ns))
