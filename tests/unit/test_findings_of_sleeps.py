"""Advice on a loop that sleeps: to keep a pace, or between two looks."""

from __future__ import annotations

import pytest
from support.files.loop_rows import FILE, LOOP_NS, Time, found, loop_rows
from support.files.relation_rows import SECOND, process, share

from rlscope.analysis.findings import sleeping

PACED = "def tick(left):\n\n\n    time.sleep(left)\n"
LOOKS = "def until_ready(pipe):\n\n    while not pipe.poll():\n        time.sleep(0.01)\n"
TRAINING = "while steps < 1000:\n    learn()\n    env.step(0)\n    time.sleep(0.01)\n"


def sleeps(*others: Time, text: str = PACED, reason: str = "sleep", **changes):
    """3 s of the loop."""
    wait = {"process_id": 0, "thread_id": 0, "kind": "sleep", "function": "time.sleep"}
    times = {"count": 500, "duration_ns": 3 * SECOND, "self_ns": 3 * SECOND}
    state = {"process_id": 0, "stage": "loop", "operation": "(none)", "layer": "wait"}
    more = changes.pop("more", {})
    return loop_rows(
        Time("(none)", "wait", 3 * SECOND, 4),
        *others,
        text=text,
        wait=[{**wait, **times, "operation": "(none)"} | changes, *more.pop("wait", [])],
        idle=[{**state, "reason": reason, "duration_ns": 3 * SECOND}, *more.pop("idle", [])],
        **more,
    )


def saving(trace) -> float:
    (finding,) = found(sleeping.RULE, trace)
    assert (finding.file, finding.line) == (FILE, 4)
    assert finding.price is not None
    return finding.price.saving_ns


def test_a_pace_is_worth_all_of_its_sleeps():
    assert saving(sleeps()) == 3 * SECOND


def test_an_environment_may_sleep_where_a_device_takes_its_time():
    state = {"process_id": 0, "stage": "loop", "layer": "wait", "operation": "simulation"}
    trace = sleeps(
        Time("simulation", "wait", 3 * SECOND, 4),
        operation="simulation",
        more={"idle": [{**state, "reason": "sleep", "duration_ns": 3 * SECOND}]},
    )
    (finding,) = found(sleeping.RULE, trace)
    assert finding.price is not None
    assert finding.price.saving_ns == 3 * SECOND
    assert finding.price.low_ns == pytest.approx(0.3 * SECOND)


def test_the_line_that_sleeps_is_named_and_not_the_one_that_waits_longest():
    assert saving(sleeps(Time("(none)", "wait", 4 * SECOND, 2))) == 3 * SECOND


@pytest.mark.parametrize("line", ["rows.get_nowait()", "if rows.empty(): learn()"])
def test_a_line_that_looks_once_does_not_sleep(line):
    assert found(sleeping.RULE, sleeps(text=PACED.replace("time.sleep(left)", line))) == []


def test_a_sleep_of_no_known_line_is_none():
    assert found(sleeping.RULE, sleeps(more={"source_line": []})) == []


def test_between_looks_something_else_may_take_as_long():
    assert saving(sleeps(text=LOOKS)) == 1.5 * SECOND


def test_a_training_loop_that_sleeps_looks_for_nothing():
    others = Time("update", "python", SECOND, 2), Time("simulation", "python", SECOND, 3)
    assert saving(sleeps(*others, text=TRAINING)) == 3 * SECOND


@pytest.mark.parametrize(("work_ns", "won_ns"), [(SECOND, 2 * SECOND), (3 * SECOND, 0)])
def test_the_work_of_who_is_looked_for_is_not_won(work_ns, won_ns):
    pipe = {"process_id": 0, "thread_id": 0, "kind": "pipe", "function": "read"}
    state = {"process_id": 0, "stage": "loop", "operation": "(none)", "layer": "wait"}
    trace = sleeps(
        text=LOOKS,
        more={
            "wait": [{**pipe, "count": 9, "duration_ns": 9, "self_ns": 9, "operation": "(none)"}],
            "idle": [{**state, "reason": "process", "duration_ns": 9}],
            "process": [process(0, 0, LOOP_NS, host_id=0, role="main"), process(1, 0, LOOP_NS)],
            "wait_peer": [{"process_id": 0, "kind": "pipe", "peer_process_id": 1}],
            "more_breakdown": [share(1, "simulation", "python", work_ns, stage="whole")],
            "operation": [
                {"operation_id": 0, "path": "update", "source": "automatic"},
                {"operation_id": 1, "path": "simulation", "source": "automatic"},
            ],
        },
    )
    assert saving(trace) == won_ns


@pytest.mark.parametrize("silent", [{"count": 2}, {"kind": "pipe"}, {"reason": "thread"}])
def test_other_waits_are_no_sleeps(silent):
    assert found(sleeping.RULE, sleeps(**silent)) == []


COROUTINES = """\
async def ask(slot):
    while not slot.ready:
        {sleep}
asyncio.run(main())
"""


@pytest.mark.parametrize(
    ("sleep", "line", "part"),
    [
        ("await asyncio.sleep(0.001)", 3, 1.15),
        ("await slot.changed.wait()", 4, 1.0),
    ],
)
def test_coroutines_that_look_again_and_again_are_named_at_their_line(sleep, line, part):
    """The stack has only the line that runs all of them."""
    (finding,) = found(sleeping.RULE, sleeps(text=COROUTINES.format(sleep=sleep)))
    assert finding.line == line
    assert finding.price is not None
    assert finding.price.saving_ns == pytest.approx(part * 3 * SECOND)
