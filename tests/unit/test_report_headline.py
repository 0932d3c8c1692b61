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


def test_the_largest_operation_with_its_share() -> None:
    assert _read(_loop()).sentence == "backprop takes 60.0 % of the time: 6.00 s of 10.0 s."
    assert _texts(_loop(), warning=False) == [
        "Its time by layer: framework 66.7 %, python 33.3 %.",
        "Then simulation 30.0 %.",
    ]
    assert _texts(_loop(), warning=True) == []


def test_its_cost_in_an_iteration() -> None:
    trace = _loop(
        iteration=[
            {"process_id": 0, "iteration": i, "duration_ns": SECOND, "complete": i < 4}
            for i in range(5)
        ],
        operation_instance=[
            {"process_id": 0, "operation_id": 1, "iteration": i, "self_ns": SECOND // 2}
            for i in range(4)
        ],
    )
    assert _read(trace).sentence.endswith("6.00 s of 10.0 s, 500 ms in each of 4 iterations.")


def test_without_operations_it_tells_what_to_do() -> None:
    trace = Relations(process=[process(0, 0, 5)], breakdown=[share(0, "(none)", "python", 5)])
    assert "with rls.operation(name):" in _read(trace).sentence


def test_much_time_outside_operations_is_a_warning() -> None:
    trace = Relations(
        process=[process(0, 0, 10)],
        breakdown=[
            share(0, "a", "python", 3),
            share(0, "b", "python", 1),
            share(0, "(none)", "python", 6),
        ],
    )
    assert _read(trace).sentence == "a takes 75.0 % of the time in operations: 3 ns of 4 ns."
    assert "Then b 25.0 %." in _texts(trace, warning=False)
    assert _texts(trace, warning=True)[0].startswith("60.0 % of all time lies outside")


def test_processes_without_operations_are_not_counted_and_named() -> None:
    trace = Relations(
        process=[process(0, 0, 10), process(1, 0, 90)],
        breakdown=[share(0, "a", "python", 10), share(1, "(none)", "none", 90)],
    )
    assert _read(trace).sentence == "a takes 100.0 % of the time: 10 ns of 10 ns."
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
