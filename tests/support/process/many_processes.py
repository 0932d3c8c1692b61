"""A trace of many processes that are alike, as a run of short-lived workers leaves it: `write`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from ground_truth.raw import Kind, Name
from ground_truth.written import BEGAN, ENDED, FORKED, ORIGIN_NS, PYTHON
from numpy.typing import NDArray

from rlscope import _trace

FIRST_PID = 1000
# An operation each: (name, the part of its millisecond that it takes).
_OPERATIONS = {"simulation": 0.5, "inference": 0.2, "update": 0.1}
_STEP_NS = 1_000_000
# So many records at once: what the writer holds.
_CHUNK = 100_000


def write(directory: Path, processes: int, events: int) -> None:
    """Each process: so many operations of one thread, its parent the first; all at one time."""
    (directory / "trace").mkdir(parents=True)
    (directory / "run.json").write_text("{}\n")
    with open(directory / "processes.log", "wb") as log:
        for number in range(processes):
            log.write(b"".join(_log_records(number, events)))
            _write_file(directory / "trace", number, events)


def _began_ns(number: int) -> int:
    return ORIGIN_NS + number


def _end_ns(events: int) -> int:
    return ORIGIN_NS + _STEP_NS + _STEP_NS * events


def _log_records(number: int, events: int) -> Iterator[bytes]:
    pid, parent = FIRST_PID + number, FIRST_PID if number else 1
    began = _began_ns(number)
    of_image = {"pid": pid, "parent_pid": parent, "start_time": 1, "began_ns": began}
    end = _end_ns(events)
    first = FORKED if number else BEGAN
    yield _trace.process_record(first, time_ns=began, name="python", **of_image)
    yield _trace.process_record(PYTHON, time_ns=began, name="3.11.7", **of_image)
    yield _trace.process_record(ENDED, time_ns=end, python_end_ns=end, **of_image)


def _write_file(folder: Path, number: int, events: int) -> None:
    pid, began = FIRST_PID + number, _began_ns(number)
    writer = _trace.Writer(
        str(folder / f"host.{pid}.1.1.rls"),
        os_pid=pid,
        began_ns=began,
        start_time=1,
        host="host",
        main_thread=pid,
    )
    names = [writer.name(int(Name.OPERATION), name) for name in _OPERATIONS]
    writer.thread(0, pid, name="MainThread", is_python=True)
    for first in range(0, events, _CHUNK):
        _write_operations(writer, names, np.arange(first, min(first + _CHUNK, events)))
    writer.end(_end_ns(events), python_begin_ns=began, python_end_ns=_end_ns(events))
    writer.close()


def _write_operations(writer: _trace.Writer, names: list[int], numbers: NDArray[np.int64]) -> None:
    """One enter and one exit for each number."""
    which = numbers % len(names)
    starts = ORIGIN_NS + _STEP_NS * (1 + numbers)
    lengths = (np.array(list(_OPERATIONS.values())) * _STEP_NS).astype(np.int64)[which]
    ticks = np.stack([starts, starts + lengths], axis=1).reshape(-1)
    kinds = np.tile([int(Kind.ENTER), int(Kind.EXIT)], len(numbers)).astype(np.uint32)
    ids = np.stack([np.array(names)[which], np.zeros(len(numbers))], axis=1)
    writer.items(0, ticks.astype(np.int64), kinds, ids.reshape(-1).astype(np.uint32))
