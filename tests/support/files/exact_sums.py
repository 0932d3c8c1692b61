"""The sums that hold in every trace, to the nanosecond (semantics.md, "Sums").

Every trace that a test leaves behind is checked, whatever the test is about (conftest.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rlscope import _trace
from rlscope.relations.rows import blocked, idle, stacks
from support.files.streamed_rows import total

BUCKETS = 100
_WAIT = _trace.LAYERS.index("wait")
_SPAN = ("start_ns", "end_ns")
_WITHOUT_ROWS: dict[str, list[Any]] = {
    name: [] for name in ("stage", "operation", "layer", "gpu_busy", "reason", "duration_ns")
}


def trace_directories(folder: Path) -> Iterator[Path]:
    """Trace directories in a test's folder: itself, or up to two levels below."""
    for pattern in ("processes.log", "*/processes.log", "*/*/processes.log"):
        for log in sorted(folder.glob(pattern)):
            if (log.parent / "run.json").is_file():
                yield log.parent


def check_directory(path: Path) -> None:
    """Raises AssertionError for times that do not add up. What cannot be opened holds none."""
    try:
        trace = _trace.Directory(str(path))
    except _trace.TraceError:
        return
    for process in trace.processes:
        _check_process(trace, process, f"{path}, process {process['os_pid']}")


def _check_process(trace: _trace.Directory, process: dict[str, Any], of: str) -> None:
    swept = trace.sweep(process["index"], buckets=BUCKETS)
    length_ns = process["end_ns"] - process["start_ns"]
    assert sum(swept["breakdown"]["duration_ns"].tolist()) == length_ns, f"{of}: breakdown"
    in_iterations = total(swept["iteration_breakdown"], "duration_ns")
    assert in_iterations == length_ns, f"{of}: iteration_breakdown"
    timeline = _sums(swept["timeline"], "level")
    assert set(timeline.values()) <= {length_ns}, f"{of}: timeline"
    assert timeline or length_ns == 0, f"{of}: no timeline"
    times = blocked.columns(swept["breakdown"], swept["state_reading"])["duration_ns"]
    assert sum(times) in ({length_ns} if times else {0}), f"{of}: blocked"
    times = stacks.relations(swept)["stack_time"]["self_ns"]
    assert sum(times) in ({length_ns} if times else {0}), f"{of}: stack_time"
    _check_reasons(trace, process, swept, of)
    threads = trace.threads(process["index"])
    lives = zip(*(threads[name].tolist() for name in ("thread", "start_ns", "end_ns")), strict=True)
    by_thread = _sums(swept["breakdown_by_thread"], "thread")
    for thread, start_ns, end_ns in lives:
        assert by_thread.pop(thread, 0) == end_ns - start_ns, f"{of}: thread {thread}"
    assert not by_thread, f"{of}: threads that are not there"
    waited = _sums(swept["wait"], "thread", "self_ns")
    layers = swept["breakdown_by_thread"]
    waiting = {name: values[layers["layer"] == _WAIT] for name, values in layers.items()}
    assert waited == _sums(waiting, "thread"), f"{of}: wait"


def _check_reasons(
    trace: _trace.Directory, process: dict[str, Any], swept: dict[str, Any], of: str
) -> None:
    loop = [
        tuple(row) for row in zip(*(swept["loop"][name].tolist() for name in _SPAN), strict=True)
    ]
    found = trace.idle(process["index"], loop=loop[0] if loop else None)
    rows = idle.columns(found, swept)
    is_known = process["rolled_up"] or idle.ROLLED_UP not in rows["reason"]
    assert is_known, f"{of}: idle lacks time"
    whole = _by_state(idle.columns({**found, "idle": _WITHOUT_ROWS}, swept))
    assert _by_state(rows) == whole, f"{of}: idle"
    assert all(ns > 0 for ns in rows["duration_ns"]), f"{of}: idle has more than there is"


def _by_state(rows: dict[str, list[Any]]) -> dict[tuple[Any, ...], int]:
    sums: dict[tuple[Any, ...], int] = {}
    names = ("stage", "operation", "source", "layer", "gpu_busy")
    for *state, ns in zip(*(rows[name] for name in names), rows["duration_ns"], strict=True):
        sums[tuple(state)] = sums.get(tuple(state), 0) + ns
    return sums


def _sums(columns: Any, key: str, time: str = "duration_ns") -> dict[int, int]:
    sums: dict[int, int] = {}
    for number, ns in zip(columns[key].tolist(), columns[time].tolist(), strict=True):
        sums[number] = sums.get(number, 0) + ns
    return sums
