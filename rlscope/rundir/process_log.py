"""DIR/processes.log as Python reads it: one fixed record for each thing that happens to a process.

csrc/trace/layout/shared_pages.h is the layout's home. Records with a wrong checksum are left out.
"""

import os
import struct
from enum import IntEnum
from typing import NamedTuple

from rlscope.recorder import runtime
from rlscope.rundir import regular_files

FILE = "processes.log"
# A longer log is not read beyond this: half a million records (csrc/trace/layout/process_record.h).
_MOST_BYTES = 64 << 20

# magic, crc, version, event, pid, parent_pid, flags, start_time, pid_namespace, began_ns, time_ns,
# cpu_ns, profiler_cpu_ns, python_end_ns, name (ends at its NUL).
_RECORD = struct.Struct("<IIHHIIIQQqqqqq48s")


class Event(IntEnum):
    """The kind of a record."""

    BEGAN = 1
    FORKED = 2
    PYTHON = 3
    ENDED = 4
    RINGS = 5
    """Concerns the run: a piece of the path of a folder that holds its rings, outside of DIR."""
    WINDOW = 6
    """Concerns the run: its window waits, starts or stops."""
    NESTED = 7
    """Concerns the run: a piece of the directory of a run that one of its processes records."""


class Record(NamedTuple):
    """One record; times are CLOCK_MONOTONIC in nanoseconds."""

    event: int
    pid: int
    parent_pid: int
    flags: int
    start_time: int
    """Field 22 of /proc/<pid>/stat: distinguishes a recycled pid from this one."""
    pid_namespace: int
    began_ns: int
    """Tells images of one pid apart."""
    time_ns: int
    name: bytes


def parse(data: bytes) -> tuple[list[Record], int]:
    """The intact records in `data`, and how many bytes of it need no second look."""
    found, taken = runtime.process_records(data)
    records = [
        Record._make((*fields[3:11], fields[14].partition(b"\0")[0]))
        for fields in map(_RECORD.unpack, found)
    ]
    return records, taken


def read(directory: str | os.PathLike[str]) -> list[Record]:
    """Every intact record of the run in `directory`; none when there is no log."""
    return read_on(directory, 0)[0]


def read_on(directory: str | os.PathLike[str], start: int) -> tuple[list[Record], int]:
    """The intact records from byte `start` on, and where to go on when the log has grown."""
    try:
        if os.stat(os.path.join(directory, FILE)).st_size <= start:  # asked four times a second
            return [], start
        data = regular_files.read_start(directory, FILE, max(0, _MOST_BYTES - start), start)
    except OSError:
        return [], start
    records, taken = parse(data)
    return records, start + taken


def without_rings(directory: str | os.PathLike[str]) -> bytes:
    """The log so far as a copy of the trace needs it: its rings are those of the run."""
    try:
        data = regular_files.read_start(directory, FILE, _MOST_BYTES)
    except OSError:
        return b""
    found, _ = runtime.process_records(data)
    return b"".join(raw for raw in found if _RECORD.unpack(raw)[3] != Event.RINGS)


def ring_folder(records: list[Record]) -> str | None:
    """The folder outside of the trace directory that holds the rings of the run, if one does.

    It comes from the log: see own_files.is_ring_folder before it is looked into.
    """
    path = b""
    length = 0
    for record in records:
        if record.event != Event.RINGS:
            continue
        length, offset = record.flags >> 16, record.flags & 0xFFFF
        if offset == len(path):  # else one before it is damaged
            path += record.name
    return os.fsdecode(path) if path and len(path) == length else None
