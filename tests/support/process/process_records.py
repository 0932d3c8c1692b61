"""Records of processes.log as a process writes them: csrc/trace/layout/shared_pages.h."""

from __future__ import annotations

import struct
from pathlib import Path

from rlscope.rundir.process_log import Event

_RECORD = struct.Struct("<IIHHIIIQQqqqqq48s")
_MAGIC = 0x50534C52
_VERSION = 3
_PIECE = 48


def crc32c(data: bytes) -> int:
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def make_record(
    event: Event, pid: int, start_time: int = 77, *, name: bytes = b"python", flags: int = 0
) -> bytes:
    """A record of the image of `pid` that began at 5 ns."""
    fields = (_VERSION, event, pid, 1, flags, start_time, 0, 5, 5, 0, 0, 0, name)
    crc = crc32c(_RECORD.pack(_MAGIC, 0, *fields))
    return _RECORD.pack(_MAGIC, crc, *fields)


def rings_records(folder: Path | str) -> bytes:
    """The note of a run whose rings lie in `folder`."""
    path = str(folder).encode()
    return b"".join(
        make_record(Event.RINGS, 1, name=path[at : at + _PIECE], flags=len(path) << 16 | at)
        for at in range(0, len(path), _PIECE)
    )
