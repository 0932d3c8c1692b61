"""DIR/processes.log as Python reads it: one fixed record for each thing that happens to a process.

csrc/trace/shared_pages.h is the layout's home. Records are not checked against their CRC, for that
would cost more than reading them: whoever acts on one asks the kernel or the file system first.
"""

import os
import struct
from collections.abc import Iterator
from enum import IntEnum
from typing import NamedTuple

FILE = "processes.log"

# magic, crc, version, event, pid, parent_pid, flags, start_time, pid_namespace, began_ns, time_ns,
# cpu_ns, profiler_cpu_ns, python_end_ns, name.
_RECORD = struct.Struct("<IIHHIIIQQqqqqq48s")
_MAGIC = 0x50534C52


class Event(IntEnum):
    """What a record tells."""

    BEGAN = 1
    FORKED = 2
    PYTHON = 3
    ENDED = 4
    RINGS = 5
    """Of the run: a piece of the path of a folder that holds its rings, outside of DIR."""
    WINDOW = 6
    """Of the run: its window waits, starts or stops."""
    NESTED = 7
    """Of the run: a piece of the directory of another run that a process of it records."""


class Record(NamedTuple):
    """One record; times are CLOCK_MONOTONIC in nanoseconds."""

    event: int
    pid: int
    parent_pid: int
    flags: int
    start_time: int
    """Field 22 of /proc/<pid>/stat: tells a recycled pid from this one."""
    pid_namespace: int
    began_ns: int
    """Tells images of one pid apart."""
    time_ns: int
    name: bytes


def parse(data: bytes) -> tuple[list[Record], int]:
    """The whole records at the start of `data`, and how many bytes they take."""
    whole = len(data) - len(data) % _RECORD.size
    records = [
        Record._make((*fields[3:11], fields[14].rstrip(b"\0")))
        for fields in _RECORD.iter_unpack(memoryview(data)[:whole])
        if fields[0] == _MAGIC
    ]
    return records, whole


def read(directory: str | os.PathLike[str]) -> list[Record]:
    """Every whole record of the run in `directory`; none when there is no log."""
    try:
        with open(os.path.join(directory, FILE), "rb") as file:
            return parse(file.read())[0]
    except OSError:
        return []


def ring_folders(records: list[Record]) -> Iterator[str]:
    """Folders outside of the trace directory that hold rings of the run."""
    path = b""
    for record in records:
        if record.event != Event.RINGS:
            continue
        length, offset = record.flags >> 16, record.flags & 0xFFFF
        path = path[:offset] + record.name
        if len(path) == length and path.startswith(b"/"):
            yield os.fsdecode(path)
