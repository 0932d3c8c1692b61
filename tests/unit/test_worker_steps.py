"""What environment workers did while a process waited for them: SQL against brute force."""

from __future__ import annotations

from collections import defaultdict
from itertools import count
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from support.files.relation_rows import Relations, process

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


def critical(start: int, end: int, steps: dict[int, list[Interval]]) -> tuple[int, int]:
    """The process that most of these nanoseconds belong to, and how many."""
    inside = {
        worker: [now for now in range(start, end) if any(b <= now < e for b, e in own)]
        for worker, own in steps.items()
    }
    stepped = {now for times in inside.values() for now in times}
    time = {SERVED: end - start - len(stepped)}
    if stepped:
        last = max(
            (worker for worker in inside if inside[worker]), key=lambda w: (inside[w][-1], -w)
        )
        time[last] = len(stepped)
    return max(time.items(), key=lambda item: (item[1], -item[0]))


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
        process=[process(0, 0, 300), *(process(each, 20, 300, role=role) for each in steps)],
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


@settings(max_examples=50, deadline=None)
@given(histories(), rolled_up())
def test_every_nanosecond_of_an_iteration_belongs_to_one_process(
    history: tuple[list[Interval], dict[int, list[Interval]]], until: dict[int, int]
) -> None:
    served, steps = history
    from_ns = kept(served, steps, until)
    trace: Any = relations(served, steps, until)
    rows = waits.critical_processes(trace).to_dicts()
    looked_at = [(start, end) for start, end in served if start >= from_ns]
    assert sum(row["critical_ns"] for row in rows) == sum(end - start for start, end in looked_at)
    assert sum(row["iterations"] for row in rows) == len(looked_at)
    assert {row["of"] for row in rows} <= {len(looked_at)}
    told = waits.critical_iterations(trace, iterations=9).to_dicts()
    want = {
        place: critical(start, end, steps)
        for place, (start, end) in enumerate(served)
        if start >= from_ns
    }
    assert {row["iteration"]: (row["critical_id"], row["critical_ns"]) for row in told} == want
    assert [row["duration_ns"] for row in told] == sorted(
        (end - start for start, end in looked_at), reverse=True
    )
    for row in rows:
        ids = [critical_id for critical_id, _ in want.values()]
        assert row["iterations"] == ids.count(row["critical_id"])


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
