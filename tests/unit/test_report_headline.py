"""The answer in words, for the cases a reader meets."""

from __future__ import annotations

from relation_rows import SECOND, Relations, process, share

from rlscope.report import headline


def _read(trace: Relations) -> headline.Headline:
    return headline.read(trace)  # type: ignore[arg-type]


def _texts(trace: Relations, *, warning: bool) -> list[str]:
    return [each.text for each in _read(trace).details if each.warning is warning]


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


_SPAN = "of the time from the first operation to the last"


def test_the_largest_group_with_its_share() -> None:
    assert _read(_loop()).sentence == f"Learning takes 60.0 % {_SPAN}: 6.00 s of 10.0 s."
    assert _texts(_loop(), warning=False) == [
        "Its layers: framework 40.0 %, python 20.0 %.",
        "Then simulation 30.0 %, between operations 10.0 %.",
    ]
    assert _texts(_loop(), warning=True) == []


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
    assert _read(trace).sentence == f"Learning takes 45.0 % {_SPAN}: 45 ns of 100 ns."
    assert _texts(trace, warning=False) == [
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
            share(0, "(none)", "python", 40),
        ],
        outside=[_part("start-up", 15), _part("between", 20), _part("end", 5)],
    )
    assert _read(trace).sentence == f"Learning takes 50.0 % {_SPAN}: 40 ns of 80 ns."
    assert _texts(trace, warning=False) == [
        "Its layers: no layer + gpu 50.0 %.",
        "Then between operations 25.0 %, simulation 25.0 %.",
        "By GPU state: cpu 50.0 %, gpu 50.0 %.",
    ]
    assert _texts(trace, warning=True) == [
        "25.0 % lies between operations, where nothing is annotated."
    ]


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
    first = f"Simulation takes 60.0 % {_SPAN}: 60 ns of 100 ns"
    assert _read(_waiting_loop(31)).sentence == f"{first}, of which 31 ns waiting."
    assert _read(_waiting_loop(30)).sentence == f"{first}."
    assert _texts(_waiting_loop(31), warning=False) == [
        "Its layers: waiting 31.0 %, python 29.0 %.",
        "Then learning 25.0 %, inference 15.0 % (12.0 % waiting).",
    ]


def test_waiting_beside_gpu_work_is_waiting_too() -> None:
    trace = _waiting_loop(40, gpu_busy=True)
    assert _read(trace).sentence.endswith("60 ns of 100 ns, of which 40 ns waiting.")
    assert "Its layers: waiting + gpu 40.0 %, python 20.0 %." in _texts(trace, warning=False)
    states = "By GPU state: cpu 38.0 %, gpu 40.0 %, waiting 22.0 %."
    assert states in _texts(trace, warning=False)


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
    assert _read(trace).sentence == f"Simulation takes 100.0 % {_SPAN}: 100 ns of 100 ns."
    assert _texts(trace, warning=False)[0] == (
        "Simulation is env/reset 70.0 %, env/step 30.0 % (25.0 % waiting)."
    )


def _part(part: str, duration_ns: int, process_id: int = 0) -> dict[str, object]:
    row = {"process_id": process_id, "part": part, "layer": "python", "gpu_busy": False}
    return {**row, "duration_ns": duration_ns}


def _short(startup_ns: int, end_ns: int) -> Relations:
    return Relations(
        process=[process(0, 0, 10 + startup_ns + end_ns)],
        breakdown=[
            share(0, "simulation", "python", 10),
            share(0, "(none)", "python", startup_ns + end_ns),
        ],
        outside=[_part("start-up", startup_ns), _part("end", end_ns)],
    )


def test_a_short_run_says_first_that_it_is_mostly_start_up() -> None:
    sentence = _read(_short(80, 10)).sentence
    assert sentence.startswith("Start-up takes 80.0 % of the recorded time: 80 ns of 100 ns. ")
    assert sentence.endswith(f"Simulation takes 100.0 % {_SPAN}: 10 ns of 10 ns.")
    both = _read(_short(9, 9)).sentence
    assert both.startswith("Start-up and end take 64.3 % of the recorded time: 18 ns of 28 ns. ")
    assert _read(_short(5, 5)).sentence.startswith("Simulation takes")


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
    assert _read(trace).sentence == (
        f"Simulation takes 100.0 % {_SPAN}, of 4 processes together: 40 ns of 40 ns."
    )


def test_without_operations_it_tells_what_to_do() -> None:
    trace = Relations(process=[process(0, 0, 5)], breakdown=[share(0, "(none)", "python", 5)])
    assert _read(trace).sentence == "No operation was annotated or found in 5 ns."
    advice, by_layer = _texts(trace, warning=False)
    assert "with rls.operation(name):" in advice
    assert by_layer == "By layer: python 100.0 % of the recorded time."


def test_much_time_between_operations_is_a_warning() -> None:
    trace = Relations(
        process=[process(0, 0, 10)],
        breakdown=[
            share(0, "a", "python", 3),
            share(0, "b", "python", 1),
            share(0, "(none)", "python", 6),
        ],
    )
    assert _read(trace).sentence == (
        f"Time between operations takes 60.0 % {_SPAN}: 6 ns of 10 ns."
    )
    assert "Then a 30.0 %, b 10.0 %." in _texts(trace, warning=False)
    assert _texts(trace, warning=True)[0].startswith("60.0 % lies between operations")


def test_processes_without_operations_are_not_counted_and_named() -> None:
    trace = Relations(
        process=[process(0, 0, 10), process(1, 0, 90)],
        breakdown=[share(0, "a", "python", 10), share(1, "(none)", "none", 90)],
    )
    assert _read(trace).sentence == f"a takes 100.0 % {_SPAN}: 10 ns of 10 ns."
    assert "1 process with operations" in _texts(trace, warning=False)[-1]


def test_a_loss_is_a_warning_and_a_wrong_annotation_is_not() -> None:
    lost = _loop(loss=[{"process_id": 0, "kind": "ring_full", "count": 7}])
    assert _texts(lost, warning=True) == [
        "Not everything was recorded (ring_full 7); see Data quality."
    ]
    wrong = _loop(loss=[{"process_id": 0, "kind": "exit_without_enter", "count": 7}])
    assert _texts(wrong, warning=True) == []


def test_a_run_that_was_cut_short_says_so_and_when() -> None:
    cut = {"process_id": 0, "kind": "cut", "count": 1, "duration_ns": 5 * SECOND}
    trace = _loop(
        run=[{"start_ns": 0, "end_ns": 10 * SECOND, "cut_ns": 10 * SECOND}],
        loss=[{**cut, "detail": "the disk of the trace is full"}],
    )
    assert _read(trace).cut == (
        "Recording was cut short 10.0 s after the start: the disk of the trace is full. "
        "The program went on for 5.00 s, of which nothing is in the trace."
    )
    assert _texts(trace, warning=True) == []
    unknown = _loop(run=[{"start_ns": 0, "end_ns": 10}], loss=[{**cut, "duration_ns": None}])
    assert _read(unknown).cut == "Recording was cut short 10.0 s after the start."
    assert _read(_loop()).cut == ""


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
    assert _read(trace).cut == (
        "Recording of 2 processes was cut short, the first time 3.00 s after the start: the "
        "process that drains the rings was gone, and no other one could be started. The program "
        "went on for 1.00 s, of which nothing is in the trace."
    )


def test_gpu_work_is_summed_up() -> None:
    trace = Relations(
        process=[process(0, 0, 10)],
        breakdown=[share(0, "a", "python", 4), share(0, "a", "none", 6, gpu_busy=True)],
    )
    assert "By GPU state: cpu 40.0 %, gpu 60.0 %." in _texts(trace, warning=False)
