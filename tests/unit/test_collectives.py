"""The relation `collective`: who waits for the latest of a group, and the words for it."""

from __future__ import annotations

import random
from typing import Any

from support.files.facts import assert_says

from rlscope.relations.rows.collectives import Call, Collectives
from rlscope.relations.rows.known_collectives import KNOWN
from rlscope.report import collective_sentences

BACKWARD, WAIT, _ = KNOWN


def rows(
    *groups: tuple[int | None, dict[int, list[Call]]],
) -> dict[tuple[int, str], dict[str, Any]]:
    found = Collectives()
    for parent, calls in groups:
        for process, of_process in calls.items():
            found.add(process, parent, of_process)
    columns = found.columns()
    made = [
        dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)
    ]
    return {(row["process_id"], row["name"]): row for row in made}


def waits(*times: tuple[int, int]) -> list[Call]:
    return [Call(WAIT.function, start, length) for start, length in times]


def test_a_process_waits_from_its_own_begin_to_the_latest_one() -> None:
    found = rows((None, {1: waits((100, 60), (200, 10)), 2: waits((150, 10), (190, 20))}))
    first, second = found[1, "collective"], found[2, "collective"]
    assert (first["waited_ns"], first["duration_ns"], first["last"], first["late_ns"]) == (
        50, 70, 1, 10,
    )  # fmt: skip
    assert (second["waited_ns"], second["last"], second["late_ns"]) == (10, 1, 50)


def test_a_wait_is_no_longer_than_the_call() -> None:
    found = rows((None, {1: waits((100, 5)), 2: waits((150, 10))}))
    assert found[1, "collective"]["waited_ns"] == 5


def test_only_calls_that_every_process_has_are_meetings() -> None:
    found = rows((None, {1: waits((0, 9), (10, 9), (20, 9)), 2: waits((5, 4), (11, 8))}))
    row = found[1, "collective"]
    assert (row["calls"], row["meetings"], row["duration_ns"]) == (3, 2, 18)


def test_groups_of_other_parents_do_not_meet() -> None:
    alone = rows((None, {1: waits((0, 9))}), (7, {2: waits((5, 4))}))
    assert alone == {}
    found = rows(
        (3, {1: waits((0, 9)), 2: waits((5, 4))}), (7, {4: waits((0, 9)), 5: waits((8, 1))})
    )
    assert [found[process, "collective"]["waited_ns"] for process in (1, 2, 4, 5)] == [5, 0, 8, 0]


def test_only_a_backward_of_a_distributed_model_is_a_meeting() -> None:
    def backward(start: int) -> Call:
        return Call(BACKWARD.function, start, 4)

    def prepare(start: int) -> Call:
        return Call(BACKWARD.after, start, 1)

    calls = [backward(0), prepare(10), backward(12), backward(20), prepare(30), prepare(31)]
    found = rows((None, {1: calls, 2: [prepare(9), backward(14)]}))
    assert found[1, "backward"]["calls"] == 1
    assert found[1, "backward"]["waited_ns"] == 2


def test_many_processes_as_a_brute_force_count_finds_them() -> None:
    chance = random.Random(7)
    for _ in range(50):
        group = {
            process: waits(
                *((1000 * i + chance.randrange(900), chance.randrange(90)) for i in range(6))
            )
            for process in range(chance.randrange(2, 6))
        }
        found = rows((None, group))
        for process, calls in group.items():
            waited = last = late = 0
            for i, call in enumerate(calls):
                others = [every[i].start_ns for each, every in group.items() if each != process]
                waited += max(0, min(call.duration_ns, max(others) - call.start_ns))
                if call.start_ns > max(others):
                    last += 1
                    late += call.start_ns - max(others)
            row = found[process, "collective"]
            assert row["waited_ns"] == waited
            assert row["late_ns"] == late
            assert row["last"] >= last


def test_the_sentence_names_the_process_that_comes_last() -> None:
    row = {
        "process": "rank 0", "name": "backward", "waited_ns": 3_200_000_000,
        "loop_ns": 6_400_000_000, "last_process": "rank 1", "last_last": 48, "meetings": 50,
    }  # fmt: skip
    (said,) = collective_sentences.waiting([row])
    assert_says(said, "rank 0", "3.20 s", "6.40 s", "backward", "rank 1", "48 of 50")
    assert collective_sentences.waiting([{**row, "waited_ns": 300_000_000}]) == []
    assert collective_sentences.waiting([{**row, "loop_ns": None}]) == []
