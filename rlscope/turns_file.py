"""The blocks of iterations that `rlscope calibrate` compares, one line each."""

from __future__ import annotations

import os
from dataclasses import astuple, dataclass


@dataclass(frozen=True)
class Block:
    """Some iterations of one process."""

    process: int
    """As the kernel numbers it."""
    pair: int
    """Two blocks of a process are a pair, of equal length."""
    recorded: bool
    measured: bool
    """False: the iterations behind a switch, which are not compared."""
    iterations: int
    cpu_ns: int
    """CPU time of the process, all threads."""


def append(path: str, block: Block) -> None:
    """Writes one line at once, so that lines of several processes do not mix.

    The file is open no longer than that: the program may close descriptors that it does not know,
    and open files of its own under their numbers.

    Raises OSError.
    """
    line = " ".join(str(int(value)) for value in astuple(block)) + "\n"
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
    file = os.open(path, flags, 0o644)
    try:
        os.write(file, line.encode())
    finally:
        os.close(file)


def read(path: str | os.PathLike[str]) -> list[Block]:
    """All blocks so far, in their order; a line that is cut short is left out. None: no file."""
    try:
        with open(path, "rb") as file:
            lines = file.read().split(b"\n")[:-1]
    except FileNotFoundError:
        return []
    return [_block(*map(int, each.split())) for each in lines]


def _block(
    process: int,
    pair: int,
    recorded: int,
    measured: int,
    iterations: int,
    cpu_ns: int,
) -> Block:
    return Block(process, pair, bool(recorded), bool(measured), iterations, cpu_ns)
