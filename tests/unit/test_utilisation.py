"""Polled shares beside the truth: steps, windows, names of GPUs, and rows of a trace."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.files.tiny_traces import write_trace

from rlscope import _trace
from rlscope.opening import load
from rlscope.relations.rows.devices import Use
from rlscope.relations.rows.machine_samples import Gpu, MachineSamples
from rlscope.relations.rows.poll_steps import Span, Steps, merged
from rlscope.relations.rows.utilisation import Utilisation, number_of

times = st.integers(0, 60)
readings = st.dictionaries(times, st.integers(0, 100), max_size=8)
windows = st.lists(st.tuples(times, times), max_size=4).map(merged)


def counted(moments: set[int], read: dict[int, int], within: list[Span]) -> list[tuple[Span, int]]:
    """Steps that count with their readings, found moment by moment and nanosecond by nanosecond."""
    found = []
    for end_ns, percent in sorted(read.items()):
        earlier = [moment for moment in moments if moment < end_ns]
        if end_ns not in moments or not earlier:
            continue
        step = (max(earlier), end_ns)
        if any(all(start <= ns < end for ns in range(*step)) for start, end in within):
            found.append((step, percent))
    return found


@given(st.sets(times, max_size=8), readings, windows)
def test_steps_and_their_mean_equal_brute_force(
    moments: set[int], read: dict[int, int], within: list[Span]
) -> None:
    measured = Steps(list(moments)).measured(list(read), list(read.values()), within)
    right = counted(moments, read, within)
    found = zip(measured.starts_ns.tolist(), measured.ends_ns.tolist(), strict=True)
    assert list(zip(found, measured.percents.tolist(), strict=True)) == right
    if right:
        every = [percent for (start, end), percent in right for _ in range(start, end)]
        columns = measured.columns()
        assert columns["duration_ns"] == len(every)
        assert columns["polled_percent"] == pytest.approx(sum(every) / len(every))
        assert measured.used_ns() == pytest.approx(sum(every) / 100, abs=0.5)


@given(st.sets(times, min_size=2, max_size=8), windows, st.integers(1, 16))
def test_buckets_that_steps_cover_in_part_count_in_proportion(
    moments: set[int], within: list[Span], bucket_ns: int
) -> None:
    measured = Steps(list(moments)).measured(list(moments), [0] * len(moments), within)
    if not measured:
        return
    starts = np.arange(0, 60, bucket_ns)
    inside = {ns for span in measured.spans() for ns in range(*span)}
    right = [len(inside & set(range(start, start + bucket_ns))) / bucket_ns for start in starts]
    assert measured.covered(starts, np.full(len(starts), bucket_ns)).tolist() == pytest.approx(
        right
    )


H200, H100 = Gpu("GPU-aa11", "H200"), Gpu("GPU-aa22", "H100")


@pytest.mark.parametrize(
    ("gpu", "by_bus", "gpus", "number"),
    [
        ("1", False, {0: H200, 1: Gpu("GPU-b", "H200")}, 1),  # of one model
        ("1", False, {0: H200, 1: H100}, None),  # the fastest may be first
        ("1", True, {0: H200, 1: H100}, 1),
        ("0", False, {0: Gpu()}, 0),  # the only one
        ("1", False, {0: Gpu(), 1: Gpu()}, None),  # models unknown
        ("3", True, {0: H200, 1: H100}, None),  # hidden from NVML
        ("GPU-aa22", False, {0: H200, 1: H100}, 1),
        ("GPU-aa2", False, {0: H200, 1: H100}, 1),
        ("GPU-aa", False, {0: H200, 1: H100}, None),  # begins both
        ("MIG-77", True, {0: H200}, None),
        ("9" * 5000, True, {0: H200}, None),
        ("", True, {0: H200}, None),
    ],
)
def test_which_gpu_of_nvml_a_device_is(
    gpu: str, by_bus: bool, gpus: dict[int, Gpu], number: int | None
) -> None:
    assert number_of(Use(0, 0, gpu, by_bus), gpus) == number


def _reading(time_ns: int, metric: str, value: Any, pid: int | None = None) -> dict[str, Any]:
    return {"time_ns": time_ns, "pid": pid, "metric": metric, "value": value}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write_trace("workers", tmp_path / "run")


def _rows(root: Path, samples: list[dict[str, Any]]) -> list[dict[str, Any]]:
    (root / "machine.jsonl").write_text("\n".join(map(json.dumps, samples)) + "\n")
    with load(root) as trace:
        return trace.table("utilisation").to_dicts()


def test_rows_of_machine_core_gpu_and_process(root: Path) -> None:
    with load(root) as trace:
        (process,) = trace.sql(
            "SELECT process_id, os_pid, start_ns, end_ns FROM process"
            " ORDER BY end_ns - start_ns DESC LIMIT 1"
        ).to_dicts()
    first, pid = process["start_ns"], process["os_pid"]
    length = process["end_ns"] - first
    moments = [first + part for part in (0, length // 4, length // 2)]
    samples = [
        each
        for moment, percent in zip(moments, (99, 10, 40), strict=True)
        for each in (
            _reading(moment, "cpu_percent", percent),
            _reading(moment, "core_percent", [percent, 0]),
            _reading(moment, "cpu_percent", 2 * percent, pid),
            _reading(moment, "gpu0_percent", percent),
            _reading(moment, "gpu00_percent", 1),  # no GPU's name
        )
    ]
    rows = _rows(root, samples)
    steps = [length // 4, length // 2 - length // 4]
    mean = (10 * steps[0] + 40 * steps[1]) / sum(steps)
    names = [(row["kind"], row["gpu"], row["core"], row["process_id"]) for row in rows]
    assert names == [
        ("gpu", 0, None, None),
        ("machine", None, None, None),
        ("core", None, 0, None),
        ("core", None, 1, None),
        ("process", None, None, process["process_id"]),
    ]
    expected = [mean, mean, mean, 0, 2 * mean]
    assert [row["polled_percent"] for row in rows] == pytest.approx(expected)
    assert {(row["start_ns"], row["end_ns"]) for row in rows} == {(moments[0], moments[2])}
    assert {(row["duration_ns"], row["readings"]) for row in rows} == {(sum(steps), 2)}
    gpu, machine, *_, own = rows
    assert gpu["busy_ns"] == 0  # the run has no GPU work
    assert machine["cpu_ns"] == own["cpu_ns"] == pytest.approx(2 * mean / 100 * sum(steps), abs=1)
    assert own["busy_ns"] + own["cuda_api_ns"] + own["waiting_ns"] <= sum(steps) + 2


def test_readings_of_another_time_or_value_count_nowhere(root: Path) -> None:
    with load(root) as trace:
        ((first, last),) = trace.sql("SELECT start_ns, end_ns FROM run")
    middle = (first + last) // 2
    samples = [
        _reading(first, "cpu_percent", 5),
        _reading(middle, "cpu_percent", 7),
        _reading(middle + 1, "gpu0_percent", 50),  # no moment
        _reading(middle, "gpu1_percent", float("nan")),
        _reading(middle, "gpu2_percent", -3),
        _reading(middle, "gpu3_percent", 1e300),
        _reading(middle, "core_percent", [[1, 2], [3, 4]]),
        _reading(last + 1000, "cpu_percent", 9),  # after the last window
    ]
    (machine,) = _rows(root, samples)
    assert (machine["kind"], machine["polled_percent"], machine["readings"]) == ("machine", 7, 1)


def test_without_two_moments_it_is_said_why_there_is_no_row(root: Path) -> None:
    with load(root) as trace:
        ((first,),) = trace.sql("SELECT start_ns FROM run")
    assert _rows(root, [_reading(first, "cpu_percent", 5)]) == []
    with load(root) as trace:
        reasons = trace.sql("SELECT reason FROM absent WHERE relation = 'utilisation'")["reason"]
    assert reasons == ("the machine was not read twice while a process recorded",)


def test_cpu_time_beyond_the_largest_number_is_cut_to_it() -> None:
    cells = [(0, of, at, "cpu_percent", 800_000.0) for at in (0, 1 << 61) for of in (None, 0, 1)]
    names = ("host_id", "process_id", "start_ns", "metric", "value")
    columns = dict(zip(names, map(list, zip(*cells, strict=True)), strict=True))
    utilisation = Utilisation(MachineSamples(columns))
    empty = {name: np.array([]) for name in ("level", "start_ns", "bucket_ns", "duration_ns")}
    window = {"start_ns": [0], "duration_ns": [1 << 62]}
    for process_id in (0, 1):
        utilisation.add(process_id, windows=window, timeline=empty, work_is_known=True)
    machine, *processes = utilisation.rows(cast("_trace.Directory", None), [])
    assert {row["cpu_ns"] for row in (machine, *processes)} == {(1 << 63) - 1}
