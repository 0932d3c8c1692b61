"""The step that measures single operations over sizes: a table for models of the hardware."""

from __future__ import annotations

import bisect
import csv
import json
import statistics
from collections import defaultdict
from pathlib import Path
from typing import Any

from gpu_runs import Bench, Figures, Run, check, need
from support.cuda.trace import KERNEL, MEMCPY, MEMSET, Row
from training_steps import demangled

SHAPE = ("kernel", "grid", "block", "registers", "static_shared_bytes", "dynamic_shared_bytes")


def kernel_table(bench: Bench) -> Figures:
    """Operations over sizes: time by events and by records, bytes, FLOPs, shape of kernels."""
    need("torch")
    lines = bench.folder / "cases.jsonl"
    run = bench.record("kernel_table.py", str(lines))
    rows = rows_of(run, [json.loads(line) for line in lines.read_text().splitlines()])
    write_csv(bench.folder / "data" / "kernels.csv", rows)
    (bench.folder / "data" / "device.json").write_text(json.dumps(run.said, indent=1) + "\n")
    without = [row["mark"] for row in rows if not row["gpu_ns"]]
    check(not without, f"no GPU work of {without[:3]} and {len(without)} in all")
    gaps = [row["event_ns"] - row["gpu_ns"] for row in rows]
    return {
        "cases": len(rows),
        "kernels": len({row["kernel"] for row in rows}),
        "events_longer_by_ns": round(statistics.median(gaps)),
    }


def rows_of(run: Run, cases: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Each case with what the trace has of it: GPU time of a run, and its longest kernel."""
    work = work_by_operation(run)
    return [{**case, **facts_of(work.get(case["mark"], []), case["runs"])} for case in cases]


def work_by_operation(run: Run) -> dict[str, list[Row]]:
    """GPU work, by the operation in which its launch began. Paths write a / as \\/."""
    entered = run.trace.query(
        "SELECT path, start_ns, start_ns + duration_ns AS end_ns"
        " FROM operation_instance JOIN operation USING (operation_id) ORDER BY start_ns"
    )
    starts = [row["start_ns"] for row in entered]
    found: dict[str, list[Row]] = defaultdict(list)
    calls = run.calls()
    for row in run.work(KERNEL, MEMCPY, MEMSET):
        launched_ns = calls[row["correlation"]]["start_ns"]
        instance = entered[max(bisect.bisect_right(starts, launched_ns) - 1, 0)]
        if instance["start_ns"] <= launched_ns < instance["end_ns"]:
            found[instance["path"].replace("\\/", "/")].append(row)
    return found


def facts_of(work: list[Row], runs: int) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "kernels": sum(row["kind"] == KERNEL for row in work) / runs,
        "gpu_ns": round(sum(row["duration_ns"] for row in work) / runs, 1),
    }
    kernels = [row for row in work if row["kind"] == KERNEL]
    if not kernels:
        return facts | dict.fromkeys(SHAPE, "")
    longest = max(kernels, key=lambda row: int(row["duration_ns"]))
    return facts | {
        "kernel": demangled(longest["name"]),
        "grid": unpacked(longest["grid"], (32, 16, 16)),
        "block": unpacked(longest["block"], (12, 12, 8)),
        "registers": longest["registers"],
        "static_shared_bytes": longest["shared_memory"] & 0xFFFFFFFF,
        "dynamic_shared_bytes": longest["shared_memory"] >> 32,
    }


def unpacked(packed: int, bits: tuple[int, int, int]) -> str:
    """As trace.proto packs three numbers."""
    numbers = []
    for width in bits:
        numbers.append(packed & ((1 << width) - 1))
        packed >>= width
    return "x".join(map(str, numbers))


def write_csv(file: Path, rows: list[dict[str, Any]]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    columns = list(dict.fromkeys(name for row in rows for name in row if name != "mark"))
    with open(file, "w", newline="") as stream:
        writer = csv.DictWriter(stream, columns, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)
