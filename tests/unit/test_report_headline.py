"""The answer in words, for the cases a reader meets."""

from __future__ import annotations

import pytest
from support.files.facts import assert_says
from support.files.headlines import LOOP, read, texts
from support.files.relation_rows import SECOND, Relations, process, share

from rlscope.report import answer
from rlscope.report.renderers.terminal import render_summary


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
    assert_says(read(_loop()).sentence, "Learning", f"60.0 % {LOOP}", "6.00 s of 10.0 s")
    by_layer, others = texts(_loop(), warning=False)
    assert_says(by_layer, "Learning", "framework 40.0 %", "python 20.0 %")
    assert_says(others, "simulation 30.0 %", "between operations 10.0 %")
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
    assert_says(read(trace).sentence, "Learning", f"45.0 % {LOOP}", "45 ns of 100 ns")
    by_operation, by_layer, others = texts(trace, warning=False)
    assert_says(
        by_operation,
        *("Learning", "update/backprop 20.0 %", "update/forward 15.0 %", "update/optimizer 10.0 %"),
    )
    assert_says(by_layer, "python 45.0 %")
    assert_says(others, "simulation 30.0 %", "inference 25.0 %")


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
    assert_says(read(trace).sentence, "Learning", f"50.0 % {LOOP}", "40 ns of 80 ns")
    by_layer, others, outside, states = texts(trace, warning=False)
    assert_says(by_layer, "no layer + gpu 50.0 %")
    assert_says(others, "between operations 25.0 %", "simulation 25.0 %")
    assert_says(outside, "outside", "start-up 15 ns", "end 5 ns")
    assert_says(states, "cpu 50.0 %", "gpu 50.0 %")
    (between,) = texts(trace, warning=True)
    assert_says(between, "25.0 % of the time lies between operations.")


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
    together = "100.0 % of the training loops of 4 processes together"
    few = ("completed only 2 iterations", "5 ns", "20", "100 ns")
    assert_says(read(trace).sentence, *few, "Simulation", together, "40 ns of 40 ns")


def _of_length(startup: int, loop: int, *iterations: int, **run: str) -> Relations:
    """A loop of inference between start-up and an end of 1 s."""
    return Relations(
        run=[{"start_ns": 0, "end_ns": 0, **run}],
        process=[process(0, 0, startup + loop + SECOND)],
        breakdown=[
            share(0, "import", "python", startup, stage="start-up"),
            share(0, "inference", "framework", loop),
            share(0, "(none)", "none", SECOND, stage="end"),
        ],
        iteration=[
            {"process_id": 0, "iteration": i, "duration_ns": ns, "complete": True}
            for i, ns in enumerate(iterations)
        ],
    )


_INFERENCE = ("Inference", f"100.0 % {LOOP}")


def test_a_run_that_is_nearly_all_start_up_says_first_how_much_longer_it_has_to_be() -> None:
    """The loop is a tenth of a run as long as that: 10 s, of iterations of 250 ms."""
    loop = 3 * SECOND // 4
    trace = _of_length(89 * SECOND, loop, *[SECOND // 4] * 3)
    assert_says(
        read(trace).sentence,
        *("too short", "start-up takes 90.0 s of 90.8 s", "the loop 750 ms in 3 iterations"),
        *("40 iterations or more", "10.0 s"),
        *_INFERENCE,
        "750 ms of 750 ms",
    )
    assert_says(
        read(_of_length(SECOND // 10, SECOND // 200)).sentence,
        *("too short", "end", "1.10 s of 1.10 s", "the loop 5.00 ms", "122 ms"),
        *_INFERENCE,
        "5.00 ms of 5.00 ms",
    )


def test_a_loop_of_few_iterations_says_so_before_its_largest_group() -> None:
    trace = _of_length(SECOND, 8 * SECOND, *[SECOND] * 7)
    assert_says(
        read(trace).sentence,
        *("completed only 7 iterations", "1.00 s", "20 or more", "20.0 s"),
        *_INFERENCE,
        "8.00 s of 8.00 s",
    )


def test_games_between_the_updates_are_time_of_an_iteration() -> None:
    """Without an environment an iteration is an update."""
    trace = _of_length(SECOND, 8 * SECOND, *[SECOND // 4] * 4)
    assert_says(
        read(trace).sentence,
        *("completed only 4 iterations", "2.00 s", "20 or more", "40.0 s"),
        *_INFERENCE,
        "8.00 s of 8.00 s",
    )


def test_a_run_that_is_long_enough_begins_with_its_largest_group() -> None:
    loop = 8 * SECOND
    enough = [SECOND // 10] * 20
    for trace in (_of_length(SECOND, loop, *enough), _of_length(SECOND, loop)):
        assert_says(read(trace).sentence, *_INFERENCE, "8.00 s of 8.00 s")


def test_steps_that_another_tool_recorded_are_as_many_as_were_asked_for() -> None:
    trace = _of_length(SECOND, 8 * SECOND, *[SECOND] * 7, imported="torch.profiler")
    assert_says(read(trace).sentence, *_INFERENCE, "8.00 s of 8.00 s")


def test_without_operations_it_tells_what_to_do() -> None:
    trace = Relations(process=[process(0, 0, 5)], breakdown=[share(0, "(none)", "python", 5)])
    assert_says(read(trace).sentence, "no operation", "5 ns")
    advice, by_layer = texts(trace, warning=False)
    assert "with rls.operation(name):" in advice
    assert_says(by_layer, "python 100.0 % of the recorded time")


def test_a_loss_is_a_warning_and_a_wrong_annotation_is_not() -> None:
    lost = _loop(loss=[{"process_id": 0, "kind": "ring_full", "count": 7}])
    (said,) = texts(lost, warning=True)
    assert_says(said, "ring_full 7", "Data quality")
    wrong = _loop(loss=[{"process_id": 0, "kind": "exit_without_enter", "count": 7}])
    assert texts(wrong, warning=True) == []


def test_a_run_that_was_cut_short_says_so_and_when() -> None:
    cut = {"process_id": 0, "kind": "cut", "count": 1, "duration_ns": 5 * SECOND}
    trace = _loop(
        run=[{"start_ns": 0, "end_ns": 10 * SECOND, "cut_ns": 10 * SECOND}],
        loss=[{**cut, "detail": "the disk of the trace is full"}],
    )
    cut_short = ("Recording was cut short", "10.0 s after the start")
    assert_says(read(trace).cut, *cut_short, "the disk of the trace is full", "5.00 s", "trace")
    assert texts(trace, warning=True) == []
    unknown = _loop(run=[{"start_ns": 0, "end_ns": 10}], loss=[{**cut, "duration_ns": None}])
    assert_says(read(unknown).cut, *cut_short)
    assert "went on" not in read(unknown).cut
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
    assert_says(
        read(trace).cut,
        *("2 processes", "cut short", "3.00 s after the start", "drains the rings", "1.00 s"),
    )


def test_gpu_work_is_summed_up() -> None:
    trace = Relations(
        process=[process(0, 0, 10)],
        breakdown=[share(0, "a", "python", 4), share(0, "a", "none", 6, gpu_busy=True)],
    )
    assert_says(texts(trace, warning=False)[-1], "GPU state", "cpu 40.0 %", "gpu 60.0 %")


def _runnable(*threads: tuple[int, int | None], role: str = "main") -> Relations:
    """A trainer, and threads of another process: (process_id, ns of 100 without a CPU)."""
    return Relations(
        process=[process(0, 0, 100, role="main"), process(1, 0, 100, role=role)],
        breakdown=[share(0, "a", "python", 100), share(1, "b", "python", 100)],
        thread=[
            {"thread_id": i, "process_id": p, "runnable_ns": ns, "measured_ns": ns and 100}
            for i, (p, ns) in enumerate(threads)
        ],
        breakdown_by_thread=[
            {"thread_id": i, "process_id": p, "operation": "a", "duration_ns": 1}
            for i, (p, _) in enumerate(threads)
        ],
    )


def test_a_program_that_lacked_a_cpu_says_so_before_anything_else() -> None:
    worker = "environment worker"
    trace = _runnable((0, 11), (1, 4), role=worker)
    (said,) = read(trace).first
    assert_says(said, "program lacked a CPU for 11 ns of 100 ns")
    (said,) = read(_runnable((0, 4), (1, 11), (1, 12), role=worker)).first
    assert_says(said, "1 environment worker", "lacked a CPU for 23 ns of 200 ns")
    (said,) = read(_runnable((0, 11), (1, 10))).first
    assert_says(said, "2 processes", "lacked a CPU for 21 ns of 200 ns")
    (said,) = read(_runnable((0, 11), (0, 10))).first
    assert_says(said, "2 threads", "lacked a CPU for 21 ns of 200 ns")


def test_a_program_that_had_its_cpu_or_was_not_counted_says_nothing() -> None:
    for trace in (
        _runnable((0, 10), (1, 10)),
        _runnable((0, None)),
        _runnable((1, 90), role="helper"),
    ):
        assert read(trace).first == []


def _failed(*operations: str, code: int = 1, note: str = "", **run: str) -> Relations:
    return Relations(
        run=[{"start_ns": 0, "end_ns": 10, **run}],
        process=[process(0, 0, 10, role="main", exit=code), process(1, 0, 10, exit=7)],
        breakdown=[share(0, name, "framework", 10) for name in operations],
        metadata=[{"process_id": 0, "key": "rlscope.failure", "value": note}] if note else [],
    )


_NOTE = (
    '{"type": "ValueError", "message": "too \\u001b[31m few.", "file": "/a/b/train.py", "line": 12}'
)
_FAILED = ("failed before its first update", "shares mean nothing", "exit code 1")


def test_a_program_that_failed_before_its_first_update_has_no_share_in_its_first_sentence() -> None:
    said = read(_failed("simulation", "inference", note=_NOTE)).sentence
    assert_says(said, *_FAILED, "train.py line 12", "ValueError: too \\x1b[31m few")
    assert said.endswith(" few.")
    assert_says(read(_failed("simulation")).sentence, *_FAILED)
    for broken in ("{", "[]", '{"type": 3, "line": "x"}'):
        assert read(_failed("simulation", note=broken)).sentence.count("exit code 1") == 1


def test_a_program_that_failed_without_a_loop_says_its_error_alone() -> None:
    trace = _failed("(none)", note=_NOTE)
    said = read(trace)
    assert_says(said.sentence, "exit code 1", "train.py line 12", "ValueError: too \\x1b[31m few")
    assert said.busy == []
    assert not any("rls.operation" in each.text for each in said.details)
    assert answer.read(trace).sentence == ""  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("kind", "code", "said"),
    [("KeyboardInterrupt", None, "interrupted"), ("ValueError", 1, "failed with exit code 1")],
)
def test_the_line_of_the_run_says_how_it_ended(kind: str, code: int | None, said: str) -> None:
    note = _NOTE.replace("ValueError", kind)
    run = read(_failed("backprop", code=code, note=note, name="a")).run  # type: ignore[arg-type]
    assert said in run.split(" · ")
    assert "ended" not in read(_failed("backprop", code=0)).run


def test_the_page_names_run_date_host_and_version() -> None:
    trace = Relations(
        run=[
            {
                "name": "ppo",
                "start_time": "2026-11-29T23:17:14.680806+01:00",
                "version": "0.1.0",
                "start_ns": 0,
                "end_ns": 9,
            }
        ],
        host=[{"name": "box"}, {"name": "box"}, {"name": "other"}],
    )
    said = read(trace).about
    assert_says(said, "ppo", "2026-11-29 22:17 UTC", "host box", "1 more", "rlscope 0.1.0")
    assert read(Relations()).about == ""


def test_a_failure_that_may_have_come_after_updates_is_said_before_the_largest_group() -> None:
    largest = ("fit takes", f"100.0 % {LOOP}", "10 ns of 10 ns")
    assert_says(read(_failed("fit")).sentence, "exit code 1", *largest)
    assert_says(read(_failed("fit", code=0)).sentence, *largest)
    assert_says(read(_failed("fit", imported="nsys")).sentence, *largest)
    learned = ("Learning", f"100.0 % {LOOP}", "10 ns of 10 ns")
    assert_says(read(_failed("backprop")).sentence, *learned)


def _polled(polled: float, cpu_ns: int) -> list[dict[str, object]]:
    """Rows of `utilisation` of a machine of two cores, read for ten seconds."""
    machine = {"host_id": 0, "kind": "machine", "duration_ns": 10 * SECOND}
    cores = [{"host_id": 0, "kind": "core", "core": core} for core in (0, 1)]
    return [{**machine, "polled_percent": polled, "cpu_ns": cpu_ns}, *cores]


def test_a_machine_that_others_kept_busy_is_said_first() -> None:
    rows = {"process": [process(0, 0, 9)], "breakdown": [share(0, "a", "python", 9)]}
    crowded = Relations(**rows, utilisation=_polled(100.0, 8 * SECOND))
    assert_says(read(crowded).first[0], "100 % busy", "40 %")
    alone = Relations(**rows, utilisation=_polled(100.0, 19 * SECOND))
    assert read(alone).first == []
    lacked = {"thread_id": 0, "process_id": 0, "runnable_ns": 2, "measured_ns": 9}
    worked = {"thread_id": 0, "process_id": 0, "operation": "a", "duration_ns": 1}
    both = Relations(
        **rows,
        utilisation=_polled(100.0, 8 * SECOND),
        thread=[lacked],
        breakdown_by_thread=[worked],
    )
    (said,) = read(both).first
    assert_says(said, "100 % busy", "40 %", "lacked a CPU for 2 ns of 9 ns")
    text = render_summary(crowded, width=200, unicode=True)
    assert_says(text.partition("\n")[0], "100 % busy", "40 %")
