"""Records as CUPTI writes them: a short program's, walked by CUPTI itself, byte for byte.

    python raw_records.py FILE [graph|node]

FILE begins with a line of JSON, what made the records and what the program did; then each record is
a line: its bytes in hexadecimal and, of a kernel, its name, to which those bytes hold a pointer.
The simulated CUPTI plays such a file (SIMCUPTI_REPLAY).
"""

from __future__ import annotations

import ctypes
import json
import mmap
import struct
import sys
import time
from collections.abc import Iterator
from ctypes import CFUNCTYPE, POINTER, byref, c_size_t, c_uint32, c_uint64, c_void_p
from pathlib import Path
from typing import Any

from driver import Driver, say

from rlscope.capture.cuda import cupti_folders
from rlscope.doctor.probe_cuda import SONAMES, candidates, load

COPY, SET, KERNEL, OVERHEAD, SYNC, GRAPH = 1, 2, 10, 17, 38, 51
KERNEL_NAME = 104  # offset of the pointer
BUFFER_BYTES = 1 << 18
KERNELS, COPIES, SETS, REPLAYS = 20, 5, 3, 4
COPIED, SET_BYTES = 4096, 1 << 20
SPIN_NS = 5000

Requested = CFUNCTYPE(None, POINTER(c_void_p), POINTER(c_size_t), POINTER(c_size_t))
Completed = CFUNCTYPE(None, c_void_p, c_uint32, c_void_p, c_size_t, c_size_t)
Timestamp = CFUNCTYPE(c_uint64)


def load_cupti() -> ctypes.CDLL:
    """The first CUPTI that can be loaded."""
    names = (*SONAMES, *candidates(cupti_folders(sys.path), (13, 12, 11)))
    library = next((found for found, _ in map(load, names) if found is not None), None)
    if library is None:
        raise SystemExit("no CUPTI")
    return library


class Cupti:
    """CUPTI's activities, kept as their buffers come back."""

    def __init__(self) -> None:
        self._library = load_cupti()
        self._memory: dict[int, mmap.mmap] = {}
        self._filled: list[tuple[int, int]] = []
        # CUPTI keeps these functions for good.
        self._functions = (
            Requested(self._give),
            Completed(self._take),
            Timestamp(time.monotonic_ns),
        )
        give, take, timestamp = self._functions
        self.call("cuptiActivityRegisterTimestampCallback", timestamp)
        self.call("cuptiActivityRegisterCallbacks", give, take)

    def call(self, name: str, *arguments: Any) -> None:
        """Raises RuntimeError when CUPTI does not answer 0."""
        status = getattr(self._library, name)(*arguments)
        if status != 0:
            raise RuntimeError(f"{name} answered {status}")

    def version(self) -> int:
        version = c_uint32()
        self.call("cuptiGetVersion", byref(version))
        return version.value

    def records(self) -> Iterator[tuple[bytes, str]]:
        """Bytes of every record, and the name of a kernel."""
        self.call("cuptiActivityFlushAll", 1)
        for start, valid in self._filled:
            places = list(self._walk(start, valid))
            for place, end in zip(places, [*places[1:], start + valid], strict=True):
                record = ctypes.string_at(place, end - place)
                yield record, name_of(record)

    def _walk(self, start: int, valid: int) -> Iterator[int]:
        record = c_void_p()
        following = self._library.cuptiActivityGetNextRecord
        while following(c_void_p(start), c_size_t(valid), byref(record)) == 0:
            assert record.value is not None
            yield record.value

    def _give(self, buffer: Any, size: Any, most: Any) -> None:
        memory = mmap.mmap(-1, BUFFER_BYTES)
        address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
        self._memory[address] = memory
        buffer[0], size[0], most[0] = address, BUFFER_BYTES, 0

    def _take(self, _context: Any, _stream: int, buffer: int, _size: int, valid: int) -> None:
        self._filled.append((buffer, valid))


def name_of(record: bytes) -> str:
    (kind,) = struct.unpack_from("<I", record)
    if kind != KERNEL:
        return ""
    (pointer,) = struct.unpack_from("<Q", record, KERNEL_NAME)
    return ctypes.string_at(pointer).decode()


def work(driver: Driver) -> None:
    """Kernels, copies from pinned and from pageable memory, memsets; waits in three ways."""
    stream, event = driver.stream(), driver.event()
    device, pinned = driver.device_memory(SET_BYTES), driver.pinned_memory(COPIED)
    pageable = ctypes.create_string_buffer(COPIED)
    for _ in range(KERNELS):
        driver.spin(stream, SPIN_NS)
    for _ in range(COPIES):
        driver.call("cuMemcpyHtoDAsync_v2", device, pinned, c_size_t(COPIED), stream)
        driver.call("cuMemcpyDtoHAsync_v2", pinned, device, c_size_t(COPIED), stream)
        driver.call("cuMemcpyHtoD_v2", device, pageable, c_size_t(COPIED))
    for _ in range(SETS):
        driver.call("cuMemsetD8Async", device, 0, c_size_t(SET_BYTES), stream)
    driver.call("cuStreamSynchronize", stream)
    driver.call("cuEventRecord", event, stream)
    driver.call("cuEventSynchronize", event)
    driver.call("cuCtxSynchronize")


def replay(driver: Driver) -> None:
    """A graph of two kernels, launched a few times."""
    stream, executable = driver.stream(), driver.graph(2, SPIN_NS)
    for _ in range(REPLAYS):
        driver.call("cuGraphLaunch", executable, stream)
    driver.call("cuStreamSynchronize", stream)


def main() -> None:
    file, level = Path(sys.argv[1]), (sys.argv[2:] or ["graph"])[0]
    cupti = Cupti()
    for kind in (COPY, SET, KERNEL, OVERHEAD, SYNC, *([GRAPH] if level == "graph" else [])):
        cupti.call("cuptiActivityEnable", kind)
    driver = Driver()
    work(driver)
    replay(driver)
    in_graphs = 2 * REPLAYS if level == "node" else 0
    facts = {
        "cupti": cupti.version(),
        "kernels": KERNELS + in_graphs,
        "graphs": REPLAYS if level == "graph" else 0,
        "copies": {"HtoD": 2 * COPIES, "DtoH": COPIES},
        "copied_bytes": 3 * COPIES * COPIED,
        "sets": SETS,
        "set_bytes": SETS * SET_BYTES,
    }
    lines = [f"{record.hex()} {name}".rstrip() for record, name in cupti.records()]
    file.write_text("\n".join([json.dumps(facts), *lines]) + "\n")
    say(**facts, records=len(lines))


if __name__ == "__main__":
    main()
