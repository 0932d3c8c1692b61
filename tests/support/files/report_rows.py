"""A run with something for every panel of the report, as relations: `full_run()`.

Names are arguments, so that a test can put hostile ones in every place that shows a name; so are
numbers, so that a test can reach every limit.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

import sqlalchemy as sa
from sqlalchemy import BigInteger, Boolean, Double, Text

from rlscope.relations.schema import store
from support.cuda.rows import cuda_relations
from support.files.relation_rows import SECOND, Relations, process, share
from support.files.stack_rows import OWN, State, stack_relations

BEGAN = 1_000 * SECOND
LENGTH = 8 * SECOND
LAYERS = ("python", "simulator", "framework", "cuda_api", "wait", "none")
_EMPTY = (
    "calibration", "event", "gpu_timeline", "iteration_breakdown", "overhead", "phase",
    "recording_window", "utilisation",
)  # fmt: skip


@cache  # it is never changed
def full_run(
    *,
    name: str = "trainer",
    processes: int = 2,
    operations: int = 3,
    buckets: int = 16,
    iterations: int = 25,
    samples: int = 8,
    stacks: int = 200,
    file_lines: int = 400,
) -> Relations:
    """A root operation with `operations` inside it, over the same layers in each process."""
    part = name.replace("/", "\\/")  # as in paths of operations
    paths = [part, *(f"{part}/{part}{i}" for i in range(operations))]
    ids = range(processes)
    breakdown = [row for i in ids for row in _breakdown(i, paths)]
    rows: dict[str, list[dict[str, Any]]] = dict(
        run=[
            {
                "run_id": "r1",
                "command": f"python {name}",
                "name": name,
                "start_ns": BEGAN,
                "end_ns": BEGAN + LENGTH,
                "version": "1.2.3",
            }
        ],
        host=[
            {"host_id": 0, "name": name, "cpu": name, "cores": 2, "clock": "tsc", "tsc_hz": 10**9}
        ],
        process=[_process(i, name) for i in ids],
        thread=[{"thread_id": i, "process_id": i, "os_tid": 100 + i, "name": name} for i in ids],
        operation=[_operation(number, path, name) for number, path in enumerate(paths)],
        breakdown=breakdown,
        **_of_lines_and_reasons(ids, paths, name),
        # More of an operation than its process shows: another thread owned that meanwhile.
        breakdown_by_thread=[
            {**share(i, paths[-1], "python", 3 * SECOND), "thread_id": i} for i in ids
        ],
        timeline=[row for i in ids for row in _timeline(i, paths, buckets)],
        iteration=[row for i in ids for row in _iterations(i, iterations)],
        operation_instance=[row for i in ids for row in _instances(i, len(paths), iterations)],
        transition=[row for i in ids for row in _transitions(i, paths)],
        native_call=[row for i in ids for row in _native_calls(i, paths, name)],
        wait=[
            {"process_id": i, "operation": paths[-1], "kind": name, "self_ns": SECOND} for i in ids
        ],
        machine_sample=_samples(samples, processes),
        progress=[
            {"process_id": 0, "start_ns": BEGAN + i * SECOND, "done": 5.0 * i, "total": 100.0}
            for i in range(1, 5)
        ],
        loss=[{"process_id": 0, "kind": name, "count": 5, "detail": name}],
        metadata=[{"process_id": 0, "key": name, "value": f'"{name}"'}],
        absent=[{"relation": name, "column_name": name, "reason": name}],
        **cuda_relations(ids, paths, name),
        **stack_relations(_states(breakdown), name, stacks=stacks, file_lines=file_lines),
    )
    others = (each for each in store.relations().values() if each.name not in {*rows, *_EMPTY})
    return Relations(**rows, **{each.name: _of_any(each, ids, name) for each in others})


def _of_lines_and_reasons(
    ids: Iterable[int], paths: Sequence[str], name: str
) -> dict[str, list[dict[str, Any]]]:
    """Relations that say why an operation takes its time, and in which lines."""
    return {
        "idle": [
            {
                "process_id": i,
                "stage": "loop",
                "operation": path,
                "layer": "python",
                "gpu_busy": False,
                "reason": "python",
                "duration_ns": 1000,
            }
            for i in ids
            for path in paths
        ],
        "blocked": [
            {
                "process_id": i,
                "stage": "loop",
                "operation": paths[-1],
                "layer": "python",
                "duration_ns": 1000,
                "readings": 20,
                "blocked": 1,
                "blocked_ns": 50,
                "blocked_low_ns": 9,
                "blocked_high_ns": 240,
            }
            for i in ids
        ],
        "backward_line": [
            {
                "process_id": i,
                "file": file,
                "line": line,
                "function": name,
                "backward_file": name,
                "backward_line": 9,
                "stage": "loop",
                "backward_ns": backward_ns,
                "backwards": 40,
                "watched": 8,
                "watched_ns": 2000,
                "nodes": 16,
                "part_ns": 1500,
            }
            for i in ids
            for file, line, backward_ns in (
                (name, 7, 1000),
                (f"/home/me/{name}/{OWN[1]}", 8, 3_000_000 + i),
            )
        ],
        "compilation": [
            {
                "process_id": i,
                "compiler": name,
                "function": name,
                "file": name,
                "line": 7,
                "count": 2,
                "total_ns": 1000,
                "early_count": 1,
                "early_ns": 400,
            }
            for i in ids
        ],
    }


def _of_any(relation: sa.Table, ids: Iterable[int], name: str) -> list[dict[str, Any]]:
    """A row for each process, so that a relation that is new is in the run, too."""
    values = {BigInteger: SECOND, Double: 1.0, Boolean: True, Text: name}
    row = {column.name: values[type(column.type)] for column in relation.columns}
    return [{**row, **({"process_id": i} if "process_id" in row else {})} for i in ids]


def _process(process_id: int, name: str) -> dict[str, Any]:
    times = {"cpu_ns": 7 * SECOND, "profiler_cpu_ns": 1_000_000, "exit_flush_ns": 500_000}
    facts = {**times, "events": 1000, "file_bytes": 9000}
    parent = {"parent_process_id": 0} if process_id else {}
    role = f"{name} worker" if process_id else name
    row = process(process_id, BEGAN, BEGAN + LENGTH, name=role, program=name, python=name)
    return {**row, **facts, **parent, "host_id": 0}


def _operation(number: int, path: str, name: str) -> dict[str, Any]:
    parent = {"parent_operation_id": 0} if number else {}
    text = f"{name}{number - 1}" if number else name
    return {"operation_id": number, "name": text, "path": path, "depth": min(number, 1), **parent}


def _breakdown(process_id: int, paths: list[str]) -> list[dict[str, Any]]:
    return [
        _corrected(share(process_id, path, layer, 1_000_000 * (1 + i) + process_id, gpu_busy=busy))
        for i, path in enumerate(paths)
        for layer in LAYERS
        for busy in (False, True)
    ]


def _states(breakdown: list[dict[str, Any]]) -> dict[tuple[int, State], int]:
    """Exact time of each state in the loop."""
    times: dict[tuple[int, State], int] = {}
    for row in breakdown:
        key = (row["process_id"], ("loop", row["operation"], row["layer"]))
        times[key] = times.get(key, 0) + row["duration_ns"]
    return times


def _corrected(row: dict[str, Any]) -> dict[str, Any]:
    ns = row["duration_ns"]
    ends = {"corrected_ns": ns - 9, "corrected_low_ns": ns - 20, "corrected_high_ns": ns - 4}
    return {**row, "overhead_ns": 9, **ends}


def _transitions(process_id: int, paths: list[str]) -> list[dict[str, Any]]:
    crossing = {"process_id": process_id, "from_layer": "python", "per_iteration": 2.5}
    return [
        {**crossing, "operation": path, "to_layer": layer, "count": 10 + i}
        for i, path in enumerate(paths)
        for layer in LAYERS[1:3]
    ]


def _native_calls(process_id: int, paths: list[str], name: str) -> list[dict[str, Any]]:
    call = {"process_id": process_id, "layer": "framework", "calls": 4}
    return [
        {**call, "operation": path, "function": f"{name}:{i}", "duration_ns": 9_000, "self_ns": 80}
        for path in paths
        for i in range(12)
    ]


def _timeline(process_id: int, paths: list[str], buckets: int) -> list[dict[str, Any]]:
    width = LENGTH // buckets
    shown = paths[:20]
    states = [(layer, busy) for layer in LAYERS for busy in (False, True)]
    rows = []
    for bucket in range(buckets):
        for i, (layer, busy) in enumerate(states):
            row = {"process_id": process_id, "level": 0, "start_ns": BEGAN + bucket * width}
            path = shown[(bucket + i) % len(shown)]
            row |= {"bucket_ns": width, "operation": path, "layer": layer, "gpu_busy": busy}
            rows.append({**row, "duration_ns": width // len(states)})
    return rows


def _iterations(process_id: int, count: int) -> list[dict[str, Any]]:
    width = LENGTH // count
    return [
        {
            "process_id": process_id,
            "iteration": i,
            "start_ns": BEGAN + i * width,
            "duration_ns": width + i,
            "complete": i < count - 1,
            "source": "explicit",
        }
        for i in range(count)
    ]


def _instances(process_id: int, operations: int, iterations: int) -> list[dict[str, Any]]:
    return [
        {"process_id": process_id, "operation_id": o, "iteration": i, "self_ns": 1000 * (o + i)}
        for o in range(min(operations, 30))
        for i in range(min(iterations, 30))
    ]


def _samples(count: int, processes: int) -> list[dict[str, Any]]:
    machine = ("cpu_percent", "memory_bytes", "gpu0_percent", "gpu0_memory_bytes")
    readings = [(None, metric) for metric in machine]
    readings += [(i, metric) for i in range(processes) for metric in machine[:2]]
    return [
        {
            "host_id": 0,
            "process_id": process_id,
            "start_ns": BEGAN + i * LENGTH // count,
            "metric": metric,
            "value": float(i % 100) * (1 << 30 if "bytes" in metric else 1),
        }
        for i in range(count)
        for process_id, metric in readings
    ]
