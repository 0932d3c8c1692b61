"""What /proc/<pid>/stat says of a process."""

import os


def process_start_time(pid: int) -> int | None:
    """Field 22 of /proc/<pid>/stat; None when no such process runs (a zombie does not)."""
    fields = _stat(pid)
    return int(fields[19]) if fields and fields[0] not in b"ZX" else None


def process_cpu_ns(pid: int) -> int:
    """User and system CPU time of a process, in steps of 10 ms; 0 when it is gone."""
    fields = _stat(pid)
    ticks = int(fields[11]) + int(fields[12]) if fields else 0
    return ticks * 1_000_000_000 // os.sysconf("SC_CLK_TCK")


def _stat(pid: int) -> list[bytes]:
    """/proc/<pid>/stat from its third field on."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            # The name in field 2 may hold blanks and parentheses: count from its last one.
            return file.read().rpartition(b")")[2].split()
    except OSError:
        return []
