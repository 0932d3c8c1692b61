"""What environment workers did while a process waited for them: SQL against brute force."""

from __future__ import annotations

from collections import defaultdict
from itertools import count
from statistics import median
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from support.files.relation_rows import Relations, process, share

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


@st.composite
def rolled_up(draw: st.DrawFn) -> dict[int, int]:
    """Until when records of the processes, served and workers, were rolled up: of none, or some."""
    return draw(st.dictionaries(st.integers(SERVED, 3), st.integers(0, 120), max_size=3))


def inside_of(start: int, end: int, steps: dict[int, list[Interval]]) -> dict[int, list[int]]:
    """The nanoseconds of an instance in which each worker stepped."""
    inside = {
        worker: [now for now in range(start, end) if any(b <= now < e for b, e in own)]
        for worker, own in steps.items()
    }
    return {worker: times for worker, times in inside.items() if times}


def typical(parts: list[dict[int, list[int]]]) -> dict[int, int | None]:
    """For how long the median of the other workers steps in an instance."""
    lengths: defaultdict[int, list[int]] = defaultdict(list)
    for inside in parts:
        for worker, times in inside.items():
            lengths[worker].append(len(times))
    means = {worker: sum(own) // len(own) for worker, own in lengths.items()}
    return {
        worker: int(median(others))
        if (others := [means[o] for o in means if o != worker])
        else None
        for worker in means
    }


def expected(
    served: list[Interval], steps: dict[int, list[Interval]]
) -> dict[int, dict[str, int | None]]:
    """Nanosecond by nanosecond."""
    parts = [inside_of(start, end, steps) for start, end in served]
    usual = typical(parts)
    sums: defaultdict[int, defaultdict[str, int]] = defaultdict(lambda: defaultdict(int))
    for (start, _), inside in zip(served, parts, strict=True):
        for worker, times in inside.items():
            until = times[-1] + 1 - start - (usual[worker] or 0)
            sums[worker]["until_ns"] += max(until, 0) if usual[worker] is not None else 0
            sums[worker]["stepped_ns"] += len(times)
            sums[worker]["own_steps"] += 1
        order = sorted(inside, key=lambda worker: (-inside[worker][-1], worker))
        if len(order) > 1:
            last, before = order[:2]
            late = inside[last][-1] - inside[before][-1]
            slower = max(len(inside[last]) - (usual[last] or 0), 0)
            sums[last]["last"] += 1
            sums[last]["late_ns"] += late
            sums[last]["tail_ns"] += min(late, slower)
    rows: dict[int, dict[str, int | None]] = {}
    for worker, own in sums.items():
        names = ("stepped_ns", "own_steps", "until_ns", "last", "late_ns")
        of_typical = own["own_steps"] * (usual[worker] or 0)
        excess = max(own["stepped_ns"] - of_typical, 0) if usual[worker] is not None else None
        rows[worker] = {name: own[name] for name in names} | {
            "typical_ns": usual[worker],
            "excess_ns": 0 if excess is None else excess,
            "tail_ns": 0 if excess is None else min(own["tail_ns"], excess),
            "instances": len(served),
            "operation_ns": sum(end - start for start, end in served),
            "whole_ns": sum(end - start for start, end in served),
            "any_ns": sum(len({now for own in inside.values() for now in own}) for inside in parts),
            "all_stepped_ns": sum(each["stepped_ns"] for each in sums.values()),
            "steps": sum(bool(inside) for inside in parts),
            "workers": len(sums),
            "cores": 4,
        }
    return rows


def kept(served: list[Interval], steps: dict[int, list[Interval]], until: dict[int, int]) -> int:
    """From when on the records of all are there."""
    return max((until.get(each, 0) for each in (SERVED, *steps)), default=0)


def relations(
    served: list[Interval], steps: dict[int, list[Interval]], until: dict[int, int]
) -> Relations:
    role = "environment worker"
    instances = {SERVED: served, **steps}
    starts = {each: 20 if each else 0 for each in instances}
    return Relations(
        host=[{"host_id": 0, "cores": 4}],
        process=[
            process(0, 0, 300, host_id=0),
            *(process(each, 20, 300, role=role, host_id=0) for each in steps),
        ],
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
            if end >= until.get(of, 0)
        ],
        loss=[
            {"process_id": each, "kind": "rolled_up", "duration_ns": until[each] - starts[each]}
            for each in until
            if each in instances
        ],
        native_call=[
            _call(SERVED, "step", "python", 3, "pickle:loads"),
            _call(SERVED, "step", "python", 4),
            _call(SERVED, "step", "framework", 50),
            _call(SERVED, "(none)", "python", 60),
            *(_call(each, "(none)", "python", each) for each in steps),
            *(_call(each, "step", "python", 70) for each in steps),
            *(_call(each, "(none)", "framework", 80) for each in steps),
        ],
        wait=[
            {"process_id": SERVED, "operation": "step", "kind": "pipe", "peer_process_id": each}
            for each in steps
        ],
    )


def _call(
    process_id: int, operation: str, layer: str, duration_ns: int, function: str = "pickle:dumps"
) -> dict[str, Any]:
    return {
        "process_id": process_id,
        "operation": operation,
        "layer": layer,
        "function": function,
        "duration_ns": duration_ns,
    }


@settings(max_examples=50, deadline=None)
@given(histories(), rolled_up())
def test_worker_steps_are_those_of_brute_force(
    history: tuple[list[Interval], dict[int, list[Interval]]], until: dict[int, int]
) -> None:
    served, steps = history
    from_ns = kept(served, steps, until)
    rows = waits.worker_steps(relations(served, steps, until)).to_dicts()  # type: ignore[arg-type]
    want = expected([each for each in served if each[0] >= from_ns], steps)
    recorded = [each for each in served if each[1] >= until.get(SERVED, 0)]
    assert {row["worker_id"] for row in rows} == set(want)
    for row in rows:
        assert row["pickled_ns"] == row["worker_id"]
        assert row["server_pickled_ns"] == 3 + 4
        assert row["rolled_up"] == any(each in until for each in (SERVED, *steps))
        of = want[row["worker_id"]] | {"whole_ns": sum(end - start for start, end in recorded)}
        assert {name: row[name] for name in of} == of


def _waiting() -> Any:
    """A learner of two iterations of 100 ns. It waits for 80 and for 30 ns: three quarters of that
    for actors, which share a queue, and the rest for the disk."""
    return Relations(
        process=[process(0, 0, 200), *(process(p, 0, 200, name=f"actor {p}") for p in (1, 2))],
        breakdown=[share(0, "receive", "wait", 110), share(0, "receive", "python", 90)],
        iteration=[
            {
                "process_id": 0,
                "iteration": place,
                "start_ns": 100 * place,
                "duration_ns": 100,
                "complete": True,
                "source": "explicit",
            }
            for place in range(2)
        ],
        iteration_breakdown=[
            {
                "process_id": 0,
                "iteration": place,
                "iteration_source": "explicit",
                "complete": True,
                "operation": "receive",
                "layer": layer,
                "duration_ns": ns,
            }
            for place, waited in enumerate((80, 30))
            for layer, ns in (("wait", waited), ("python", 100 - waited))
        ],
        wait=[
            {"process_id": 0, "operation": "receive", "self_ns": ns, **target}
            for ns, target in ((75, _QUEUE), (25, {"kind": "disk", "function": "read"}))
        ],
        wait_peer=[{"process_id": 0, "peer_process_id": p, **_QUEUE} for p in (1, 2)],
    )


_QUEUE = {"kind": "pipe", "object": "7", "function": "read"}


def test_an_iteration_waits_for_others_as_the_whole_run_does() -> None:
    rows = waits.critical_iterations(_waiting()).to_dicts()
    assert [(row["iteration"], row["waited_ns"]) for row in rows] == [(0, 60), (1, 22)]
    assert {(row["peers"], row["name"], row["last_name"]) for row in rows} == {
        (2, "actor 1", "actor 2")
    }


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
