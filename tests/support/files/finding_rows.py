"""A run of 20 s whose loop takes 10 s, and rules that find what a test says."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from rlscope import registry
from rlscope.analysis import waits
from rlscope.analysis.finding import Finding, Rule
from rlscope.analysis.prices import Price
from rlscope.table import Table
from support.files.relation_rows import SECOND, Relations, process, share

LOOP_NS = 10 * SECOND
FILE = "/home/me/train.py"


def served(*, working: str = "python", role: str = "environment worker", **rows: Any) -> Relations:
    """The loop waits for 8 s in simulation, while a worker works for 4 s, and waits for another."""
    return trace(
        process=[
            process(0, 0, 2 * LOOP_NS),
            process(1, 0, 2 * LOOP_NS, role=role),
        ],
        breakdown=[
            share(0, "simulation", "wait", 8 * SECOND),
            share(0, "update", "python", 2 * SECOND),
            share(1, "simulation", working, 4 * SECOND),
            share(1, "(none)", "wait", SECOND),
        ],
        **rows,
    )


def line(number: int, own_ns: int, **more: Any) -> dict[str, Any]:
    """A row of `source_line`, of Python in no operation."""
    ends = {"own_ns": own_ns, "own_low_ns": 0.9 * own_ns, "own_high_ns": 1.1 * own_ns}
    where = {"process_id": 0, "file": FILE, "line": number, "is_own": True, "stage": "loop"}
    return {**where, "operation": "(none)", "layer": "python", **ends, **more}


def trace(*, iterations: int = 0, windows: bool = False, **rows: Any) -> Relations:
    """One process trains in operation `update`, in so many iterations. With windows, GPU work was
    recorded in some of them only."""
    each_ns = LOOP_NS // max(iterations, 1)
    shown: dict[str, Any] = {
        "run": [{"start_ns": 0, "end_ns": 20 * SECOND}],
        "process": [process(0, 0, 20 * SECOND)],
        "breakdown": [share(0, "update", "python", LOOP_NS)],
        "iteration": [
            {
                "process_id": 0,
                "iteration": place,
                "start_ns": place * each_ns,
                "duration_ns": each_ns,
                "complete": True,
                "source": "explicit",
            }
            for place in range(iterations)
        ],
    }
    made = {**shown, **rows}
    return Relations(**(_in_windows(made) if windows else made))


def _in_windows(rows: dict[str, Any]) -> dict[str, Any]:
    """The first ten iterations, and four in each ten of the others. All are alike."""
    iterations = rows["iteration"]
    seen = [place < 10 or 3 <= place % 10 < 7 for place in range(len(iterations))]
    part = sum(seen) / len(seen)

    def parts(relation: str, *columns: str) -> list[dict[str, Any]]:
        return [
            {**row, **{name: round(part * row[name]) for name in columns}}
            for row in rows.get(relation, [])
        ]

    known = [{**row, "is_sample": True} for row in parts("idle", "duration_ns")]
    unknown = [
        {**row, "gpu_busy": None, "duration_ns": row["duration_ns"] - kept["duration_ns"]}
        for row, kept in zip(rows.get("idle", []), known, strict=True)
    ]
    number = next((row["operation_id"] for row in rows.get("operation", [])), 0)
    return {
        **rows,
        "iteration": [
            {**row, "gpu_recorded": each} for row, each in zip(iterations, seen, strict=True)
        ],
        "loss": [{"process_id": 0, "kind": "gpu_unrecorded", "count": seen.count(False)}],
        "idle": [*known, *unknown],
        "kernel": parts("kernel", "count", "launch_bound", "duration_ns"),
        "memcpy": parts("memcpy", "count", "bytes", "duration_ns"),
        "gpu_time": parts("gpu_time", "launched_ns", "while_ns"),
        "api_call": [{**row, "with_work": None} for row in rows.get("api_call", [])],
        "event": [
            row for row in rows.get("event", [])
            if row["kind"] == "cuda_call" or seen[row["iteration"]]
        ],
        "operation": rows.get("operation", [{"operation_id": number, "path": "update"}]),
        "operation_instance": [
            {"process_id": 0, "operation_id": number, "iteration": place}
            for place in range(len(seen))
        ],
    }  # fmt: skip


def steps(monkeypatch: pytest.MonkeyPatch, *workers: dict[str, Any]) -> None:
    """Puts rows in the place of those of `worker_steps`."""
    common = {
        "process_id": 0,
        "operation": "simulation",
        "instances": 100,
        "steps": 100,
        "own_steps": 100,
        "operation_ns": 4 * SECOND,
        "any_ns": 3 * SECOND,
        "whole_ns": 8 * SECOND,
        "workers": len(workers),
        "cores": 4,
        "last": 10,
        "tail_ns": 0,
        "excess_ns": 0,
        "late_ns": 0,
        "typical_ns": SECOND // 200,
        "all_stepped_ns": sum(each["stepped_ns"] for each in workers),
    }
    rows = [
        {**common, "worker_id": place, "worker": f"env worker {place}", **each}
        for place, each in enumerate(workers, 1)
    ]
    table = Table({name: [row[name] for row in rows] for name in rows[0]}, name="worker_step")
    monkeypatch.setattr(waits, "worker_steps", lambda _: table)
    monkeypatch.setattr(waits, "served_processes", lambda _: {0})


def seconds(saving: float, low: float, high: float) -> Price:
    return Price(saving * SECOND, low * SECOND, high * SECOND)


def finding(price: Price | None = None, **more: Any) -> Finding:
    texts = {"title": "it is slow", "evidence": "It takes 1 s.", "fix": "Mend it."}
    rest = {"evidence_sql": "FROM run", "no_effect": "No effect where it is not.", "price": price}
    return Finding(**{**texts, **rest, **more})


def install(
    monkeypatch: pytest.MonkeyPatch, *, of_lines: bool = False, **made: Iterable[Finding]
) -> None:
    """Puts rules in the place of the known ones: each finds what is said."""
    names, load = registry.names, registry.load

    def names_of(group: str) -> list[str]:
        return [*made] if group == registry.FINDINGS else names(group)

    def load_one(group: str, name: str) -> Any:
        if group == registry.FINDINGS:
            return Rule(lambda *_: iter(made[name]), of_lines=of_lines)
        return load(group, name)

    monkeypatch.setattr(registry, "names", names_of)
    monkeypatch.setattr(registry, "load", load_one)
