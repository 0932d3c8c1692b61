"""The relation `blocked`, and the sentence that says where native code waits."""

from __future__ import annotations

from pathlib import Path

import pytest
from ground_truth.raw import RawProcess, RawThread, call, enter, leave
from ground_truth.written import write
from support.files.facts import assert_says

from rlscope.analysis import threads
from rlscope.opening import load
from rlscope.relations.rows import blocked
from rlscope.report import run_sentences

MAIN = 1
ASLEEP: frozenset[int] = frozenset()
MS = 1_000_000


def trace_of(folder: Path, states: list[tuple[int, frozenset[int]]]):
    """10 ms of start-up, 40 ms of `act`, 40 ms of nothing, and 10 ms of `act`."""
    items = [enter(10 * MS, "act"), leave(50 * MS, "act"), enter(90 * MS, "act")]
    items += [call(92 * MS, 95 * MS, "gil"), leave(100 * MS, "act")]
    process = RawProcess(end_ns=110 * MS, threads=[RawThread(items=items)], states=states)
    write([process], folder / "run")
    return load(folder / "run")


def rows_of(trace):
    return trace.sql(
        "SELECT stage, operation, layer, duration_ns, readings, blocked, blocked_ns FROM blocked"
        " ORDER BY ALL"
    )


def test_each_state_has_its_time_and_the_readings_in_it(tmp_path):
    awake = frozenset({MAIN})
    states = [(5 * MS, awake), (20 * MS, ASLEEP), (30 * MS, ASLEEP), (40 * MS, awake)]
    states += [(60 * MS, ASLEEP), (93 * MS, ASLEEP), (120 * MS, ASLEEP)]
    assert list(rows_of(trace_of(tmp_path, states))) == [
        ("end", "(none)", "python", 10 * MS, 0, 0, None),
        ("loop", "(none)", "python", 40 * MS, 1, 1, 40 * MS),
        ("loop", "act", "python", 47 * MS, 3, 2, round(47 * MS * 2 / 3)),
        ("loop", "act", "wait", 3 * MS, 1, 1, 3 * MS),
        ("start-up", "(none)", "python", 10 * MS, 1, 0, 0),
    ]


def test_a_process_that_nobody_asked_has_no_rows(tmp_path):
    trace = trace_of(tmp_path, [])
    assert list(rows_of(trace)) == []
    (reason,) = trace.sql("SELECT reason FROM absent WHERE relation = 'blocked'")["reason"]
    assert "no thread was asked" in reason


def test_a_reading_of_a_thread_that_only_works_beside_the_owner_counts(tmp_path):
    main = RawThread(items=[enter(0, "act"), leave(100, "act")])
    helper = RawThread(items=[call(10, 90, "matmul")], main=False)
    process = RawProcess(end_ns=100, threads=[main, helper], states=[(50, frozenset({2}))])
    write([process], tmp_path / "run")
    rows = load(tmp_path / "run").sql("SELECT blocked FROM blocked WHERE readings > 0")
    assert list(rows) == [(0,)]


def test_the_interval_holds_the_share_and_narrows_with_readings():
    few, many = blocked.share(1000, 10, 5), blocked.share(1000, 1000, 500)
    assert few[0] == many[0] == 500
    assert few[1] < many[1] < 500 < many[2] < few[2]
    assert blocked.share(1000, 50, 50)[2] == 1000


@pytest.mark.parametrize(("asleep", "is_said"), [(3, True), (0, False)])
def test_the_sentence_names_an_operation_that_was_blocked(tmp_path, asleep, is_said):
    readings = [ASLEEP] * asleep + [frozenset({MAIN})] * (3 - asleep)
    states = [((20 + 10 * place) * MS, awake) for place, awake in enumerate(readings)]
    rows = threads.blocked(trace_of(tmp_path, states), rows=10).to_dicts()
    said = list(run_sentences.blocked(rows))
    assert len(said) == is_said
    for each in said:
        assert_says(each, "act", "blocked", "47.0 ms of 50.0 ms")
