"""What environment workers did while a process waited for them: SQL against brute force."""

from __future__ import annotations

from collections import defaultdict
from itertools import count
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from relation_rows import Relations, process, share

from rlscope.analysis import waits

Interval = tuple[int, int]
SERVED = 0


@st.composite
def histories(draw: st.DrawFn) -> tuple[list[Interval], dict[int, list[Interval]]]:
    """Instances of the operation that waits, and steps of one to three workers. A step lies in one
    instance, or begins in one and ends in the next."""
    lengths = st.lists(st.tuples(st.integers(0, 6), st.integers(1, 40)), min_size=1, max_size=5)
    served, now = [], 0
    for gap, length in draw(lengths):
        served.append((now + gap, now + gap + length))
        now += gap + length
    ends = [start for start, _ in served[1:]] + [now + 10]
    steps: dict[int, list[Interval]] = {}
    for worker in range(1, draw(st.integers(1, 3)) + 1):
        steps[worker], free = [], 0
        for place, (start, _) in enumerate(served):
            latest = ends[min(place + 1, len(ends) - 1)]
            begin = max(free, start + draw(st.integers(0, 12)))
            if begin >= ends[place] or draw(st.booleans()):
                continue
            free = min(begin + draw(st.integers(1, 30)), latest)
            steps[worker].append((begin, free))
    return served, steps


def expected(served: list[Interval], steps: dict[int, list[Interval]]) -> dict[int, dict[str, int]]:
    """Nanosecond by nanosecond."""
    rows: dict[int, dict[str, int]] = {}
    in_any = stepped_in = 0
    sums: defaultdict[int, defaultdict[str, int]] = defaultdict(lambda: defaultdict(int))
    for start, end in served:
        inside = {
            worker: [now for now in range(start, end) if any(b <= now < e for b, e in own)]
            for worker, own in steps.items()
        }
        inside = {worker: times for worker, times in inside.items() if times}
        in_any += len({now for times in inside.values() for now in times})
        stepped_in += bool(inside)
        for worker, times in inside.items():
            sums[worker]["stepped_ns"] += len(times)
        order = sorted(inside, key=lambda worker: (-inside[worker][-1], worker))
        if len(order) > 1:
            last, before = order[:2]
            late = inside[last][-1] - inside[before][-1]
            sums[last]["last"] += 1
            sums[last]["late_ns"] += late
            sums[last]["slow_ns"] += min(late, len(inside[last]))
    for worker, own in sums.items():
        names = ("stepped_ns", "last", "late_ns", "slow_ns")
        rows[worker] = {name: own[name] for name in names} | {
            "instances": len(served),
            "operation_ns": sum(end - start for start, end in served),
            "whole_ns": sum(end - start for start, end in served),
            "any_ns": in_any,
            "steps": stepped_in,
        }
    return rows


def relations(served: list[Interval], steps: dict[int, list[Interval]]) -> Relations:
    role = "environment worker"
    instances = {SERVED: served, **steps}
    return Relations(
        process=[process(0, 0, 300), *(process(each, 0, 300, role=role) for each in steps)],
        operation=[{"operation_id": 7, "name": "step", "path": "step", "depth": 0}],
        operation_instance=[
            {
                "process_id": of,
                "operation_id": 7,
                "iteration": None if of else place,
                "start_ns": start,
                "duration_ns": end - start,
            }
            for of, intervals in instances.items()
            for place, (start, end) in enumerate(intervals)
        ],
        iteration=[
            {
                "process_id": SERVED,
                "iteration": place,
                "start_ns": start,
                "duration_ns": end - start,
                "complete": True,
                "source": "explicit",
            }
            for place, (start, end) in enumerate(served)
        ],
        breakdown=[
            *(share(each, "step", "python", 10) for each in instances),
            *(share(each, "(none)", "python", each) for each in steps),
        ],
        wait=[
            {"process_id": SERVED, "operation": "step", "kind": "pipe", "peer_process_id": each}
            for each in steps
        ],
    )


@settings(max_examples=25, deadline=None)
@given(histories())
def test_worker_steps_are_those_of_brute_force(
    history: tuple[list[Interval], dict[int, list[Interval]]],
) -> None:
    served, steps = history
    rows = waits.worker_steps(relations(served, steps)).to_dicts()  # type: ignore[arg-type]
    want = expected(served, steps)
    assert {row["worker_id"] for row in rows} == set(want)
    for row in rows:
        assert row["own_ns"] == row["worker_id"]
        of = want[row["worker_id"]]
        assert {name: row[name] for name in of} == of


@settings(max_examples=25, deadline=None)
@given(histories())
def test_every_nanosecond_of_an_iteration_belongs_to_one_process(
    history: tuple[list[Interval], dict[int, list[Interval]]],
) -> None:
    served, steps = history
    trace: Any = relations(served, steps)
    rows = waits.critical_processes(trace).to_dicts()
    whole_ns = sum(end - start for start, end in served)
    assert sum(row["critical_ns"] for row in rows) == whole_ns
    assert sum(row["iterations"] for row in rows) == len(served)
    any_ns = next((row["any_ns"] for row in waits.worker_steps(trace).to_dicts()), 0)
    own = next(row["critical_ns"] for row in rows if row["critical_id"] == SERVED)
    assert own == whole_ns - any_ns


def test_a_wait_outside_operations_links_no_worker() -> None:
    """A process that has nothing to do but to wait for a worker is not stepped for."""
    numbers = count()
    trace: Any = Relations(
        process=[process(0, 0, 10), process(1, 0, 10, role="environment worker")],
        operation=[{"operation_id": 0, "name": "step", "path": "step", "depth": 0}],
        operation_instance=[
            {"process_id": p, "operation_id": 0, "start_ns": next(numbers), "duration_ns": 5}
            for p in (0, 1)
        ],
        wait=[{"process_id": 0, "operation": "(none)", "kind": "pipe", "peer_process_id": 1}],
    )
    assert waits.worker_steps(trace).to_dicts() == []
    assert waits.critical_processes(trace).to_dicts() == []
