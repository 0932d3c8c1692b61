"""The sentences of processes with loops of their own, and of the slower ones among them."""

from __future__ import annotations

from typing import Any

import pytest
from support.files.facts import assert_says
from support.files.headlines import read, texts
from support.files.relation_rows import Relations, process, share

from rlscope.analysis import process_verdicts, roles

_QUEUE = {"kind": "pipe", "object": "7", "function": "read"}
_WEIGHTS = {"kind": "pipe", "object": "8", "function": "read"}
_STEPS = 10


def _queues(
    *,
    learning_ns: int = 30,
    slow_ns: int = 1,
    receive: str = "receive",
    queue: dict[str, str] = _QUEUE,
    **more: Any,
) -> Relations:
    """A learner with a loop of 100 ns. Two actors of 100 ns step ten times, and wait for weights.
    A step takes actor 1 so much longer than one nanosecond."""
    stepped = {1: _STEPS, 2: _STEPS * slow_ns}
    return Relations(
        process=[
            process(0, 0, 100, name="learner"),
            *(process(p, 0, 100, name=f"actor {p - 1}", role="worker") for p in (1, 2)),
        ],
        operation=[{"operation_id": 0, "name": "step", "path": "step", "depth": 0}],
        operation_instance=[
            {
                "process_id": p,
                "operation_id": 0,
                "start_ns": 10 * n,
                "duration_ns": ns // _STEPS,
                "self_ns": ns // _STEPS,
            }
            for p, ns in stepped.items()
            for n in range(_STEPS)
        ],
        breakdown=[
            share(0, receive, "wait", 100 - learning_ns),
            share(0, "train", "python", learning_ns),
            *(share(p, "step", "python", ns) for p, ns in stepped.items()),
            *(share(p, "get", "wait", 5) for p in stepped),
            *(share(p, "send", "python", 95 - ns) for p, ns in stepped.items()),
        ],
        wait=[
            {"process_id": 0, "operation": receive, "self_ns": 100 - learning_ns, **queue},
            *({"process_id": p, "operation": "get", "self_ns": 5, **_WEIGHTS} for p in stepped),
        ],
        wait_peer=[
            *({"process_id": 0, "peer_process_id": p, **_QUEUE} for p in stepped),
            *({"process_id": p, "peer_process_id": 0, **_WEIGHTS} for p in stepped),
        ],
        **more,
    )


def test_each_role_has_its_own_sentence_and_the_starving_one_is_first() -> None:
    starving = ("learner waits", "actor 0 and actor 1", "70.0 %", "70 ns of 100 ns")
    others = ("send", "85.0 %", "actor 0 and actor 1", "170 ns of 200 ns")
    assert_says(read(_queues()).sentence, *starving, *others)
    (together,) = (text for text in texts(_queues(), warning=False) if "together" in text)
    assert_says(together, "send", "56.7 %", "3 processes", "170 ns of 300 ns")


def test_a_role_that_works_more_than_it_waits_does_not_starve() -> None:
    said = read(_queues(learning_ns=60)).sentence
    actors = ("send", "85.0 %", "actor 0 and actor 1", "170 ns of 200 ns")
    assert_says(said, *actors, "train", "60.0 %", "learner", "60 ns of 100 ns")
    assert process_verdicts.is_starving({"waited_ns": 51, "group_ns": 50})
    assert not process_verdicts.is_starving({"waited_ns": 50, "group_ns": 50})


@pytest.mark.parametrize("sleeps", [True, False])
def test_a_role_that_polls_with_a_timer_sleeps(sleeps: bool) -> None:
    """If its own operation holds the sleep, that is the largest part of its loop."""
    timer = {"kind": "sleep", "object": "", "function": "time.sleep"}
    said = read(_queues(receive="(none)" if sleeps else "receive", queue=timer)).sentence
    assert ("learner sleeps for 70.0 % of its training loop: 70 ns of 100 ns." in said) == sleeps
    assert ("receive takes 70.0 % of the training loop of learner" in said) != sleeps
    assert process_verdicts.is_sleeping({"slept_ns": 51, "waited_ns": 50, "group_ns": 50})
    assert not process_verdicts.is_sleeping({"slept_ns": 51, "waited_ns": 51, "group_ns": 50})
    assert not process_verdicts.is_sleeping({"slept_ns": 51, "waited_ns": 50, "group_ns": 51})


def test_processes_with_one_loop_have_one_sentence() -> None:
    """Two ranks have the same operations, and other shares of them."""
    trace = Relations(
        process=[process(p, 0, 100, name=f"rank {p}") for p in (0, 1)],
        breakdown=[
            share(p, operation, "python", ns)
            for p, step in ((0, 80), (1, 30))
            for operation, ns in (("step", step), ("learn", 100 - step))
        ],
    )
    assert_says(read(trace).sentence, "step takes", "55.0 %", "2 processes together",
                "110 ns of 200 ns")  # fmt: skip
    assert not process_verdicts.are_loops_different([{"likeness": 1}, {"likeness": 0.5}])
    assert process_verdicts.are_loops_different([{"likeness": 1}, {"likeness": 0.49}])


def test_the_actor_whose_step_takes_longer_is_the_straggler() -> None:
    said = [text for text in texts(_queues(slow_ns=7), warning=False) if "straggler" in text]
    assert len(said) == 1
    assert_says(said[0], "actor 1", "straggler", "step", "7 ns", "1 ns", "60 ns", "100 ns")
    assert not any("straggler" in text for text in texts(_queues(), warning=False))
    fed = texts(_queues(learning_ns=60, slow_ns=7), warning=False)
    assert not any("straggler" in text for text in fed)


def test_records_that_were_rolled_up_say_nothing_of_entries() -> None:
    loss = [{"process_id": 2, "kind": "rolled_up", "count": 1, "duration_ns": 50}]
    trace: Any = _queues(slow_ns=7, loss=loss)
    assert roles.peer_steps(trace).to_dicts() == []


def test_waits_for_others_are_no_work_of_an_entry() -> None:
    """One of two actors waits for the learner in its step."""
    trace: Any = Relations(
        process=[process(0, 0, 100, name="learner"), *(
            process(p, 0, 100, name=f"actor {p}") for p in (1, 2))],
        operation=[{"operation_id": 0, "name": "step", "path": "step", "depth": 0}],
        operation_instance=[
            {"process_id": p, "operation_id": 0, "start_ns": 0, "duration_ns": ns, "self_ns": ns}
            for p, ns in ((1, 40), (2, 20))
        ],
        breakdown=[share(p, "step", "python", 100) for p in (0, 1, 2)],
        wait=[{"process_id": 1, "operation": "step", "self_ns": 15, **_WEIGHTS}],
        wait_peer=[{"process_id": 1, "peer_process_id": 0, **_WEIGHTS}],
    )  # fmt: skip
    rows = roles.peer_steps(trace).to_dicts()
    found = {row["process"]: (row["mean_ns"], row["typical_ns"], row["excess_ns"]) for row in rows}
    assert found == {"actor 1": (25, 20, 5), "actor 2": (20, 25, 0)}


def test_a_process_is_slower_for_a_notable_part_of_its_loop() -> None:
    step = {"slower_ns": 51, "loop_ns": 1000, "mean_ns": 126, "typical_ns": 100}
    assert process_verdicts.is_slower(step)
    assert not process_verdicts.is_slower(step | {"slower_ns": 50})
    assert not process_verdicts.is_slower(step | {"mean_ns": 125})
