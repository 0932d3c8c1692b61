"""What recording cost, as relations say it: of some processes, and of all."""

from __future__ import annotations

import json
from typing import Any

import pytest
from support.files.relation_rows import Relations, process, share

from rlscope.analysis import overhead

FIRST, SECOND = 100, 101  # ids of the system


def cost(process_id: int, kind: str, count: int, overhead_ns: int | None) -> dict[str, Any]:
    return {
        "process_id": process_id, "kind": kind, "count": count, "overhead_ns": overhead_ns
    }  # fmt: skip


def corrected(process_id: int, removed_ns: int, **more: Any) -> dict[str, Any]:
    """A share of 1,000 ns; the interval is as wide as what the correction takes out."""
    ends = {"corrected_low_ns": 1000 - 2 * removed_ns, "corrected_high_ns": 1000}
    row = share(process_id, "train", "python", 1000, source="explicit", **more)
    return {**row, "corrected_ns": 1000 - removed_ns, **ends}


@pytest.fixture
def trace() -> Any:
    return Relations(
        process=[process(0, 0, 9), process(1, 0, 9)],
        breakdown=[
            corrected(0, 30),
            corrected(1, 50),
            {**corrected(1, 500), "layer": "none", "gpu_busy": True},
        ],
        overhead=[
            cost(0, "operation", 3, 20),
            cost(1, "operation", 2, 40),
            cost(1, "CUDA call", 6, 1000),
            cost(1, "CUDA submission", 5, 1000),
            cost(1, "ring wait", 1, 7),
            cost(1, "clamped", 1, 900),
        ],
        calibration=[
            {"kind": "operation", "mean_ns": 10.0, "inside": 0.5, "samples": 9, "method": "probes"},
            {"kind": "ring wait", "mean_ns": 7.0, "samples": 9, "method": "a clock"},
            {"kind": "CUDA call", "mean_ns": 7.0, "samples": 0, "method": "nothing"},
        ],
        operation=[{"operation_id": 5, "path": "train", "source": "explicit"}],
        operation_instance=[{"process_id": which, "operation_id": 5} for which in (0, 0, 1)],
    )


@pytest.mark.parametrize(
    ("os_pids", "ns", "calls"),
    [(None, 60, 11), ([FIRST, SECOND], 60, 11), ([FIRST], 20, 0), ([SECOND], 40, 11)],
)
def test_records_of_the_chosen_processes_are_added_up(
    trace: Any, os_pids: list[int] | None, ns: int, calls: int
) -> None:
    (row,) = overhead.said_overhead(trace, os_pids).to_dicts()
    assert (row["ns"], row["unknown"], row["calls"]) == (ns, None, calls)
    assert row["submissions"] == (5 if calls else 0)


def test_kinds_without_a_cost_are_named() -> None:
    trace: Any = Relations(process=[process(0, 0, 9)], overhead=[cost(0, "wait", 3, None)])
    (row,) = overhead.said_overhead(trace, None).to_dicts()
    assert (row["ns"], row["unknown"]) == (None, "wait")


@pytest.mark.parametrize(("how", "unknown"), [("cupti", None), ("interpose", "CUDA call")])
def test_iterations_show_what_cupti_costs_and_nothing_shows_it_of_other_calls(
    how: str, unknown: str | None
) -> None:
    trace: Any = Relations(
        run=[{"options": json.dumps({"cuda": how})}],
        process=[process(0, 0, 9)],
        overhead=[cost(0, "operation", 3, 20), cost(0, "CUDA call", 3, None)],
    )
    (row,) = overhead.said_overhead(trace, None).to_dicts()
    assert (row["ns"], row["unknown"], row["calls"]) == (20, unknown, 3)


def test_one_record_costs_what_the_calibration_says(trace: Any) -> None:
    assert list(overhead.record_costs(trace)) == [("operation", 10.0, 0.5)]


def test_cpu_time_is_taken_out_without_waits_for_a_ring(trace: Any) -> None:
    """Beside the GPU's work alone no time of the process is."""
    (row,) = overhead.removed(trace, None).to_dicts()
    assert row == {"mean": 80 - 7, "low": 0 - 7, "high": 160 - 7, "method": "probes"}
    (row,) = overhead.removed(trace, [FIRST]).to_dicts()
    assert (row["mean"], row["low"], row["high"]) == (30, 0, 60)


def test_of_an_operation_the_time_of_one_entry_is_told(trace: Any) -> None:
    assert list(overhead.removed_by_operation(trace, [FIRST])) == [("train", 15, 0, 30)]
    assert list(overhead.removed_by_operation(trace, [])) == []
