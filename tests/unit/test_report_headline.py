"""The answer in words, for the cases a reader meets."""

from __future__ import annotations

from headlines import LOOP, read, texts
from relation_rows import SECOND, Relations, process, share


def _loop(**more: list[dict[str, object]]) -> Relations:
    return Relations(
        process=[process(0, 0, 10 * SECOND)],
        operation=[
            {"operation_id": i, "name": name, "path": name, "depth": 0}
            for i, name in enumerate(("simulation", "backprop"))
        ],
        breakdown=[
            share(0, "simulation", "simulator", 3 * SECOND),
            share(0, "backprop", "framework", 4 * SECOND),
            share(0, "backprop", "python", 2 * SECOND),
            share(0, "(none)", "none", 1 * SECOND),
        ],
        **more,
    )


def test_the_largest_group_with_its_share() -> None:
    assert read(_loop()).sentence == f"Learning takes 60.0 % {LOOP}: 6.00 s of 10.0 s."
    assert texts(_loop(), warning=False) == [
        "Its layers: framework 40.0 %, python 20.0 %.",
        "Then simulation 30.0 %, between operations 10.0 %.",
    ]
    assert texts(_loop(), warning=True) == []


def test_a_forward_pass_is_learning_and_inference_only_inside_it() -> None:
    parts = {
        "simulation": 30,
        "inference": 5,
        "inference/forward": 20,
        "update/forward": 15,
        "update/backprop": 20,
        "update/optimizer": 10,
    }
    trace = Relations(
        process=[process(0, 0, 100)],
        breakdown=[share(0, path, "python", ns) for path, ns in parts.items()],
    )
    assert read(trace).sentence == f"Learning takes 45.0 % {LOOP}: 45 ns of 100 ns."
    assert texts(trace, warning=False) == [
        "Learning is update/backprop 20.0 %, update/forward 15.0 %, update/optimizer 10.0 %.",
        "Its layers: python 45.0 %.",
        "Then simulation 30.0 %, inference 25.0 %.",
    ]


def test_every_share_is_of_one_denominator() -> None:
    """Operations, what lies between them, layers and GPU states: each list adds up to the whole."""
    trace = Relations(
        process=[process(0, 0, 100)],
        breakdown=[
            share(0, "simulation", "simulator", 20),
            share(0, "backprop", "none", 40, gpu_busy=True),
            share(0, "(none)", "python", 15, stage="start-up"),
            share(0, "(none)", "python", 20),
            share(0, "(none)", "python", 5, stage="end"),
        ],
    )
    assert read(trace).sentence == f"Learning takes 50.0 % {LOOP}: 40 ns of 80 ns."
    assert texts(trace, warning=False) == [
        "Its layers: no layer + gpu 50.0 %.",
        "Then between operations 25.0 %, simulation 25.0 %.",
        "Outside the training loop: start-up 15 ns, end 5 ns.",
        "By GPU state: cpu 50.0 %, gpu 50.0 %.",
    ]
    assert texts(trace, warning=True) == [
        "25.0 % lies between operations, where nothing is annotated."
    ]


def test_a_total_of_processes_has_no_value_of_one_process_beside_it() -> None:
    trace = Relations(
        process=[process(i, 0, 10) for i in range(4)],
        breakdown=[share(i, "simulation", "python", 10) for i in range(4)],
        operation=[{"operation_id": 0, "name": "simulation", "path": "simulation", "depth": 0}],
        iteration=[
            {"process_id": 0, "iteration": i, "duration_ns": 5, "complete": True} for i in range(2)
        ],
        operation_instance=[
            {"process_id": 0, "operation_id": 0, "iteration": i, "self_ns": 5} for i in range(2)
        ],
    )
    assert read(trace).sentence == (
        "Simulation takes 100.0 % of the training loops of 4 processes together: 40 ns of 40 ns."
    )


def test_without_operations_it_tells_what_to_do() -> None:
    trace = Relations(process=[process(0, 0, 5)], breakdown=[share(0, "(none)", "python", 5)])
    assert read(trace).sentence == "No operation was annotated or found in 5 ns."
    advice, by_layer = texts(trace, warning=False)
    assert "with rls.operation(name):" in advice
    assert by_layer == "By layer: python 100.0 % of the recorded time."


def test_much_time_between_operations_is_a_warning() -> None:
    trace = Relations(
        process=[process(0, 0, 10)],
        breakdown=[
            share(0, "a", "python", 5),
            share(0, "b", "python", 1),
            share(0, "(none)", "python", 4),
        ],
    )
    assert read(trace).sentence == f"a takes 50.0 % {LOOP}: 5 ns of 10 ns."
    assert texts(trace, warning=True)[0].startswith("40.0 % lies between operations")


def test_a_loss_is_a_warning_and_a_wrong_annotation_is_not() -> None:
    lost = _loop(loss=[{"process_id": 0, "kind": "ring_full", "count": 7}])
    assert texts(lost, warning=True) == [
        "Not everything was recorded (ring_full 7); see Data quality."
    ]
    wrong = _loop(loss=[{"process_id": 0, "kind": "exit_without_enter", "count": 7}])
    assert texts(wrong, warning=True) == []


def test_a_run_that_was_cut_short_says_so_and_when() -> None:
    cut = {"process_id": 0, "kind": "cut", "count": 1, "duration_ns": 5 * SECOND}
    trace = _loop(
        run=[{"start_ns": 0, "end_ns": 10 * SECOND, "cut_ns": 10 * SECOND}],
        loss=[{**cut, "detail": "the disk of the trace is full"}],
    )
    assert read(trace).cut == (
        "Recording was cut short 10.0 s after the start: the disk of the trace is full. "
        "The program went on for 5.00 s, of which nothing is in the trace."
    )
    assert texts(trace, warning=True) == []
    unknown = _loop(run=[{"start_ns": 0, "end_ns": 10}], loss=[{**cut, "duration_ns": None}])
    assert read(unknown).cut == "Recording was cut short 10.0 s after the start."
    assert read(_loop()).cut == ""


def test_processes_that_found_no_drainer_are_cut_short_one_by_one() -> None:
    trace = Relations(
        run=[{"start_ns": 0, "end_ns": 10 * SECOND}],
        process=[process(0, 0, 4 * SECOND), process(1, SECOND, 3 * SECOND)],
        breakdown=[share(0, "a", "python", SECOND)],
        loss=[
            {"process_id": i, "kind": "no_drainer", "count": 1, "duration_ns": i * SECOND}
            for i in range(2)
        ],
    )
    assert read(trace).cut == (
        "Recording of 2 processes was cut short, the first time 3.00 s after the start: the "
        "process that drains the rings was gone, and no other one could be started. The program "
        "went on for 1.00 s, of which nothing is in the trace."
    )


def test_gpu_work_is_summed_up() -> None:
    trace = Relations(
        process=[process(0, 0, 10)],
        breakdown=[share(0, "a", "python", 4), share(0, "a", "none", 6, gpu_busy=True)],
    )
    assert "By GPU state: cpu 40.0 %, gpu 60.0 %." in texts(trace, warning=False)
