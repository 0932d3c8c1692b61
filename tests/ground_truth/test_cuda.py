"""CUDA calls and GPU work: the C++ pass, the brute-force twin and the SQL twin agree row by row."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ground_truth import cuda, sql_twin
from ground_truth.compare import first_difference
from ground_truth.cuda_process import find_calls
from ground_truth.cuda_strategies import LAST_END, cuda_processes
from ground_truth.idle import Stretch, idle_times
from ground_truth.mutants import Inputs
from ground_truth.profiles import PROFILE, numbered, share
from ground_truth.raw import RawProcess
from ground_truth.relations import CUDA_RELATIONS, Rows
from ground_truth.rules import CudaRules, mutations
from ground_truth.swept import sweep, sweep_cuda, sweep_idle

NOTICING = (41, 30, 23, 73, 9, 44, 12, 36, 53)
TRACES: Inputs[RawProcess, Rows] = Inputs(
    numbered(cuda_processes()), sweep_cuda, NOTICING, most=800
)
AGREEING = 50  # how many traces the right rules are compared on


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
@share(0.1)
@given(cuda_processes(shortest=LAST_END + 1))
def test_sql_equals_brute_force(process: RawProcess) -> None:
    found = sql_twin.cuda_tables(process)
    difference = first_difference(found, cuda.relations(process), CUDA_RELATIONS)
    assert difference is None, f"SQL - / + brute force: {difference}"


@st.composite
def stretches(draw: st.DrawFn) -> list[Stretch]:
    """Apart from each other, in order; the first may begin before the process."""
    cuts = sorted(draw(st.sets(st.integers(-5, LAST_END + 5), max_size=6)))
    return [
        (start, end, draw(st.booleans())) for start, end in zip(cuts[::2], cuts[1::2], strict=False)
    ]


@share(0.5)
@given(cuda_processes(), stretches())
def test_the_state_of_the_gpu_is_known_where_its_work_was_recorded(
    process: RawProcess, seen: list[Stretch]
) -> None:
    expected = idle_times(find_calls(process, CudaRules()), seen)
    assert sorted(sweep_idle(process, seen), key=repr) == sorted(expected, key=repr)


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
