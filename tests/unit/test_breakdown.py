"""rlscope.analysis.breakdown and transitions: sums along the dimensions that the caller names."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import pytest
from support.files.tiny_traces import load_checked, write_trace

import rlscope as rls


@pytest.fixture(scope="module")
def trace(tmp_path_factory):
    with load_checked(write_trace("workers", tmp_path_factory.mktemp("trace") / "run")) as trace:
        yield trace


def test_by_layer(trace):
    table = rls.analysis.breakdown(trace, by=["layer"])
    assert list(table.select("layer", "duration_ns")) == [
        ("python", 13_500),
        ("none", 2_000),
        ("framework", 500),
    ]
    assert table.descriptions["layer"]


def test_by_stage(trace):
    table = rls.analysis.breakdown(trace, by=["role", "stage"])
    sums = {(row["role"], row["stage"]): row["duration_ns"] for row in table.to_dicts()}
    assert sum(sums.values()) == 16_000
    assert {stage for _, stage in sums} == {"start-up", "loop", "end", "whole"}


def test_everything_adds_up_to_the_wall_time_of_each_process(trace):
    table = rls.analysis.breakdown(trace)
    sums = {}
    for row in table.to_dicts():
        sums[row["process_id"]] = sums.get(row["process_id"], 0) + row["duration_ns"]
    assert sums == {0: 10_000, 1: 5_000, 2: 1_000}
    assert list(table["process_id"]) == sorted(table["process_id"])
    assert "count" in table.names


def test_counts_of_stretches_are_not_added_up(trace):
    assert "count" not in rls.analysis.breakdown(trace, by=["process", "operation"]).names


def test_no_dimension_is_one_row(trace):
    assert rls.analysis.breakdown(trace, by=[])["duration_ns"] == (16_000,)


def test_by_thread_uses_each_threads_own_operations(trace):
    table = rls.analysis.breakdown(trace, by=["thread", "operation"])
    rows = set(table.select("thread_id", "operation", "duration_ns"))
    assert {(1, "update", 3_500), (2, "write", 1_000)} <= rows


def test_states(tmp_path):
    with load_checked(write_trace("gpu", tmp_path / "run")) as trace:
        table = rls.analysis.breakdown(trace, by=["state"])
        assert list(table.select("state", "duration_ns")) == [("cpu", 4_000), ("cpu+gpu", 4_000)]


def test_processes_of_one_name_add_up(trace):
    table = rls.analysis.breakdown(trace, by=["name"])
    assert sum(table["duration_ns"]) == 16_000
    assert set(table["name"]) == set(trace.processes["name"])


def test_processes_of_one_role_add_up(trace):
    table = rls.analysis.breakdown(trace, by=["role"])
    assert set(table.select("role", "duration_ns")) == {
        ("main", 10_000), ("program", 5_000), ("helper", 1_000),
    }  # fmt: skip


def test_uncorrected_times_are_null_and_not_zero(trace):
    assert set(rls.analysis.breakdown(trace)["corrected_ns"]) == {None}


def test_an_unknown_dimension_lists_the_known_ones(trace):
    with pytest.raises(
        ValueError, match="no dimension 'step'; there are: process, name, role, thread"
    ):
        rls.analysis.breakdown(trace, by=["step"])


def test_transitions_are_added_up_over_processes(trace):
    table = rls.analysis.transitions(trace)
    assert table.to_dicts() == [
        {
            "operation": "update/backprop",
            "from_layer": "python",
            "to_layer": "framework",
            "count": 1,
            "per_iteration": 1.0,
        }
    ]


def test_functions_stay_functions_whatever_is_imported_first():
    code = (
        "from rlscope.analysis.overlap import overlap as a\n"
        "from rlscope.analysis.breakdown import breakdown as b\n"
        "import rlscope\n"
        "assert rlscope.analysis.overlap is a and rlscope.analysis.breakdown is b"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("package", ["analysis", "workloads"])
def test_top_level_import_is_refused(package, monkeypatch):
    monkeypatch.syspath_prepend(Path(__file__).parents[2])
    with pytest.raises(ImportError, match=f"import this package as rlscope.{package}"):
        importlib.import_module(package)
