"""The training loop in words: who waits for whom, what lies around it, which worker is late."""

from __future__ import annotations

from typing import Any

import pytest
from support.files.facts import assert_says
from support.files.headlines import LOOP, read, texts
from support.files.relation_rows import Relations, process, share

from rlscope.report import loop_sentences, shares

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


def test_what_lies_outside_the_loop_is_one_sentence_with_its_own_numbers() -> None:
    trace = Relations(
        process=[process(0, 0, 1040)],
        breakdown=[
            share(0, "(none)", "none", 200, stage="start-up"),
            share(0, "import", "python", 300, stage="start-up"),
            share(0, "evaluation/simulation", "python", 95, stage="start-up"),
            share(0, "evaluation", "python", 2, stage="start-up"),
            share(0, "compilation", "python", 3, stage="start-up"),
            share(0, "simulation", "python", 20),
            share(0, "compilation", "python", 20, stage="warm-up"),
            share(0, "setup/a", "python", 10, stage="warm-up"),
            share(0, "(none)", "python", 390, stage="end"),
        ],
    )
    assert_says(read(trace).sentence, "Simulation", f"100.0 % {LOOP}", "20 ns of 20 ns")
    assert_says(
        texts(trace, warning=False)[-1],
        *("outside", "start-up 600 ns", "import 300 ns", "before the first step 200 ns"),
        *("evaluation 97 ns", "warm-up 30 ns", "compilation 20 ns", "setup 10 ns", "end 390 ns"),
    )


def _ending(*layers: tuple[str, int], python_end_ns: int | None) -> Relations:
    """A loop up to 500 ns, and an end of these layers up to 1,000 ns."""
    return Relations(
        process=[process(0, 0, 1000, python_end_ns=python_end_ns)],
        breakdown=[
            share(0, "simulation", "python", 500),
            share(0, "saving", "python", 20, stage="end"),
            *(share(0, "(none)", layer, ns, stage="end") for layer, ns in layers),
        ],
    )


@pytest.mark.parametrize(
    ("none_ns", "python_end_ns", "said"),
    [
        (400, 600, ("shutdown", "400 ns", "50 ns", "saving 20 ns")),
        (400, 700, ("shutdown", "300 ns", "150 ns", "saving 20 ns")),
        (300, 400, ("shutdown", "300 ns", "150 ns", "saving 20 ns")),
        (400, None, ("450 ns", "saving 20 ns")),
        (400, 1100, ("450 ns", "saving 20 ns")),
        (0, 600, ("450 ns", "saving 20 ns")),
    ],
)
def test_the_end_tells_the_shutdown_from_what_the_program_still_does(
    none_ns: int, python_end_ns: int | None, said: tuple[str, ...]
) -> None:
    """Nothing of Python after its exit functions, and only time in no layer."""
    layers = [("python", 450 - none_ns), *([("none", none_ns)] if none_ns else [])]
    text = texts(_ending(*layers, python_end_ns=python_end_ns), warning=False)[-1]
    assert_says(text, "end 470 ns", *said)


def test_start_up_that_waits_says_so() -> None:
    """As for a dataset that is fetched, or for processes that start."""
    trace = Relations(
        process=[process(0, 0, 1000)],
        breakdown=[
            share(0, "(none)", "wait", 200, stage="start-up"),
            share(0, "import", "python", 300, stage="start-up"),
            share(0, "import", "wait", 100, stage="start-up"),
            share(0, "simulation", "python", 10),
            share(0, "(none)", "python", 380, stage="end"),
            share(0, "(none)", "wait", 10, stage="end"),
        ],
    )
    assert_says(
        texts(trace, warning=False)[-1],
        *("start-up 600 ns", "300 ns", "waiting", "import 400 ns", "before the first step 200 ns"),
        "end 390 ns",
    )


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
    assert_says(said, *recognised, "nothing in its calls of tensorflow", "80 ns", _ANNOTATE)
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
        *("share", "2 environment workers", "1 helper", "1 process without a training loop"),
    )


def test_workers_count_where_no_other_process_has_a_loop() -> None:
    trace = Relations(
        process=[process(0, 0, 10), process(1, 0, 90, role="environment worker")],
        breakdown=[share(0, "(none)", "none", 10), share(1, "simulation", "python", 90)],
    )
    assert_says(read(trace).sentence, "Simulation", f"100.0 % {LOOP}", "90 ns of 90 ns")


def _vector(
    late_ns: int, begins_ns: int = 0, pickles: bool = True, first_ns: int = 10, **more: Any
) -> Relations:
    """Two steps of 100 ns: worker 1 steps from 20 to 30 ns of it, worker 2 from 25 ns, or so much
    later, for 5 ns and so much more."""
    starts = (0, 200)
    return Relations(
        process=[
            process(0, 0, 400, name="train.py", role="main", host_id=0),
            process(1, 0, 400, name="env worker 0", role="environment worker"),
            process(2, 0, 400, name="env worker 1", role="environment worker"),
        ],
        operation=[
            {"operation_id": 0, "name": "simulation", "path": "simulation", "depth": 0},
        ],
        operation_instance=[
            {
                "process_id": p,
                "operation_id": 0,
                "iteration": i if p == 0 else None,
                "start_ns": start + at,
                "duration_ns": ns,
            }
            for i, start in enumerate(starts)
            for p, at, ns in ((0, 0, 100), (1, 20, first_ns), (2, 25 + begins_ns, 5 + late_ns))
        ],
        iteration=[
            {
                "process_id": 0,
                "iteration": i,
                "start_ns": start,
                "duration_ns": ns,
                "complete": True,
                "source": "automatic",
            }
            for i, (start, ns) in enumerate(zip(starts, (110, 200), strict=True))
        ],
        breakdown=[
            share(0, "simulation", "wait", 200),
            share(1, "simulation", "python", 20),
            share(1, "(none)", "python", 60),
            share(2, "simulation", "python", 10 + 2 * late_ns),
        ],
        wait=[
            {
                "process_id": 0,
                "operation": "simulation",
                "kind": "pipe",
                "peer_process_id": p,
                "self_ns": 100,
            }
            for p in (1, 2)
        ],
        native_call=[
            {
                "process_id": p,
                "operation": operation,
                "function": function,
                "layer": "python",
                "duration_ns": ns,
            }
            for p, operation, function, ns in (
                (0, "simulation", "pickle:loads", 8),
                (0, "simulation", "pickle:Pickler.dump", 4),
                (1, "(none)", "pickle:loads", 9),
                (2, "(none)", "pickle:loads", 5),
            )
            if pickles
        ],
        **more,
    )


def test_a_vector_of_environments_says_what_its_workers_did_meanwhile() -> None:
    assert_says(
        read(_vector(20)).sentence,
        *("completed only 2 iterations", "155 ns", "20", "3.10 µs"),
        *("Simulation", f"100.0 % {LOOP}", "200 ns of 200 ns"),
        *("200 ns", "waiting", "mostly for 2 environment workers"),
    )
    steps, straggler = texts(_vector(20), warning=False)[1:3]
    stepped = ("train.py", "200 ns", "simulation", "60 ns", "30.0 %", "at least one of its 2")
    less = ("2 workers step", "70 ns", "130 ns less")
    assert_says(steps, *stepped, "pickling (train.py 12 ns, each worker up to 9 ns)", *less)
    unknown = texts(_vector(20, pickles=False), warning=False)[1]
    assert_says(unknown, *stepped, "pickling, pipes", *less)
    slow = ("env worker 1", "straggler", "50 ns", "20 ns")
    assert_says(straggler, *slow, "30 ns to 80 ns less", "2 workers share the cores")
    none = texts(_vector(2), warning=False)[2]
    assert_says(none, "no worker is a straggler", "20 ns", "14 ns")
    begins_later = texts(_vector(2, begins_ns=50), warning=False)[2]
    late = ("100.0 %", "2 steps", "104 ns after")
    assert_says(begins_later, "env worker 1", *late, "begins later")
    assert "straggler" not in begins_later


def test_what_a_straggler_costs_depends_on_the_cores() -> None:
    """Worker 0 steps from 20 to 60 ns, and worker 1 for one nanosecond after that."""

    def said(cores: int | None) -> str:
        trace = _vector(-4, begins_ns=40, first_ns=40, host=[{"host_id": 0, "cores": cores}])
        return texts(trace, warning=False)[2]

    slow = ("env worker 0", "straggler", "80 ns", "2 ns")
    assert_says(said(2), *slow, "0 ns to 118 ns less", "2 workers share 2 cores")
    assert_says(said(None), *slow, "0 ns to 118 ns less", "2 workers share the cores")
    assert_says(said(3), *slow, "0 ns less")


def test_rolled_up_steps_are_in_no_sentence() -> None:
    """Records of one worker were kept from 150 ns on, after the first step."""
    loss = [{"process_id": 1, "kind": "rolled_up", "count": 2, "duration_ns": 150}]
    sentences = texts(_vector(20, loss=loss), warning=False)
    assert_says(
        sentences[1],
        *("train.py", "100 ns", "1 instance of simulation", "kept", "30 ns", "30.0 %"),
        *("at least one of its 2 environment workers", "pickling, pipes"),
        *("2 workers step", "35 ns", "65 ns less"),
    )


def _iterations(*waited_ns: int) -> list[dict[str, Any]]:
    """Rows of `iteration_breakdown`: how long simulation waits in each."""
    return [
        {
            "process_id": 0,
            "iteration": iteration,
            "iteration_source": "automatic",
            "complete": True,
            "operation": "simulation",
            "layer": "wait",
            "duration_ns": ns,
        }
        for iteration, ns in enumerate(waited_ns)
    ]


@pytest.mark.parametrize(
    ("waited_ns", "facts"),
    [
        ((56, 101), ("train.py waits", "2 environment workers", "each of its 2 iterations")),
        ((56, 100), ("train.py waits", "2 environment workers", "1 of its 2 iterations", "1")),
        ((55, 0), ("train.py", "own work", "each of its 2 iterations")),
    ],
)
def test_most_of_an_iteration_is_waiting_or_own_work(
    waited_ns: tuple[int, ...], facts: tuple[str, ...]
) -> None:
    """One iteration takes 110 ns, and one 200 ns."""
    said = texts(_vector(20, iteration_breakdown=_iterations(*waited_ns)), warning=False)
    assert_says(said[3], *facts)
    own_work = texts(_vector(20, iteration_breakdown=_iterations(20, 0)), warning=False)
    assert not any("iteration" in text for text in own_work)


def test_a_stage_says_what_it_waited_for() -> None:
    rows = [
        {"stage": stage, "operation": None, "duration_ns": 40, "stage_ns": 40}
        | {"stage_waited_ns": 30}
        for stage in ("start-up", "end")
    ]
    of_none = {"role": None, "family": None, "name": None, "last_name": None, "peers": None}
    waited = [
        {"stage": "start-up", "operation": "import", "kind": "disk", "share": 1.0} | of_none,
        {"stage": "start-up", "operation": None, "kind": "sleep", "share": 0.6} | of_none,
        {"stage": "end", "operation": None, "kind": "gil", "share": 0.5} | of_none,
    ]
    (said,) = loop_sentences.around(rows, waited, {"looping_processes": 1})
    start_up = ("start-up 40 ns", "30 ns of that waiting, mostly for a timer (sleep or timeout)")
    assert_says(said, *start_up, "end 40 ns", "30 ns of that waiting")
    assert "GIL" not in said and "disk" not in said


def test_start_up_of_several_processes_is_called_a_sum() -> None:
    rows = [
        {"stage": "start-up", "operation": None, "duration_ns": 40, "stage_ns": 40}
        | {"stage_waited_ns": 0}
    ]
    (one,) = loop_sentences.around(rows, [], {"looping_processes": 1})
    (several,) = loop_sentences.around(rows, [], {"looping_processes": 3})
    assert "together" not in one
    assert_says(several, "3 processes together", "start-up 40 ns")
    facts = {"startup_ns": 40, "warmup_ns": 0, "end_ns": 0, "not_recorded_ns": 0}
    (left_out,) = shares.left_out({**facts, "looping_processes": 3})
    assert_says(left_out, "40 ns", "added up over 3 processes")
