"""The training loop of a process, and what lies around it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ground_truth.brute import tables
from ground_truth.raw import (
    Item,
    RawProcess,
    RawThread,
    call,
    call_begin,
    enter,
    gap,
    leave,
    window_start,
    window_stop,
)
from ground_truth.relations import OTHER, Breakdown, Wait
from ground_truth.swept import sweep
from ground_truth.training_loop import AROUND_LOOP, LEARNING, WARM_UP
from rlscope import _trace

SEMANTICS = Path(__file__).parents[2] / "docs" / "reference" / "semantics.md"


def stages(*items: Item, end_ns: int = 100) -> dict[tuple[str, str], int]:
    """(stage, operation) -> ns of a process, as the sweep and the twin say."""
    process = RawProcess(end_ns=end_ns, threads=[RawThread(items=list(items))])
    rows = sweep(process)["breakdown"]
    assert rows == tables(process)["breakdown"]
    return {
        (row.stage, row.operation): row.duration_ns for row in rows if isinstance(row, Breakdown)
    }


def start_up_ns(*lengths: int | tuple[str, int]) -> int:
    """Start-up of a process that begins with an operation: pauses, and (names of an operation and
    of those inside it, length)."""
    items: list[Item] = []
    now = 0
    for each in lengths:
        names, length = ([], each) if isinstance(each, int) else (each[0].split("/"), each[1])
        items += [enter(now, name) for name in names]
        now += length
        items += [leave(now, name) for name in reversed(names)]
    found = stages(*items, end_ns=now)
    assert sum(found.values()) == now
    return sum(ns for (stage, _), ns in found.items() if stage == "start-up")


def test_the_page_of_the_numbers_names_the_operations_around_the_loop() -> None:
    section = SEMANTICS.read_text().partition("### The training loop")[2].partition("\n## ")[0]
    listed = section.partition("make the loop no longer:")[2].partition("An operation that")[0]
    assert re.findall(r"`(\w+)`", listed) == AROUND_LOOP
    assert "one of the first six" in " ".join(listed.split())
    assert AROUND_LOOP[:6] == WARM_UP


def test_the_page_of_the_numbers_names_the_operations_of_learning() -> None:
    section = SEMANTICS.read_text().partition("### Groups of operations")[2]
    (row,) = re.findall(r"^\| learning \| (.*) \|$", section, re.MULTILINE)
    assert set(re.findall(r"`(\w+)`", row)) == LEARNING == set(_trace.LEARNING_NAMES)


@pytest.mark.parametrize("name", sorted(AROUND_LOOP))
def test_an_operation_around_the_loop_makes_it_no_longer(name: str) -> None:
    for shown in (name, name.upper(), f"{name}: 3"):
        around = (enter(10, shown), leave(20, shown))
        assert {stage for stage, _ in stages(*around)} == {"whole"}
        assert stages(*around, enter(30, "act"), leave(40, "act")) == {
            ("start-up", "(none)"): 20,
            ("start-up", shown): 10,
            ("loop", "act"): 10,
            ("end", "(none)"): 60,
        }


def test_what_lies_between_operations_of_the_loop_is_in_it() -> None:
    found = stages(
        enter(10, "act"),
        leave(20, "act"),
        enter(30, "evaluation"),
        enter(35, "act"),
        leave(40, "act"),
        leave(45, "evaluation"),
        enter(50, "act"),
        leave(60, "act"),
        enter(70, "saving"),
        leave(80, "saving"),
    )
    assert found == {
        ("start-up", "(none)"): 10,
        ("loop", "(none)"): 15,
        ("loop", "act"): 20,
        ("loop", "evaluation"): 10,
        ("loop", "evaluation/act"): 5,
        ("end", "(none)"): 30,
        ("end", "saving"): 10,
    }


def test_an_operation_that_lasts_no_time_begins_no_loop_and_ends_none() -> None:
    found = stages(
        enter(5, "act"),
        leave(5, "act"),
        enter(10, "act"),
        leave(20, "act"),
        enter(90, "act"),
        leave(90, "act"),
    )
    assert found == {
        ("start-up", "(none)"): 10,
        ("loop", "act"): 10,
        ("end", "(none)"): 80,
    }


@pytest.mark.parametrize("name", AROUND_LOOP)
def test_only_what_prepares_the_loop_is_no_part_of_it(name: str) -> None:
    around = (enter(20, f"{name}: 3"), enter(25, "act"), leave(28, "act"), leave(30, f"{name}: 3"))
    found = stages(enter(10, "act"), leave(20, "act"), *around, enter(30, "act"), leave(40, "act"))
    stage = "warm-up" if name in WARM_UP else "loop"
    assert found == {
        ("start-up", "(none)"): 10,
        ("loop", "act"): 20,
        (stage, f"{name}: 3"): 7,
        (stage, f"{name}: 3/act"): 3,
        ("end", "(none)"): 60,
    }


def test_the_loop_begins_after_the_last_set_up_pause() -> None:
    assert start_up_ns(("probe", 2), 30, ("reset", 5), 1, ("act", 5), 1, ("reset", 5)) == 32
    assert start_up_ns(("probe", 2), 30, ("probe", 2), 8, ("reset", 5), 1, ("act", 5)) == 42


def test_a_set_up_pause_has_a_tenth_of_the_time_before_it() -> None:
    assert start_up_ns(("probe", 20), 2, ("act", 9)) == 22
    assert start_up_ns(("probe", 21), 2, ("act", 9)) == 0
    assert start_up_ns(5, ("probe", 20), 2, ("act", 9)) == 27
    assert start_up_ns(("probe", 10), ("probe", 0), 2, ("probe", 0), 3, ("act", 9)) == 15


def test_after_many_stretches_a_set_up_pause_has_all_of_the_time_before_it() -> None:
    """As of a program that plays for seconds, and then learns for the first time."""
    trials = [part for _ in range(62) for part in (("act", 3), 1)]
    assert start_up_ns(*trials, ("act", 3), 250, ("learn", 9)) == 501
    assert start_up_ns(*trials, ("act", 3), 26, ("learn", 9)) == 277
    assert start_up_ns(*trials, ("act", 3), 1, ("act", 3), 26, ("learn", 9)) == 0
    assert start_up_ns(*trials, ("act", 3), 1, ("act", 3), 254, ("learn", 9)) == 0
    assert start_up_ns(*trials, ("act", 3), 1, ("act", 3), 255, ("learn", 9)) == 510


def test_lengths_are_recorded_time() -> None:
    def found(until: int) -> dict[tuple[str, str], int]:
        """20 of the 50 ns before the last pause are recorded, and up to 2 of its 12 ns."""
        return stages(
            *(enter(0, "probe"), leave(10, "probe"), window_stop(10), window_start(40)),
            *(enter(40, "probe"), leave(50, "probe"), window_stop(until), window_start(62)),
            *(enter(62, "act"), leave(90, "act")),
        )

    assert ("loop", "probe") not in found(52)
    assert found(51)["loop", "probe"] == 20


@pytest.mark.parametrize("name", sorted(LEARNING - {"forward"}))
def test_there_is_no_set_up_pause_after_learning(name: str) -> None:
    assert start_up_ns((name, 2), 30, ("act", 5)) == 0
    assert start_up_ns((f"act/{name.upper()}: 3", 2), 30, ("other", 5)) == 0
    assert start_up_ns(("act", 2), 30, (name, 5)) == 32


def test_set_up_may_learn_and_a_probe_may_go_forward() -> None:
    assert start_up_ns(("probe/forward", 2), 30, ("act", 5)) == 32
    assert start_up_ns(("probe", 2), 10, ("setup/backprop", 9), 5, ("act", 5)) == 26


def test_something_new_follows_a_set_up_pause() -> None:
    assert start_up_ns(("act", 2), 30, ("act", 5)) == 0
    assert start_up_ns(("act", 2), 30, ("Act:3", 5)) == 0
    assert start_up_ns(("act", 2), 30, ("act/other", 5)) == 0
    assert start_up_ns(("act", 2), 30, ("other", 0), ("act", 5)) == 0
    assert start_up_ns(("act", 2), 30, ("act", 5), 1, ("act", 5), 1, ("other", 1)) == 32


def test_a_pause_that_comes_again_is_none_of_set_up() -> None:
    def begun(*later: int | tuple[str, int]) -> int:
        steps = [part for pause in later for part in (pause, ("act", 1))]
        return start_up_ns(("probe", 2), 30, ("act", 100), *steps)  # type: ignore[arg-type]

    assert begun(10, 9) == 32
    assert begun(10, 9, 1, 9) == 32
    assert begun(10, 1, 10) == 0
    assert begun(("import", 20), ("import", 20)) == 32
    assert start_up_ns(("probe", 2), ("saving", 30), ("act", 9), 10, ("act", 9)) == 32
    assert (
        start_up_ns(("probe", 2), ("saving", 30), ("act", 9), 10, ("act", 9), 10, ("act", 9)) == 0
    )


def test_warm_up_makes_no_pause_longer() -> None:
    """As an import in the middle of a program that has played for long, and then learns."""
    assert start_up_ns(("act", 20), ("import", 30), 1, ("learn", 5)) == 0
    assert start_up_ns(("act", 20), ("import", 30), 2, ("learn", 5)) == 52
    assert start_up_ns(("act", 1), ("compile", 30), ("act", 8), 1, ("learn", 5)) == 40


@pytest.mark.parametrize("pause", [1, 10, 100])
@pytest.mark.parametrize("names", [("act", "step"), ("act", "step", "store")])
@pytest.mark.parametrize("iterations", [2, 3, 20])
def test_equal_pauses_are_the_loops(pause: int, names: tuple[str, ...], iterations: int) -> None:
    steps = [part for name in names * iterations for part in ((name, 10), pause)]
    assert start_up_ns(*steps[:-1]) == 0


def test_a_pause_before_the_end_does_not_move_the_loop() -> None:
    steps = [part for name in ("reset", "act", "update") * 3 for part in ((name, 10), 1)]
    assert start_up_ns(*steps, 500, ("reset", 5)) == 0


def test_a_program_that_trains_twice_keeps_both() -> None:
    first = [part for name in ("reset", "act", "update") * 3 for part in ((name, 10), 1)]
    second = [part for name in ("reset", "act", "learn") * 3 for part in ((name, 10), 1)]
    assert start_up_ns(*first, 500, *second) == 0


def test_a_stretch_counts_in_the_stage_in_which_it_begins() -> None:
    """Only what goes beyond the paths that are kept goes on from one stage to the next."""
    items = [
        enter(10, "evaluation"),
        enter(20, "part"),
        leave(30, "part"),
        leave(30, "evaluation"),
        enter(30, "act"),
        leave(40, "act"),
    ]
    process = RawProcess(end_ns=100, threads=[RawThread(items=items)], most_paths=1)
    rows = sweep(process)["breakdown"]
    assert rows == tables(process)["breakdown"]
    assert [
        (row.stage, row.duration_ns, row.count)
        for row in rows
        if isinstance(row, Breakdown) and row.operation == OTHER
    ] == [("loop", 10, 0), ("start-up", 10, 1)]


def test_a_wait_counts_in_the_stage_in_which_it_ends() -> None:
    """One that ends when the loop begins, or ends, was before that."""
    main = [enter(20, "act"), leave(40, "act"), enter(70, "saving"), leave(75, "saving")]
    steps = [*main[:2], enter(50, "act"), leave(60, "act"), *main[2:]]
    waits = [(2, 8), (12, 20), (21, 30), (42, 48), (55, 60), (58, 90)]
    others = [RawThread([call(*span, "gil")]) for span in waits]
    process = RawProcess(end_ns=100, threads=[RawThread(steps), *others])
    rows = sweep(process)["wait"]
    assert rows == tables(process)["wait"]
    lengths = {row.thread: (row.stage, row.duration_ns) for row in rows if isinstance(row, Wait)}
    assert [lengths[number] for number in sorted(lengths)] == [
        ("start-up", 6),
        ("start-up", 8),
        ("loop", 9),
        ("loop", 6),
        ("loop", 5),
        ("end", 32),
    ]


def test_a_wait_that_ends_with_its_process_is_after_a_loop_that_ended() -> None:
    """Though an operation that could begin a loop is entered at that instant."""
    steps = [enter(6, "train"), gap(7), call_begin(7, "gil"), enter(10, "train")]
    process = RawProcess(end_ns=10, threads=[RawThread(steps)])
    rows = sweep(process)["wait"]
    assert rows == tables(process)["wait"]
    assert [(row.stage, row.count) for row in rows if isinstance(row, Wait)] == [("end", 1)]


def test_waits_of_a_process_without_a_loop_are_in_no_stage() -> None:
    process = RawProcess(end_ns=100, threads=[RawThread([call(10, 30, "gil")])])
    (row,) = sweep(process)["wait"]
    assert isinstance(row, Wait) and row.stage == "whole"


def test_a_wait_in_a_warm_up_is_of_it() -> None:
    steps = [enter(10, "act"), leave(20, "act"), enter(30, "import"), call(32, 38, "gil")]
    steps += [leave(40, "import"), enter(50, "act"), call(52, 55, "gil"), leave(60, "act")]
    process = RawProcess(end_ns=100, threads=[RawThread(steps)])
    rows = sweep(process)["wait"]
    assert rows == tables(process)["wait"]
    assert {(row.stage, row.duration_ns) for row in rows if isinstance(row, Wait)} == {
        ("warm-up", 6),
        ("loop", 3),
    }
