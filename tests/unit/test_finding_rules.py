"""Rules of advice: rows that they fire on, and rows on which their fix would change nothing."""

from __future__ import annotations

import math
from typing import Any

import pytest
from support.files.finding_rows import FILE, LOOP_NS, line, steps, trace
from support.files.loop_rows import found_by as found
from support.files.relation_rows import SECOND, Relations, process, share

from rlscope.analysis import roles, waits
from rlscope.table import Table

MS = 1_000_000


# ---- workers -----------------------------------------------------------------------------------


def vector(**rows: Any) -> Relations:
    loop = [
        share(0, "simulation", "wait", 6 * SECOND),
        share(0, "simulation", "python", 2 * SECOND),
        share(0, "update", "framework", 2 * SECOND),
    ]
    return trace(breakdown=loop, **rows)


def test_workers_that_step_for_less_than_their_messages_take(monkeypatch):
    steps(monkeypatch, {"stepped_ns": SECOND // 2}, {"stepped_ns": SECOND // 2})
    rows = vector(source_line=[line(7, 6 * SECOND, operation="simulation", layer="wait")])
    (finding,) = found("cheap_workers", rows)
    assert finding.price is not None
    # Half of the instances have 1 s of steps. 2 of the 8 s remain, 1.4 at least, and at most the
    # 2 s of Python, too.
    assert finding.price.saving_ns == 6 * SECOND
    ends = finding.price.low_ns, finding.price.high_ns
    assert ends == pytest.approx((4 * SECOND, 6.6 * SECOND))
    assert (finding.file, finding.line, finding.operation) == (FILE, 7, "simulation")


def test_more_workers_than_cores_take_them_from_each_other(monkeypatch):
    steps(monkeypatch, *({"stepped_ns": SECOND // 2, "cores": 1} for _ in range(2)))
    (finding,) = found("cheap_workers", vector())
    assert finding.price is not None
    assert finding.price.saving_ns == pytest.approx((8 - 0.6 * 2) * SECOND)


def test_sleeps_between_two_looks_are_no_messages(monkeypatch):
    steps(monkeypatch, {"stepped_ns": SECOND // 2}, {"stepped_ns": SECOND // 2})
    wait = {"process_id": 0, "kind": "sleep", "operation": "simulation", "stage": "loop"}
    state = {"process_id": 0, "stage": "loop", "operation": "simulation", "layer": "wait"}
    rows = vector(
        wait=[{**wait, "count": 9, "duration_ns": 5 * SECOND, "self_ns": 5 * SECOND}],
        idle=[{**state, "reason": "sleep", "duration_ns": 5 * SECOND}],
    )
    (finding,) = found("cheap_workers", rows)
    assert finding.price is not None
    assert finding.price.saving_ns == SECOND
    assert "beside 5.00 s of sleeps" in finding.evidence


def test_workers_that_step_for_longer_than_the_operation_takes_win_time(monkeypatch):
    steps(monkeypatch, {"stepped_ns": 3 * SECOND}, {"stepped_ns": 3 * SECOND})
    assert found("cheap_workers", vector()) == []


def late(monkeypatch: pytest.MonkeyPatch, **more: Any) -> None:
    slow = {"stepped_ns": 3 * SECOND, "excess_ns": 2 * SECOND, "tail_ns": SECOND, "last": 90}
    steps(monkeypatch, {**slow, **more}, {"stepped_ns": SECOND // 2})


def test_a_worker_that_others_wait_for(monkeypatch):
    late(monkeypatch)
    lines = [
        line(18, SECOND, process_id=1, operation="simulation"),
        line(90, 3 * SECOND, process_id=1, operation="simulation", layer="wait"),
    ]
    (finding,) = found("late_worker", vector(source_line=lines))
    assert finding.price is not None
    assert (finding.price.low_ns, finding.price.high_ns) == (2 * SECOND, 4 * SECOND)
    assert finding.price.saving_ns == pytest.approx(math.sqrt(8) * SECOND)
    assert (finding.file, finding.line) == (FILE, 18)
    assert found("cheap_workers", vector()) == []


def test_a_worker_that_nobody_waits_for(monkeypatch):
    late(monkeypatch, excess_ns=0, tail_ns=0)
    assert found("late_worker", vector()) == []


# ---- processes with loops of their own ---------------------------------------------------------


def table(*rows: dict[str, Any]) -> Table:
    return Table({name: [row[name] for row in rows] for name in rows[0]}, name="rows")


def families(
    monkeypatch: pytest.MonkeyPatch, *, role: str = "actor", waited_ns: int = 8 * SECOND
) -> None:
    """A learner that waits for two actors, or for two ranks: rows of `role_loops`."""
    learner = {"family": "learner", "name": "learner", "role": "main", "processes": 1}
    learner["waiting_id"] = 0
    actors = {"family": "actor", "name": "actor 0", "role": role, "processes": 2, "waiting_id": 1}
    loops = table(
        {**learner, "loop_ns": LOOP_NS, "waited_ns": waited_ns, "group_ns": 2 * SECOND}
        | {"target_family": "actor"},
        {**actors, "loop_ns": LOOP_NS, "waited_ns": 0, "group_ns": 9 * SECOND}
        | {"target_family": None},
    )
    monkeypatch.setattr(roles, "role_loops", lambda _: loops)


def slow(monkeypatch: pytest.MonkeyPatch, *before: dict[str, Any], running_s: int = 0) -> Relations:
    """100 steps of 80 ms in process 0, and of 20 ms in the other one. `before`: what differs in
    other rows of `peer_step`. `running_s`: for how long of 8 s process 0 had a CPU, if the kernel
    says."""
    step = {
        "family": "actor",
        "processes": 2,
        "process_id": 0,
        "process": "actor 0",
        "operation": "update",
        "entries": 100,
        "mean_ns": 80 * MS,
        "typical_ns": 20 * MS,
        "excess_ns": 6 * SECOND,
        "slower_ns": 6 * SECOND,
        "loop_ns": LOOP_NS,
    }
    steps = table(*({**step, **each} for each in before), step)
    monkeypatch.setattr(roles, "peer_steps", lambda _: steps)
    ran = {0: running_s, 1: 8} if running_s else {}
    return trace(
        process=[process(place, 0, LOOP_NS, name=f"actor {place}") for place in (0, 1)],
        thread=[
            {"process_id": place, "running_ns": each * SECOND, "runnable_ns": (8 - each) * SECOND}
            for place, each in ran.items()
        ],
        operation=[{"operation_id": 0, "path": "update", "source": "automatic"}],
        operation_instance=[
            {"process_id": 0, "operation_id": 0, "duration_ns": each}
            for each in [70 * MS, 90 * MS] * 50
        ],
        source_line=[line(38, 6 * SECOND, operation="update")],
    )


@pytest.mark.parametrize(("role", "part"), [("actor", 2), ("rank", 1)])
def test_a_process_that_is_slower_than_others_of_its_kind(monkeypatch, role, part):
    families(monkeypatch, role=role)
    (finding,) = found("slow_peer", slow(monkeypatch))
    assert finding.price is not None
    assert finding.price.saving_ns == pytest.approx(6 * SECOND / part)
    half = finding.price.saving_ns - finding.price.low_ns
    assert half == pytest.approx(100 * 1.96 * 10 * MS * math.sqrt(100 / 99) / 10 / part, rel=1e-3)
    assert (finding.file, finding.line) == (FILE, 38)


@pytest.mark.parametrize(("running_s", "is_slow"), [(3, True), (2, False)])
def test_a_process_that_only_lacks_a_cpu_is_not_slower(monkeypatch, running_s, is_slow):
    families(monkeypatch)
    assert bool(found("slow_peer", slow(monkeypatch, running_s=running_s))) is is_slow


@pytest.mark.parametrize(("waited_ns", "names"), [(SECOND, ["actor 0"]), (SECOND // 100, [])])
def test_the_process_that_comes_last_to_collectives(monkeypatch, waited_ns, names):
    """The other one waits there in its backward, which makes that longer."""
    families(monkeypatch, role="worker", waited_ns=SECOND)
    met = table({"waited_ns": waited_ns, "loop_ns": LOOP_NS, "last_process": "actor 0"})
    monkeypatch.setattr(waits, "collectives", lambda *_, rows: met)
    waiting = {"process_id": 1, "process": "actor 1", "operation": "backprop"}
    findings = found("slow_peer", slow(monkeypatch, waiting))
    assert [each.title.partition(" takes ")[0] for each in findings] == names
    assert all(each.price.saving_ns == pytest.approx(6 * SECOND) for each in findings)


def test_a_slow_process_that_nobody_waits_for(monkeypatch):
    families(monkeypatch, waited_ns=SECOND)
    assert found("slow_peer", slow(monkeypatch)) == []


@pytest.mark.parametrize(
    ("cores", "working", "value", "low"),
    [
        (8, 1.0, 1 - 2 / 7, 1 / 3),
        (3, 1.0, 0.4, 0),  # each actor has a CPU already
        (3, 0.1, 0.8, 1 / 3),  # actors that wait for devices leave theirs to others
        (None, 0.1, 0.4, 0),
    ],
)
def test_a_learner_that_waits_for_actors(monkeypatch, cores, working, value, low):
    families(monkeypatch)
    (finding,) = found("starving", starved(cores, working))
    assert finding.price is not None
    # 2 of 10 s are work: 10 actors instead of 2 would keep it busy.
    ends = (finding.price.low_ns, finding.price.saving_ns, finding.price.high_ns)
    assert ends == pytest.approx([part * LOOP_NS for part in (low, value, 0.8)])
    assert finding.line == 6
    assert finding.fix.startswith("Use up to 10 of them")


def test_of_the_first_process_there_is_no_second(monkeypatch):
    families(monkeypatch)
    (finding,) = found("starving", starved(8, 1.0, role="main"))
    assert finding.fix.startswith("Make what that process does cheaper")


@pytest.mark.parametrize(("queued_s", "is_queue"), [(9, False), (11, True)])
def test_actors_that_wait_for_a_full_queue_are_not_too_few(monkeypatch, queued_s, is_queue):
    """The two have loops of 10 s each. The learner is in the queue for 3 s."""
    families(monkeypatch)
    get = {"function": "Queue.get", "file": "/lib/multiprocessing/queues.py", "line": 9}
    stack = {"process_id": 0, "stack_id": 1, "parent_id": None, "function": "train", "file": FILE}
    waiting = {"process_id": 0, "stack_id": 2, "stage": "loop", "operation": "(none)"}
    ends = {"self_ns": 3 * SECOND, "self_low_ns": 2 * SECOND, "self_high_ns": 4 * SECOND}
    wait = {"process_id": 1, "thread_id": 1, "kind": "semaphore", "self_ns": queued_s * SECOND}
    rows = starved(
        8,
        0.2,
        stack=[
            stack | {"line": 6, "is_own": True},
            stack | get | {"stack_id": 2, "parent_id": 1, "is_own": False},
        ],
        stack_time=[waiting | ends | {"layer": "wait", "readings": 100}],
        wait=[wait, wait | {"thread_id": 2}],  # of which one is no main thread's
        thread=[{"process_id": 1, "thread_id": n, "start_ns": n} for n in (1, 2)],
    )
    (finding,) = found("starving", rows)
    assert ("wait for the queue" in finding.title) == is_queue
    assert finding.price is not None
    assert not is_queue or finding.price.saving_ns == pytest.approx(0.95 * 3 * SECOND)
    assert finding.line == 6


def starved(cores: int | None, working: float, role: str = "actor", **rows: Any):
    actor = [
        share(process_id, operation, layer, round(part * LOOP_NS))
        for process_id in (1, 2)
        for operation, layer, part in (
            ("simulation", "python", working),
            ("(none)", "wait", 1 - working),
        )
    ]
    actors = [process(n, 0, 20 * SECOND, name=f"actor {n}", host_id=0, role=role) for n in (1, 2)]
    return trace(
        host=[{"host_id": 0, "cores": cores}],
        process=[process(0, 0, 20 * SECOND, host_id=0, role="main"), *actors],
        breakdown=[share(0, "update", "python", LOOP_NS), *actor],
        source_line=[
            line(5, SECOND, operation="update", layer="python"),
            line(6, SECOND // 2, operation="(none)", layer="wait"),
        ],
        **rows,
    )


def test_a_learner_that_works_for_most_of_its_loop(monkeypatch):
    families(monkeypatch, waited_ns=SECOND)
    assert found("starving", trace()) == []


# ---- conversions -------------------------------------------------------------------------------


def calls(function: str, count: int, self_ns: int, operation: str = "(none)") -> dict[str, Any]:
    where = {"process_id": 0, "layer": "framework", "operation": operation, "calls": count}
    return {**where, "function": function, "duration_ns": self_ns, "self_ns": self_ns}


def converting(*native: dict[str, Any], text: str, entries: int = 1000, **rows: Any) -> Relations:
    """20 iterations of half a second, of which 100 ms are between operations."""
    between = {"process_id": 0, "iteration_source": "explicit", "complete": True}
    return trace(
        iterations=20,
        breakdown=[
            share(0, "simulation", "python", LOOP_NS - 2 * SECOND, source="automatic"),
            share(0, "(none)", "framework", SECOND),
            share(0, "(none)", "python", SECOND),
        ],
        iteration_breakdown=[
            {
                **between,
                "iteration": place,
                "operation": "(none)",
                "layer": layer,
                "duration_ns": 50 * MS,
            }
            for place in range(20)
            for layer in ("framework", "python")
        ],
        operation=[{"operation_id": 0, "path": "simulation", "source": "automatic"}],
        operation_instance=[{"process_id": 0, "operation_id": 0} for _ in range(entries)],
        native_call=native,
        source_text=[{"file": FILE, "line": 5, "text": text}],
        source_line=[line(5, 600 * MS), line(5, 400 * MS, layer="framework"), line(9, SECOND)],
        **rows,
    )


def test_tensors_of_single_values_in_each_step():
    native = calls("torch:tensor", 10_000, 400 * MS)
    (finding,) = found("host_conversions", converting(native, text="x.append(torch.tensor(r))"))
    assert finding.price is not None
    # The calls and the Python of their line, without 2 us in each step, and 0.5 us for the others.
    assert finding.price.saving_ns == pytest.approx(SECOND - 1000 * 2_000 - 9000 * 500)
    assert (finding.file, finding.line) == (FILE, 5)


def test_python_of_a_line_that_does_other_things_is_no_conversion():
    native = calls("torch:tensor", 10_000, 400 * MS)
    (finding,) = found("host_conversions", converting(native, text="f(torch.tensor(simulate(r)))"))
    assert finding.price is not None
    assert finding.price.saving_ns == pytest.approx(400 * MS - 1000 * 2_000 - 9000 * 500)


@pytest.mark.parametrize(
    "silent",
    [
        # One observation to a tensor and one action back, which each step needs.
        [
            calls("torch:as_tensor", 1000, 100 * MS),
            calls("torch._C:TensorBase.item", 1000, 100 * MS),
        ],
        # Once an iteration.
        [calls("torch:tensor", 20, 400 * MS)],
        # A call that waited for a GPU has none of that in self_ns, and is no finding.
        [],
    ],
)
def test_conversions_that_a_program_needs(silent):
    text = "x.append(torch.tensor(r)); torch.as_tensor(o); a.item()"
    assert found("host_conversions", converting(*silent, text=text)) == []


def test_more_than_one_conversion_a_step_is_priced_beyond_the_first():
    native = calls("torch:as_tensor", 4000, 400 * MS)
    (finding,) = found("host_conversions", converting(native, text="f(torch.as_tensor(r))"))
    assert finding.price is not None
    assert finding.price.saving_ns == pytest.approx(300 * MS - 3000 * 500)
