"""CUDA calls and GPU work: the C++ pass, the brute-force twin and the SQL twin agree row by row."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given

from ground_truth import cuda, sql_twin
from ground_truth.compare import first_difference
from ground_truth.cuda_strategies import LAST_END, cuda_processes
from ground_truth.mutants import Inputs
from ground_truth.profiles import PROFILE, numbered, share
from ground_truth.raw import RawProcess
from ground_truth.relations import CUDA_RELATIONS, Rows
from ground_truth.rules import CudaRules, mutations
from ground_truth.swept import sweep, sweep_cuda

NOTICING = (41, 30, 23, 73, 9, 44, 12, 36, 53)
TRACES: Inputs[RawProcess, Rows] = Inputs(
    numbered(cuda_processes()), sweep_cuda, NOTICING, most=800
)
AGREEING = 150  # how many traces the right rules are compared on


@PROFILE
@given(cuda_processes())
def test_cuda_pass_equals_brute_force(process: RawProcess) -> None:
    found = sweep_cuda(process)
    difference = first_difference(found, cuda.relations(process), CUDA_RELATIONS)
    assert difference is None, f"C++ - / + brute force: {difference}"
    busy_ns = sum(row.duration_ns for row in sweep(process)["breakdown"] if row.gpu_busy)
    check_stacks(found, busy_ns)
    check_iterations(found, busy_ns)


def check_stacks(found: Rows, busy_ns: int) -> None:
    """GPU times of stacks add up to the busy time of all devices; and their calls to all calls."""
    if rows := found["call_site"]:
        assert sum(row.gpu_ns for row in rows) == busy_ns
        assert sum(row.calls for row in rows) == sum(row.calls for row in found["api_call"])


def check_iterations(found: Rows, busy_ns: int) -> None:
    """Work of iterations is a part of all work: no piece counts in two of them."""
    launched = sum(row.count for name in ("kernel", "graph") for row in found[name])
    assert sum(row.kernels for row in found["iteration_work"]) <= launched
    assert sum(row.busy_ns for row in found["iteration_work"]) <= busy_ns


# Processes that outlive their calls: none may start at the very end, where SQL has no segment.
@share(0.25)
@given(cuda_processes(shortest=LAST_END + 1))
def test_sql_equals_brute_force(process: RawProcess) -> None:
    found = sql_twin.cuda_tables(process)
    difference = first_difference(found, cuda.relations(process), CUDA_RELATIONS)
    assert difference is None, f"SQL - / + brute force: {difference}"


@share(0.3)
@given(cuda_processes())
def test_gpu_times_add_up_to_the_busy_time_of_the_breakdown(process: RawProcess) -> None:
    """On one device: a process's GPU is busy while any of its devices is."""
    works = [work._replace(device=0) for work in process.gpu]
    process = replace(process, gpu=works)
    rows = sweep_cuda(process)["gpu_time"]
    busy = [row for row in sweep(process)["breakdown"] if row.gpu_busy]
    for operation in {row.operation for row in (*rows, *busy)}:
        expected = sum(row.duration_ns for row in busy if row.operation == operation)
        assert sum(row.while_ns for row in rows if row.operation == operation) == expected


@pytest.mark.parametrize(("rule", "wrong"), mutations(CudaRules), ids=str)
def test_a_broken_rule_is_noticed(rule: str, wrong: str) -> None:
    broken = CudaRules(**{rule: wrong})  # type: ignore[arg-type]
    assert TRACES.notice(lambda process, rows: cuda.relations(process, broken) == rows)


def test_the_right_rules_agree_on_the_same_traces() -> None:
    for process, rows in TRACES.pairs(AGREEING):
        assert cuda.relations(process) == rows
