"""What /proc says of a process."""

import os
from dataclasses import dataclass

_AT_ONCE = 1 << 16


@dataclass(frozen=True)
class Stat:
    """A process at one moment."""

    pid: int
    is_alive: bool
    """False: a zombie."""
    parent: int
    group: int
    session: int
    start_time: int
    """Field 22: distinguishes a recycled pid from this one."""
    cpu_ns: int
    """User and system CPU time, in steps of 10 ms."""
    image: tuple[bytes, ...]
    """Where the kernel put code, stack, arguments and environment: an exec changes it."""


def read(path: str) -> bytes:
    """A file of /proc. A file of Python's makes nine calls for it, this four: rls-prof reads many a
    second.

    Raises OSError.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        parts = [os.read(descriptor, _AT_ONCE)]
        while parts[-1]:
            parts.append(os.read(descriptor, _AT_ONCE))
        return b"".join(parts)
    finally:
        os.close(descriptor)


def process_stat(pid: int) -> Stat | None:
    """None when no such process runs."""
    fields = _stat(pid)
    if len(fields) < 49:
        return None
    return Stat(
        pid,
        fields[0] not in b"ZX",
        int(fields[1]),
        int(fields[2]),
        int(fields[3]),
        int(fields[19]),
        _cpu_ns(fields),
        (*fields[23:26], *fields[45:49]),
    )


def last_pid() -> bytes | None:
    """The number that a process or thread got last, as text: as long as it stays, there is no new
    one. None: the kernel does not say."""
    try:
        return read("/proc/sys/kernel/ns_last_pid")
    except OSError:
        return None


def process_start_time(pid: int) -> int | None:
    """Field 22 of /proc/<pid>/stat; None when no such process runs (a zombie does not)."""
    fields = _stat(pid)
    return int(fields[19]) if fields and fields[0] not in b"ZX" else None


def process_cpu_ns(pid: int) -> int:
    """User and system CPU time of a process, in steps of 10 ms; 0 when it is gone."""
    fields = _stat(pid)
    return _cpu_ns(fields) if fields else 0


def _cpu_ns(fields: list[bytes]) -> int:
    ticks = int(fields[11]) + int(fields[12])
    return ticks * 1_000_000_000 // os.sysconf("SC_CLK_TCK")


def _stat(pid: int) -> list[bytes]:
    """/proc/<pid>/stat from its third field on."""
    try:
        # The name in field 2 may hold blanks and parentheses: count from its last one.
        return read(f"/proc/{pid}/stat").rpartition(b")")[2].split()
    except OSError:
        return []
