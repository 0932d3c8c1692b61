"""Sums over the relation `event` are the rows of every other relation, on every trace."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import given

from ground_truth import brute, cuda
from ground_truth.cuda_strategies import cuda_processes
from ground_truth.events import Event, operation_of, read_events, summed
from ground_truth.profiles import share
from ground_truth.raw import RawProcess
from ground_truth.relations import Rows, Wait
from ground_truth.strategies import processes
from ground_truth.written import write

HOW_MANY = share(0.5)


def events_of(process: RawProcess) -> list[Event]:
    with tempfile.TemporaryDirectory(prefix="rlscope-") as folder:
        directory = Path(folder) / "trace"
        write([process], directory)
        return read_events(directory, process.most_paths)


@HOW_MANY
@given(processes())
def test_events_of_a_process_add_up(process: RawProcess) -> None:
    events, rows = events_of(process), brute.tables(process)
    calls_add_up_to_native_call(events, rows)
    waits_add_up_to_wait(events, rows)
    operations_are_operation_instance(events, rows)
    iterations_are_those_in_which_events_begin(events, rows)


def calls_add_up_to_native_call(events: list[Event], rows: Rows) -> None:
    found = summed(events, "call", lambda event: (event.name, event.layer, event.operation))
    assert found == {
        (row.function, row.layer, operation_of(row.operation)): (row.calls, row.duration_ns, 0)
        for row in rows["native_call"]
    }


def waits_add_up_to_wait(events: list[Event], rows: Rows) -> None:
    found = summed(events, "wait", lambda event: (event.thread, event.name, event.operation))
    sums: dict[tuple[object, ...], tuple[int, int, int]] = {}
    for row in rows["wait"]:  # of several stages
        if isinstance(row, Wait):
            key = (row.thread, row.wait, operation_of(row.operation))
            count, duration, size = sums.get(key, (0, 0, 0))
            sums[key] = (count + row.count, duration + row.duration_ns, size)
    assert found == sums


def operations_are_operation_instance(events: list[Event], rows: Rows) -> None:
    found = sorted(
        (event.thread, event.operation, event.iteration, event.start_ns, event.duration_ns)
        for event in events
        if event.kind == "operation"
    )
    assert found == [row[:5] for row in rows["operation_instance"]]


def iterations_are_those_in_which_events_begin(events: list[Event], rows: Rows) -> None:
    iterations = [
        (row.start_ns, row.start_ns + row.duration_ns, row.iteration) for row in rows["iteration"]
    ]
    for event in events:
        within = [number for start, end, number in iterations if start <= event.start_ns < end]
        if event.start_ns not in {end for _, end, _ in iterations}:  # at an edge: which is a rule
            assert event.iteration == (within[-1] if within else -1), event


@HOW_MANY
@given(cuda_processes())
def test_events_of_cuda_add_up(process: RawProcess) -> None:
    events, rows = events_of(process), cuda.relations(process)
    cuda_calls_add_up_to_api_call(events, rows)
    gpu_work_adds_up_to_its_relations(events, rows)


def cuda_calls_add_up_to_api_call(events: list[Event], rows: Rows) -> None:
    found = summed(events, "cuda_call", lambda event: (event.name, event.operation))
    assert found == {
        (row.name, operation_of(row.operation)): (row.calls, row.duration_ns, 0)
        for row in rows["api_call"]
    }


def gpu_work_adds_up_to_its_relations(events: list[Event], rows: Rows) -> None:
    for kind in ("kernel", "graph", "memcpy", "memset"):
        found = summed(events, kind, lambda event: (event.device, event.stream, event.operation))
        assert found == of_relation(rows, kind), kind
    found = summed(events, "sync", lambda event: (event.operation,))
    wanted: dict[tuple[object, ...], tuple[int, int, int]] = {}
    for row in rows["sync"]:
        key = (operation_of(row.operation),)
        count, duration, _ = wanted.get(key, (0, 0, 0))
        wanted[key] = (count + row.count, duration + row.duration_ns, 0)
    assert found == wanted


def of_relation(expected: Rows, kind: str) -> dict[tuple[object, ...], tuple[int, int, int]]:
    sums: dict[tuple[object, ...], tuple[int, int, int]] = {}
    for row in expected[kind]:
        key = (row.device, row.stream, operation_of(row.operation))
        count, duration, size = sums.get(key, (0, 0, 0))
        size += getattr(row, "bytes", 0)
        sums[key] = (count + row.count, duration + row.duration_ns, size)
    return sums
