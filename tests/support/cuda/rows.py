"""CUDA calls and GPU work of a made-up run, as relations, for tests of what reports say of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

Rows = list[dict[str, Any]]


def cuda_relations(processes: Iterable[int], paths: list[str], name: str) -> dict[str, Rows]:
    """Kernels and a graph of each operation, copies, waiting and calls, on two devices."""
    keys = [(process_id, path, i) for process_id in processes for i, path in enumerate(paths)]
    return {
        "kernel": [row for key in keys for row in _kernels(*key, name)],
        "graph": [_launched(*key, count=1, launch_bound=1) | {"graph": 7} for key in keys],
        "memcpy": [row for key in keys for row in _copies(*key)],
        "memset": [
            _work(*key) | {"memory": "device", "count": 1, "bytes": 512, "duration_ns": 900}
            for key in keys
        ],
        "sync": [row for key in keys for row in _syncs(*key)],
        "api_call": [row for key in keys for row in _calls(*key, name)],
        "gpu_time": [row for key in keys for row in _times(*key)],
        "gpu_device": [
            {"host_id": 0, "gpu": gpu, "processes": 2, "busy_ns": 60_000, "processes_ns": 90_000}
            for gpu in ("0", "1")
        ],
    }


def _work(process_id: int, path: str, i: int) -> dict[str, Any]:
    place = {"device": i % 2, "context": 1 + i % 2, "stream": 7}
    return {"process_id": process_id, "operation": path, **place}


def _launched(process_id: int, path: str, i: int, **counts: int) -> dict[str, Any]:
    times = {"duration_ns": 40_000 + i, "min_ns": 1_000, "max_ns": 9_000}
    return {**_work(process_id, path, i), **times, **counts}


def _kernels(process_id: int, path: str, i: int, name: str) -> Rows:
    return [
        _launched(process_id, path, i, count=4, launch_bound=k % 5)
        | {"name": f"_Z{k}{name}", "function": f"void {name}<{k}>(int, float)"}
        for k in range(6)
    ]


def _copies(process_id: int, path: str, i: int) -> Rows:
    ways = (("host_to_device", "pageable"), ("device_to_host", "pinned"))
    sizes = {"count": 2, "bytes": 1 << 20, "duration_ns": 30_000}
    return [
        {**_work(process_id, path, i), "direction": direction, "memory": memory, **sizes}
        for direction, memory in ways
    ]


def _syncs(process_id: int, path: str, i: int) -> Rows:
    row = {"process_id": process_id, "operation": path, "count": 3, "duration_ns": 70_000 + i}
    return [
        {**row, "kind": "stream", "waiting_ns": 50_000},
        {**row, "kind": "event", "waiting_ns": 0},
    ]


def _calls(process_id: int, path: str, i: int, name: str) -> Rows:
    row = {"process_id": process_id, "operation": path, "duration_ns": 8_000 + i, "errors": 0}
    return [
        {**row, "name": "cudaLaunchKernel", "calls": 5, "with_work": 4},
        {**row, "name": name, "calls": 1, "with_work": 0, "errors": 1},
    ]


def _times(process_id: int, path: str, i: int) -> Rows:
    row = {"process_id": process_id, "operation": path}
    return [
        {
            **row,
            "device": device,
            "gpu": str(device),
            "while_ns": 60_000 + i,
            "launched_ns": 50_000 + device,
        }
        for device in (0, 1)
    ]
