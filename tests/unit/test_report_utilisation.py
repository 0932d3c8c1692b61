"""Sentences about polled utilisation, of a trace with rows of every kind."""

from __future__ import annotations

from typing import Any

import pytest
from support.files.facts import assert_says
from support.files.relation_rows import Relations, process

from rlscope.analysis import machine
from rlscope.report import utilisation
from rlscope.report.renderers.terminal import render_summary

SECOND = 1_000_000_000


def _row(kind: str, percent: float, **cells: Any) -> dict[str, Any]:
    measured = {"start_ns": 0, "end_ns": 10 * SECOND, "duration_ns": 10 * SECOND, "readings": 10}
    return {"host_id": 0, "kind": kind, "polled_percent": percent, **measured, **cells}


def _trace(*rows: dict[str, Any]) -> Relations:
    names = [process(i, 0, 10 * SECOND, name=f"p{i}") | {"os_pid": 70 + i} for i in range(3)]
    names = [row | {"events": 5 * (row["process_id"] < 2)} for row in names]
    return Relations(utilisation=list(rows), process=names)


def _rows(*rows: dict[str, Any], processes: int = 3) -> list[dict[str, Any]]:
    return machine.utilisation(_trace(*rows), processes=processes).to_dicts()


@pytest.mark.parametrize(
    ("percent", "busy_ns", "polled", "busy"),
    [
        (100.0, SECOND // 32, "is 100 % busy", "0.3 % of that time"),
        (0.2, 0, "is < 1 % busy", "0.0 % of that time"),
        (99.6, None, "is 100 % busy", "not known"),
    ],
)
def test_a_gpu_is_polled_and_truly_busy(
    percent: float, busy_ns: int | None, polled: str, busy: str
) -> None:
    """A GPU that is not used has no sentence."""
    rows = _rows(_row("gpu", 0.0, gpu=0, busy_ns=0), _row("gpu", percent, gpu=1, busy_ns=busy_ns))
    (said,) = utilisation.gpus(rows)
    assert_says(said, "nvidia-smi", "GPU 1", polled, busy)


def test_a_gpu_that_pollers_miss_is_told() -> None:
    rows = _rows(_row("gpu", 0.0, gpu=0, busy_ns=SECOND))
    assert "GPU 0 is 0 % busy" in utilisation.gpus(rows)[0]
    assert "10.0 % of that time" in utilisation.gpus(rows)[0]


def test_the_busiest_core_is_set_beside_all() -> None:
    cores = [_row("core", percent, core=i) for i, percent in enumerate((3.0, 98.7, 5.0))]
    rows = _rows(_row("machine", 35.6, cpu_ns=0), *cores)
    (said,) = utilisation.cores(rows)
    assert_says(said, "busiest of 3 cores", "99 %", "all of them together 36 %")
    assert utilisation.cores(_rows(_row("machine", 35.6), cores[0])) == []


def test_processes_with_most_cpu_time_are_told_if_they_recorded_something() -> None:
    times = {"busy_ns": 4 * SECOND, "cuda_api_ns": 5 * SECOND, "waiting_ns": SECOND}
    rows = [
        _row("process", 20.0, process_id=0, cpu_ns=2 * SECOND, **times | {"cuda_api_ns": 0}),
        _row("process", 101.0, process_id=1, cpu_ns=10 * SECOND, **times),
        _row("process", 300.0, process_id=2, cpu_ns=30 * SECOND, **times),  # recorded nothing
    ]
    first, second = utilisation.processes(_rows(*rows))
    assert_says(
        first,
        *("p1 (pid 71)", "101 % of a core", "Python, simulator or framework", "40.0 %"),
        *("CUDA", "50.0 %", "wait", "10.0 %"),
    )
    assert_says(second, "p0 (pid 70)", "20 % of a core", "40.0 %", "10.0 %")
    assert "CUDA" not in second
    assert utilisation.processes(_rows(*rows, processes=1)) == [first]


def test_the_summary_names_gpus_only() -> None:
    rows = [
        _row("gpu", 97.0, gpu=0, busy_ns=SECOND),
        _row("process", 20.0, process_id=0, cpu_ns=SECOND, busy_ns=1, cuda_api_ns=0, waiting_ns=0),
    ]
    text = render_summary(_trace(*rows), width=200)
    assert "GPU 0 is 97 % busy" in text
    assert "a core" not in text
    assert "nvidia-smi" not in render_summary(_trace(rows[1]), width=200)
