"""The training loop in words: its groups, its waits, and who waits for whom."""

from __future__ import annotations

import pytest
from support.files.facts import assert_says
from support.files.headlines import LOOP, read, texts
from support.files.relation_rows import Relations, process, share

_ANNOTATE = "`with rls.operation(name):`"


def _waiting_loop(waiting: int, *, gpu_busy: bool = False) -> Relations:
    """100 ns: simulation with so many ns of waiting, a wait inside of backprop, and inference."""
    return Relations(
        process=[process(0, 0, 100)],
        breakdown=[
            share(0, "simulation", "wait", waiting, gpu_busy=gpu_busy),
            share(0, "simulation", "python", 60 - waiting),
            share(0, "backprop", "framework", 15),
            share(0, "backprop", "wait", 10),
            share(0, "inference", "wait", 12),
            share(0, "inference", "python", 3),
        ],
    )


def test_a_group_that_mostly_waits_is_said_to_wait() -> None:
    first = ("Simulation", f"60.0 % {LOOP}", "60 ns of 100 ns")
    assert_says(read(_waiting_loop(31)).sentence, *first, "31 ns", "waiting")
    assert_says(read(_waiting_loop(30)).sentence, *first)
    by_layer, others = texts(_waiting_loop(31), warning=False)
    assert_says(by_layer, "waiting 31.0 %", "python 29.0 %")
    assert_says(others, "learning 25.0 %", "inference 15.0 % (12.0 % waiting)")


def test_waiting_beside_gpu_work_is_waiting_too() -> None:
    trace = _waiting_loop(40, gpu_busy=True)
    assert_says(read(trace).sentence, "60.0 %", "60 ns of 100 ns", "40 ns", "waiting")
    by_layer, *_, states = texts(trace, warning=False)
    assert_says(by_layer, "waiting + gpu 40.0 %", "python 20.0 %")
    assert_says(states, "cpu 38.0 %", "gpu 40.0 %", "waiting 22.0 %")


def _turns(waiting: int) -> Relations:
    """A learner and an actor, 100 ns each, that wait for one another between operations."""
    return Relations(
        process=[process(0, 0, 100), process(1, 0, 100)],
        breakdown=[
            share(0, "backprop", "framework", 100 - waiting),
            share(0, "(none)", "wait", waiting),
            share(1, "inference", "python", 90 - waiting),
            share(1, "(none)", "python", 10),
            share(1, "(none)", "wait", waiting),
        ],
    )


_LOOPS = "of the training loops of 2 processes together"


_BETWEEN = ("between operations", "wait")


def test_processes_that_wait_for_one_another_leave_the_first_place_to_the_largest_group() -> None:
    together, by_layer, others = texts(_turns(60), warning=False)
    assert_says(together, "Learning", f"20.0 % {_LOOPS}", "40 ns of 200 ns", *_BETWEEN, "120 ns")
    assert_says(read(_turns(60)).sentence, "Learning", "40.0 %", "p0", "40 ns of 100 ns",
                "Inference", "30.0 %", "p1", "30 ns of 100 ns")  # fmt: skip
    assert_says(by_layer, "framework 20.0 %")
    assert_says(others, "inference 15.0 %", "between operations 5.0 %")
    assert texts(_turns(60), warning=True) == []
    together = texts(_turns(1), warning=False)[0]
    assert_says(together, "Learning", f"49.5 % {_LOOPS}", "99 ns of 200 ns")


def test_operations_that_take_little_of_what_is_not_waiting_are_said_to() -> None:
    def trace(acting: int) -> Relations:
        return Relations(
            process=[process(0, 0, 100), process(1, 0, 100)],
            breakdown=[
                share(0, "backprop", "framework", 30),
                share(0, "(none)", "python", 70),
                share(1, "inference", "python", acting),
                share(1, "(none)", "wait", 100 - acting),
            ],
        )

    between = ("Time between operations", f"35.0 % {_LOOPS}", "70 ns of 200 ns")
    assert_says(texts(trace(acting=40), warning=False)[0], *between, *_BETWEEN, "60 ns")
    little = ("Operations take only", f"25.0 % {_LOOPS}", "50 ns of 200 ns")
    assert_says(
        read(trace(acting=20)).sentence, *little, *_BETWEEN, "80 ns", "annotates", _ANNOTATE
    )


def test_an_operation_that_mostly_waits_is_said_to_wait() -> None:
    """Though its group does not."""
    trace = Relations(
        process=[process(0, 0, 100)],
        breakdown=[
            share(0, "env/reset", "python", 70),
            share(0, "env/step", "wait", 25),
            share(0, "env/step", "python", 5),
        ],
    )
    assert_says(read(trace).sentence, "Simulation", f"100.0 % {LOOP}", "100 ns of 100 ns")
    by_operation = texts(trace, warning=False)[0]
    assert_says(by_operation, "Simulation", "env/reset 70.0 %", "env/step 30.0 % (25.0 % waiting)")


def _uncovered(layer: str = "python", **more: list[dict[str, object]]) -> Relations:
    return Relations(
        process=[process(0, 0, 100), process(1, 0, 100, name="learner")],
        operation=[
            {
                "operation_id": 0,
                "name": "simulation",
                "path": "simulation",
                "depth": 1,
                "source": "automatic",
            }
        ],
        breakdown=[
            share(0, "simulation", "python", 20, source="automatic"),
            share(0, "(none)", layer, 80),
            share(1, "(none)", "none", 100),
        ],
        **more,
    )


_LITTLE = ("Operations take only", f"20.0 % {LOOP}", "20 ns of 100 ns")


def test_operations_that_cover_little_are_said_to_and_why() -> None:
    recognised = (*_LITTLE, "recognised only simulation")
    assert_says(read(_uncovered()).sentence, *recognised, _ANNOTATE)
    assert texts(_uncovered(), warning=True) == []
    calls = [
        {
            "process_id": p,
            "operation": operation,
            "layer": layer,
            "function": function,
            "self_ns": ns,
        }
        for p, operation, layer, function, ns in (
            (0, "(none)", "framework", "tensorflow.python.eager:execute", 20),
            (0, "(none)", "framework", "tensorflow:slice", 20),
            (0, "(none)", "framework", "torch._C:add", 30),
            (0, "(none)", "simulator", "mujoco:step", 90),
            (0, "simulation", "framework", "torch._C:add", 90),
            (1, "(none)", "framework", "torch._C:add", 90),
        )
    ]
    said = read(_uncovered("framework", native_call=calls)).sentence
    assert_says(said, *recognised, "nothing in 80 ns more of its calls of tensorflow", _ANNOTATE)
    assert "tensorflow" not in read(_uncovered(native_call=calls)).sentence
    annotated = Relations(
        process=[process(0, 0, 100)],
        breakdown=[share(0, "simulation", "python", 20), share(0, "(none)", "python", 80)],
    )
    assert_says(read(annotated).sentence, *_LITTLE, "annotates", _ANNOTATE)
    assert "recognised" not in read(annotated).sentence


@pytest.mark.parametrize(
    ("simulation_ns", "recognised"),
    [(10, "only simulation in the program"), (0, "no step of its training")],
)
def test_what_is_no_step_of_training_is_not_recognised_as_one(
    simulation_ns: int, recognised: str
) -> None:
    names = ("simulation", "import", "compilation", "saving")
    trace = Relations(
        process=[process(0, 0, 100)],
        operation=[
            {"operation_id": n, "name": name, "path": name, "depth": 1, "source": "automatic"}
            for n, name in enumerate(names)
        ],
        breakdown=[
            *([share(0, "simulation", "python", 10, source="automatic")] if simulation_ns else []),
            *(share(0, name, "python", 10, source="automatic") for name in names[1:]),
            share(0, "(none)", "python", 60 + (10 - simulation_ns)),
        ],
    )
    assert f"rlscope recognised {recognised}. " in read(trace).sentence


def test_a_loop_that_mostly_waits_says_for_whom() -> None:
    waits = [
        {"process_id": 0, "operation": "(none)", "kind": kind, "self_ns": ns, **peer}
        for kind, ns, peer in (("pipe", 60, {"peer_process_id": 1}), ("gil", 20, {}))
    ]
    mostly = (*_LITTLE, "most", "waiting", "80 ns", "mostly for")
    assert_says(read(_uncovered("wait", wait=waits)).sentence, *mostly, "learner")
    alone = [{"process_id": 0, "operation": "(none)", "kind": "sleep", "self_ns": 80}]
    assert_says(read(_uncovered("wait", wait=alone)).sentence, *mostly, "a timer")


def test_waits_around_the_loop_say_nothing_of_it() -> None:
    """The disk is most of all waits, and half of those in the loop."""
    waits = [
        {"process_id": 0, "stage": stage, "operation": "(none)", "kind": kind, "self_ns": ns}
        for stage, kind, ns in (
            ("start-up", "disk", 50),
            ("loop", "disk", 40),
            ("loop", "sleep", 40),
        )
    ]
    trace = Relations(
        process=[process(0, 0, 170)],
        breakdown=[
            share(0, "(none)", "wait", 70, stage="start-up"),
            share(0, "simulation", "python", 20),
            share(0, "(none)", "wait", 80),
        ],
        wait=waits,
    )
    assert_says(read(trace).sentence, *_LITTLE, "most", "waiting", "80 ns")
    assert "mostly for" not in read(trace).sentence


def test_processes_that_serve_others_or_have_no_loop_are_in_no_share() -> None:
    worker = {"role": "environment worker"}
    trace = Relations(
        process=[
            process(0, 0, 10),
            process(1, 0, 90),
            process(2, 0, 90, **worker),
            process(3, 0, 90, **worker),
            process(4, 0, 90, role="helper"),
        ],
        breakdown=[
            share(0, "a", "python", 10),
            share(1, "(none)", "none", 90),
            share(2, "simulation", "python", 90),
            share(3, "simulation", "python", 90),
            share(4, "(none)", "python", 90),
        ],
    )
    assert_says(read(trace).sentence, "a takes", f"100.0 % {LOOP}", "10 ns of 10 ns")
    assert_says(
        texts(trace, warning=False)[-1],
        *("share", "2 environment workers", "1 helper", "1 process that does not train"),
    )
