"""A trace of one form, 7.2 s of a training loop, with any number of passes: `write`."""

from __future__ import annotations

import json
from pathlib import Path

from ground_truth import raw, written
from ground_truth.raw import CudaCall, GpuWork, Item, RawProcess, RawThread

LENGTH_NS = 7_200_000_000
# Recorded by a pass: an operation, a native call, a CUDA call and its kernel.
EVENTS = 4


def write(directory: Path, passes: int) -> None:
    """Each pass: a complete iteration, EVENTS, a report of progress, a sample of the CPU."""
    width = LENGTH_NS // passes
    items: list[Item] = []
    for number in range(passes):
        begin = number * width
        items += [
            raw.iteration(begin),
            raw.enter(begin, "update"),
            raw.call(begin + width // 10, begin + width // 2, "matmul"),
            raw.leave(begin + width * 8 // 10, "update"),
            *raw.progress(begin + width * 9 // 10, number + 1, passes),
        ]
    calls = [
        CudaCall(i * width + width // 5, i * width + width // 4, correlation=i + 1)
        for i in range(passes)
    ]
    work = [
        GpuWork(each.end_ns, each.end_ns + width // 4, correlation=each.correlation)
        for each in calls
    ]
    items.append(raw.iteration(LENGTH_NS))
    process = RawProcess(end_ns=LENGTH_NS, threads=[RawThread(items, calls)], gpu=work)
    written.write([process], directory)
    _sample(directory, passes)


def _sample(directory: Path, samples: int) -> None:
    times = range(written.ORIGIN_NS, written.ORIGIN_NS + LENGTH_NS, LENGTH_NS // samples)
    lines = [
        json.dumps({"time_ns": time, "pid": None, "metric": "cpu_percent", "value": i % 90})
        for i, time in enumerate(times)
    ]
    (directory / "machine.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
