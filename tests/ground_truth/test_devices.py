"""How long any of several processes kept a GPU busy: the C++ core and its twins agree."""

from __future__ import annotations

import tempfile
from dataclasses import fields, replace
from pathlib import Path
from typing import get_args, get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ground_truth import device_union
from ground_truth.cuda_strategies import cuda_processes
from ground_truth.device_union import RIGHT, Buckets, UnionRules
from ground_truth.mutants import Inputs
from ground_truth.profiles import numbered, share
from ground_truth.raw import RawProcess
from ground_truth.streams import Span
from ground_truth.written import ORIGIN_NS, write
from rlscope import _trace
from rlscope.opening import load

GRID = (0, 70)
BUCKETS = 5
BUCKET_NS = 16  # the smallest power of two with which 5 buckets reach to 70
DEVICES = (0, 1)

several = st.lists(cuda_processes(), min_size=1, max_size=3)

# Ascending, some of them empty; those that meet are two.
spans = st.lists(st.integers(0, 70), max_size=8).map(
    lambda edges: list(zip(sorted(edges)[::2], sorted(edges)[1::2], strict=False))
)
Found = tuple[list[Buckets], list[int]]
"""By bucket and within the spans, by device."""


def write_all(processes: list[RawProcess], root: Path) -> list[int]:
    """Writes them as one run; returns their indexes."""
    write([replace(each, os_pid=4242 + i) for i, each in enumerate(processes)], root)
    images = _trace.Directory(str(root)).processes
    pids = {image["os_pid"]: image["index"] for image in images}
    return [pids[4242 + i] for i in range(len(processes))]


def found(processes: list[RawProcess], measured: list[Span]) -> Found:
    """What the core says."""
    with tempfile.TemporaryDirectory(prefix="rlscope-") as folder:
        root = Path(folder) / "trace"
        indexes = write_all(processes, root)
        directory = _trace.Directory(str(root))
        grid = (GRID[0] + ORIGIN_NS, GRID[1] + ORIGIN_NS)
        within = [(start + ORIGIN_NS, end + ORIGIN_NS) for start, end in measured]
        uses = [[(index, device) for index in indexes] for device in DEVICES]
        return (
            [_buckets(directory, each, grid) for each in uses],
            [directory.device_busy_ns(each, spans=within) for each in uses],
        )


def _buckets(
    directory: _trace.Directory, uses: list[tuple[int, int]], grid: tuple[int, int]
) -> Buckets:
    columns = directory.device_times(uses, grid=grid, buckets=BUCKETS)
    assert set(columns["bucket_ns"]) <= {BUCKET_NS}
    starts = [int(start) - ORIGIN_NS for start in columns["start_ns"]]
    return dict(zip(starts, map(int, columns["busy_ns"]), strict=True))


def twin(processes: list[RawProcess], measured: list[Span], rules: UnionRules = RIGHT) -> Found:
    busy = [device_union.counted(processes, device, rules) for device in DEVICES]
    return (
        [device_union.by_bucket(times, GRID[0], BUCKET_NS) for times in busy],
        [device_union.within(times, measured, rules) for times in busy],
    )


@share(0.5)
@given(several, spans)
def test_busy_time_of_several_processes_equals_brute_force(
    processes: list[RawProcess], measured: list[Span]
) -> None:
    assert found(processes, measured) == twin(processes, measured)


@share(0.1)
@given(several, spans)
def test_sql_equals_brute_force(processes: list[RawProcess], measured: list[Span]) -> None:
    grid = (GRID[0], BUCKET_NS, BUCKETS)
    sql = [device_union.in_sql(processes, device, grid=grid, spans=measured) for device in DEVICES]
    assert ([buckets for buckets, _ in sql], [ns for _, ns in sql]) == twin(processes, measured)


NOTICING = (1,)
Given = tuple[list[RawProcess], list[Span]]
RUNS: Inputs[Given, Found] = Inputs(
    numbered(st.tuples(several, spans)), lambda given: found(*given), NOTICING, most=200
)


def broken_rules() -> list[tuple[str, str]]:
    hints = get_type_hints(UnionRules)
    return [
        (field.name, value)
        for field in fields(UnionRules)
        for value in get_args(hints[field.name])
        if value != field.default
    ]


@pytest.mark.parametrize(("rule", "wrong"), broken_rules(), ids=str)
def test_a_broken_rule_is_noticed(rule: str, wrong: str) -> None:
    broken = UnionRules(**{rule: wrong})  # type: ignore[arg-type]
    assert RUNS.notice(lambda given, right: twin(*given, broken) == right)


@share(0.1)
@given(several)
def test_relations_tell_the_union_beside_what_each_process_did(
    processes: list[RawProcess],
) -> None:
    with tempfile.TemporaryDirectory(prefix="rlscope-") as folder:
        write_all(processes, Path(folder) / "trace")
        with load(Path(folder) / "trace") as trace:
            devices = trace.sql("SELECT gpu, busy_ns, processes_ns, processes FROM gpu_device")
            sums = trace.sql("SELECT gpu, sum(busy_ns) FROM gpu_timeline GROUP BY gpu").to_dicts()
    for row in devices.to_dicts():
        own = [device_union.counted([each], int(row["gpu"])) for each in processes]
        assert row["busy_ns"] == len(device_union.counted(processes, int(row["gpu"])))
        assert row["processes_ns"] == sum(map(len, own))
        assert row["processes"] == sum(map(bool, own))
    assert {row["gpu"]: row["sum(busy_ns)"] for row in sums} == {
        row["gpu"]: row["busy_ns"] for row in devices.to_dicts() if row["busy_ns"]
    }
