"""Where each word begins: values on both sides of every threshold."""

from __future__ import annotations

from typing import Any

import pytest

from rlscope.analysis import line_verdicts, process_verdicts, verdicts
from rlscope.analysis.groups import BETWEEN_OPERATIONS, WAITING_BETWEEN
from rlscope.analysis.process_verdicts import Lateness
from rlscope.analysis.verdicts import Brevity, Failure, Subject, Uncovered

LOOP = {"looping_processes": 1, "span_ns": 1000, "between_ns": 0, "inside_ns": 1000}


def times(**groups: int) -> list[dict[str, Any]]:
    """Rows of `group_time`, of 1,000 ns."""
    named = {"waiting": WAITING_BETWEEN, "between": BETWEEN_OPERATIONS}
    return [
        {"group": named.get(group, group), "group_ns": ns, "whole_ns": 1000}
        for group, ns in groups.items()
    ]


def test_most_is_more_than_half() -> None:
    assert verdicts.is_most(51, 100)
    assert not verdicts.is_most(50, 100)


@pytest.mark.parametrize(
    ("between_ns", "waiting_ns", "subject"),
    [
        (500, 0, Subject.LARGEST),
        (501, 0, Subject.UNCOVERED),
        (700, 400, Subject.LARGEST),  # 300 of 600
        (701, 400, Subject.UNCOVERED),
    ],
)
def test_a_loop_is_uncovered_by_what_is_left_without_its_waits(
    between_ns: int, waiting_ns: int, subject: Subject
) -> None:
    facts = {**LOOP, "between_ns": between_ns}
    assert verdicts.subject(times(learning=1, waiting=waiting_ns), facts) is subject


def test_without_rows_or_without_a_loop_there_is_no_group_to_name() -> None:
    assert verdicts.subject([], LOOP) is Subject.NOTHING
    assert verdicts.subject(times(learning=1), {**LOOP, "looping_processes": 0}) is Subject.NO_LOOP


@pytest.mark.parametrize(
    ("waiting_ns", "found_ns", "why"),
    [
        (301, 0, Uncovered.WAITING),
        (301, 400, Uncovered.WAITING),
        (300, 201, Uncovered.NOT_RECOGNISED),
        (300, 200, Uncovered.NOT_ANNOTATED),
    ],
)
def test_why_operations_take_little(waiting_ns: int, found_ns: int, why: Uncovered) -> None:
    facts = {**LOOP, "between_ns": 600, "inside_ns": 400}
    assert verdicts.why_uncovered(waiting_ns, [{"loop_ns": found_ns}], facts) is why


def test_time_between_operations_is_worth_a_word_above_a_fifth_of_the_loop() -> None:
    facts = {**LOOP, "between_ns": 300}
    assert verdicts.is_between_notable(times(learning=1, waiting=99), facts)
    assert not verdicts.is_between_notable(times(learning=1, waiting=100), facts)


def test_small_shares_are_not_named() -> None:
    assert verdicts.is_waiting_notable(times(learning=1, waiting=11))
    assert not verdicts.is_waiting_notable(times(learning=1, waiting=10))
    assert verdicts.is_framework_notable(11, 100)
    assert not verdicts.is_framework_notable(10, 100)
    pauses = [{"why": None, "duration_ns": 10}, {"why": "later", "duration_ns": 90}]
    assert verdicts.are_pauses_notable(pauses, {"span_ns": 999})
    assert not verdicts.are_pauses_notable(pauses, {"span_ns": 1000})
    assert verdicts.is_pair_named(2, 100)
    assert not verdicts.is_pair_named(1, 100)
    assert verdicts.is_cpu_lacking(11, 100)
    assert not verdicts.is_cpu_lacking(10, 100)
    assert verdicts.is_compilation_notable(10, 100)
    assert not verdicts.is_compilation_notable(9, 100)
    assert verdicts.is_loop_opaque(90, 100)
    assert not verdicts.is_loop_opaque(89, 100)
    assert verdicts.is_blocking_notable(10, 100)
    assert not verdicts.is_blocking_notable(9, 100)
    assert verdicts.is_outside_named(6, 100)
    assert not verdicts.is_outside_named(5, 100)
    assert verdicts.is_group_named(2, 1000)
    assert not verdicts.is_group_named(1, 1000)
    assert verdicts.is_stage_waiting(11, 100)
    assert not verdicts.is_stage_waiting(10, 100)
    assert verdicts.is_part_named(2, 100)
    assert not verdicts.is_part_named(1, 100)


@pytest.mark.parametrize(
    ("outside_ns", "iterations", "brevity"),
    [
        (98_999, 20, Brevity.LONG_ENOUGH),
        (98_999, None, Brevity.LONG_ENOUGH),
        (98_999, 19, Brevity.FEW_ITERATIONS),
        (99_000, 20, Brevity.SHORT_LOOP),
        (99_000, 19, Brevity.SHORT_LOOP),
        (99_000, None, Brevity.SHORT_LOOP),
    ],
)
def test_a_loop_is_short_beside_the_rest_or_by_its_iterations(
    outside_ns: int, iterations: int | None, brevity: Brevity
) -> None:
    facts = {**LOOP, "outside_ns": outside_ns}
    assert verdicts.brevity(facts, {"iterations": iterations, "mean_ns": 10}) is brevity
    nothing = {**facts, "looping_processes": 0}
    assert verdicts.brevity(nothing, {"iterations": 1}) is Brevity.LONG_ENOUGH


@pytest.mark.parametrize(
    ("exit_code", "groups", "failure"),
    [
        (1, ("simulation", "inference", "between"), Failure.NO_UPDATE),
        (0, ("simulation",), Failure.NONE),
        (None, ("simulation",), Failure.NONE),
        (1, ("simulation", "learning"), Failure.AFTER_UPDATES),
        (1, ("simulation", "fit"), Failure.SOME_TIME),
    ],
)
def test_a_program_without_learning_failed_before_its_first_update_if_all_else_is_known(
    exit_code: int | None, groups: tuple[str, ...], failure: Failure
) -> None:
    found = times(**dict.fromkeys(groups, 1))
    assert verdicts.failure(_ending(exit_code), found, LOOP) is failure


def test_without_a_framework_nothing_says_that_an_update_is_missing() -> None:
    found = times(simulation=1)
    assert verdicts.failure(_ending(1, framework=False), found, LOOP) is Failure.SOME_TIME


def test_somebody_who_interrupts_a_program_that_learned_needs_no_word_of_it() -> None:
    found = times(learning=1)
    ending = _ending(130, exception="KeyboardInterrupt")
    assert verdicts.failure(ending, found, LOOP) is Failure.NONE


def test_a_program_that_failed_without_a_loop_has_nothing_else_to_say() -> None:
    facts = {**LOOP, "looping_processes": 0}
    assert verdicts.failure(_ending(1), times(between=1), facts) is Failure.NO_LOOP
    assert verdicts.failure(_ending(0), times(between=1), facts) is Failure.NONE


@pytest.mark.parametrize(
    ("own_ns", "library", "library_ns", "is_named"),
    [
        (81, "stable_baselines3", 70, True),
        (80, "stable_baselines3", 70, False),
        (81, "torch", 70, False),
        (81, "stable_baselines3", 40, False),
    ],
)
def test_a_library_is_named_where_one_line_of_the_program_is_its_loop(
    own_ns: int, library: str, library_ns: int, is_named: bool
) -> None:
    row = {"own_ns": own_ns, "loop_ns": 100, "library": library, "library_ns": library_ns}
    assert line_verdicts.is_line_of_library(row) is is_named


@pytest.mark.parametrize(("run_ns", "is_notable"), [(0, False), (None, False), (100, True)])
def test_imports_are_no_part_of_a_run_of_which_nothing_was_recorded(
    run_ns: int | None, is_notable: bool
) -> None:
    assert verdicts.are_imports_notable({"wall_ns": 10, "run_ns": run_ns}) is is_notable


def _ending(
    exit_code: int | None, *, framework: bool = True, exception: str = ""
) -> dict[str, Any]:
    return {"exit": exit_code, "framework": framework, "exception": exception or None}


@pytest.mark.parametrize(
    ("outside_ns", "iterations", "mean_ns", "enough"),
    [
        (99_000, None, None, (None, 11_000)),
        (99_000, 5, 100, (110, 11_000)),
        (99_000, 5, 1000, (20, 20_000)),
        (90_000, 5, 100, (20, 2_000)),
    ],
)
def test_a_loop_is_long_enough_with_twenty_iterations_in_a_tenth_of_the_run(
    outside_ns: int, iterations: int | None, mean_ns: int | None, enough: tuple[int | None, int]
) -> None:
    facts = {**LOOP, "outside_ns": outside_ns}
    assert verdicts.enough(facts, {"iterations": iterations, "mean_ns": mean_ns}) == enough


def test_what_was_found_is_silent_beside_what_is_annotated() -> None:
    found = [{"loop_ns": 30}, {"loop_ns": 20}]
    assert verdicts.is_found_notable(found, {"inside_ns": 999})
    assert not verdicts.is_found_notable(found, {"inside_ns": 1000})


def test_a_target_has_most_of_the_waits() -> None:
    half, most = {"share": 0.5}, {"share": 0.51}
    assert verdicts.main_target([{"share": None}, half, most]) is most
    assert verdicts.main_target([half]) is None


@pytest.mark.parametrize(
    ("late_ns", "tail_ns", "excess_ns", "lateness"),
    [
        (50, 50, 50, Lateness.NOT_NOTABLE),
        (0, 0, 51, Lateness.STRAGGLER),  # others had its core meanwhile
        (51, 50, 50, Lateness.BEGINS_LATE),
        (60, 51, 51, Lateness.STRAGGLER),
    ],
)
def test_a_straggler_is_slow_and_not_only_late(
    late_ns: int, tail_ns: int, excess_ns: int, lateness: Lateness
) -> None:
    other = _worker(late_ns=1, tail_ns=1, excess_ns=1)
    worker = _worker(late_ns=late_ns, tail_ns=tail_ns, excess_ns=excess_ns)
    found, of = process_verdicts.lateness([other, worker])
    assert found is lateness
    assert of is worker


def test_workers_that_differ_by_chance_are_no_stragglers() -> None:
    """It steps for 126 or 125 % of the time of the others, which share its core."""
    for excess_ns, lateness in ((105, Lateness.STRAGGLER), (100, Lateness.NOT_NOTABLE)):
        worker = _worker(excess_ns=excess_ns, typical_ns=40)
        assert process_verdicts.lateness([worker])[0] is lateness


def _worker(**more: int) -> dict[str, int]:
    worker = {"operation_ns": 1000, "own_steps": 10, "typical_ns": 0}
    return worker | {"late_ns": 0, "tail_ns": 0, "excess_ns": 0} | more


def test_a_process_and_its_workers_need_a_core_each() -> None:
    assert not process_verdicts.are_cores_shared({"workers": 3, "cores": 4})
    assert process_verdicts.are_cores_shared({"workers": 4, "cores": 4})
    assert process_verdicts.are_cores_shared({"workers": 1, "cores": None})


def test_a_vector_loses_where_its_workers_step_for_less_time_than_it_takes() -> None:
    assert process_verdicts.is_vector_slower({"all_stepped_ns": 99, "operation_ns": 100})
    assert not process_verdicts.is_vector_slower({"all_stepped_ns": 100, "operation_ns": 100})


def test_a_tenth_of_the_iterations_is_worth_saying_who_is_waited_for() -> None:
    def row(process: int, waited_ns: int) -> dict[str, int]:
        return {"process_id": process, "waited_ns": waited_ns, "duration_ns": 100}

    waiting = [row(1, 0), row(1, 21)]
    assert process_verdicts.waiting_iterations([row(0, 0), *waiting, row(0, 20)]) == [waiting]


def test_a_tenth_of_a_second_is_enough_to_compare_with() -> None:
    assert verdicts.is_comparable(100_000_000)
    assert not verdicts.is_comparable(99_999_999)


@pytest.mark.parametrize(
    ("kind", "missing"), [("ring_full", True), ("rolled_up", False), ("cut", False)]
)
def test_which_losses_mean_that_data_is_missing(kind: str, missing: bool) -> None:
    assert verdicts.is_data_missing(kind) is missing


@pytest.mark.parametrize(
    ("polled", "own", "crowded"),
    [(90, 79, True), (90, 80, False), (89, 20, False), (100, None, False)],
)
def test_a_machine_is_crowded_where_others_take_what_is_left(
    polled: float, own: float | None, crowded: bool
) -> None:
    machine = {"polled_percent": polled, "run_percent": own}
    assert verdicts.is_machine_crowded(machine) is crowded


def test_a_wait_has_a_row_from_a_hundredth_on() -> None:
    assert process_verdicts.is_wait_listed(10, 1000)
    assert not process_verdicts.is_wait_listed(9, 1000)


def test_a_finished_run_is_not_extrapolated() -> None:
    assert verdicts.is_extrapolated({"share": 0.999})
    assert verdicts.is_extrapolated({"share": None})
    assert not verdicts.is_extrapolated({"share": 1.0})
