"""The C++ sweep, the brute-force twin and the SQL twin agree row by row, on every trace."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from ground_truth import brute, sql_twin
from ground_truth.compare import first_difference
from ground_truth.profiles import PROFILE, share
from ground_truth.raw import RawProcess, RawThread, enter, leave
from ground_truth.relations import OTHER, RELATIONS, Rows
from ground_truth.strategies import looping_processes, processes
from ground_truth.swept import read, sweep
from ground_truth.written import write
from rlscope import _trace


@PROFILE
@given(processes() | looping_processes())
def test_sweep_equals_brute_force(process: RawProcess) -> None:
    rows = sweep(process)
    difference = first_difference(rows, brute.tables(process), RELATIONS)
    assert difference is None, f"sweep - / + brute force: {difference}"
    check_sums(rows)


def check_sums(rows: Rows) -> None:
    """Durations add up to the lives of the process and its threads, exactly."""
    windows = rows["recording_window"]
    whole = max((w.start_ns + w.duration_ns for w in windows), default=0) - min(
        (w.start_ns for w in windows), default=0
    )
    assert sum(row.duration_ns for row in rows["breakdown"]) == whole
    assert sum(row.duration_ns for row in rows["iteration_breakdown"]) == whole
    for level in range(brute.LEVELS):
        buckets = [row for row in rows["timeline"] if row.level == level]
        assert sum(row.duration_ns for row in buckets) == whole
    for thread in rows["thread"]:
        own = [row for row in rows["breakdown_by_thread"] if row.thread == thread.thread]
        assert sum(row.duration_ns for row in own) == thread.end_ns - thread.start_ns


@share(0.1)
@given(processes(), processes())
def test_processes_of_one_directory_do_not_mix(parent: RawProcess, child: RawProcess) -> None:
    written = [replace(parent, os_pid=4242), replace(child, os_pid=4243, forked=True)]
    with tempfile.TemporaryDirectory(prefix="rlscope-") as folder:
        directory = Path(folder) / "trace"
        write(written, directory)
        images = _trace.Directory(str(directory)).processes
        for process in written:
            (index,) = [i["index"] for i in images if i["os_pid"] == process.os_pid]
            rows = read(directory, index, most_paths=process.most_paths)
            difference = first_difference(rows, brute.tables(process), RELATIONS)
            assert difference is None, f"sweep - / + brute force: {difference}"


@share(0.3)
@given(processes(), st.integers(0, 3), st.sampled_from((0, 1, 5, 200)), st.integers(1, 9))
def test_timelines_on_a_shared_grid_equal_brute_force(
    process: RawProcess, before_ns: int, after_ns: int, buckets: int
) -> None:
    life = sweep(process)["recording_window"]
    start = min((window.start_ns for window in life), default=0) - before_ns
    end = max((w.start_ns + w.duration_ns for w in life), default=0) + after_ns
    grid = (start, end) if start < end else None
    found = sweep(process, buckets=buckets, grid=grid)
    twin = brute.tables(process, buckets=buckets, grid=grid)
    difference = first_difference(found, twin, ["timeline"])
    assert difference is None, f"sweep - / + brute force: {difference}"


# The SQL script takes about 130 ms a trace, most of it planning. It tells whether the brute-force
# twin is right, which the core is compared with on many more.
@share(0.12)
@given(processes() | looping_processes())
def test_sql_equals_brute_force(process: RawProcess) -> None:
    found = sql_twin.tables(process)
    difference = first_difference(found, brute.tables(process), found)
    assert difference is None, f"SQL - / + brute force: {difference}"


# The brute-force twin takes minutes for operations so deep.
def test_a_path_has_at_most_512_names() -> None:
    names = [("select", "expand")[depth % 2] for depth in range(515)]
    entered = [enter(0, name) for name in names]
    left = [leave(10, name) for name in reversed(names)]
    later = [enter(20, "update"), leave(30, "update")]
    thread = RawThread(items=[*entered, *left, *later])
    process = RawProcess(end_ns=40, threads=[thread], most_paths=513)
    rows = sweep(process)["operation"]
    assert max(len(row.path.split("/")) for row in rows) == 512
    assert {row.path: row.instances for row in rows}[OTHER] == 515 - 512
    assert "update" in [row.path for row in rows]
    twin = sql_twin.tables(process)
    assert first_difference(sweep(process), twin, twin) is None
