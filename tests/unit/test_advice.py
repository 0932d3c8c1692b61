"""The engine of findings: what it asks, ranks and leaves out."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial

import pytest
from support.files.finding_rows import LOOP_NS, finding, install, seconds, trace
from support.files.relation_rows import SECOND, Relations, process, share

from rlscope.analysis import advice
from rlscope.analysis.critical_loop import critical_loop, spread
from rlscope.analysis.finding import Finding
from rlscope.analysis.prices import Price, exact

Rules = Callable[..., None]


@pytest.fixture
def rules(monkeypatch: pytest.MonkeyPatch) -> Rules:
    """Puts rules in the place of the known ones."""
    return partial(install, monkeypatch)


def test_findings_are_ranked_by_what_they_surely_win(rules):
    rules(
        wide=[finding(seconds(5, 0.5, 9))],
        narrow=[finding(seconds(2, 1.8, 2.2))],
        vague=[finding(seconds(4, -1, 9))],
        setup=[finding(once_ns=3 * SECOND)],
    )
    rows = advice.advice(trace()).findings
    assert [(row["rule"], row["rank"], row["confidence"]) for row in rows] == [
        ("narrow", 1, "measured"),
        ("wide", 2, "measured"),
        ("vague", None, "worth a look"),
        ("setup", None, "once"),
    ]
    assert rows[2]["saving_low_ns"] == 0
    assert rows[3]["saving_ns"] is None


def test_a_price_is_a_share_of_the_loop_and_bounds_the_run(rules):
    rules(one=[finding(seconds(2, 1, 4), file="a.py", line=3)])
    (row,) = advice.advice(trace()).findings
    assert row["saving_low_ns"] == SECOND
    assert row["saving_share"] == pytest.approx(0.2)
    # What is left of the loop may get quicker, too: 6 s by 0.4 ** 1.5 at most.
    assert row["run_speedup"] == pytest.approx(20 / (16 - 6 * 0.4**1.5))
    assert (row["file"], row["line"]) == ("a.py", 3)


def test_nothing_wins_more_than_the_loop(rules):
    rules(one=[finding(seconds(20, 15, 30))])
    (row,) = advice.advice(trace()).findings
    assert row["saving_ns"] == row["saving_low_ns"] == row["saving_high_ns"] == LOOP_NS


@pytest.mark.parametrize(
    "cheap", [finding(seconds(0.05, 0.04, 0.06)), finding(once_ns=SECOND // 10)]
)
def test_what_is_worth_too_little_is_left_out(rules, cheap):
    rules(cheap=[cheap])
    assert advice.advice(trace()).findings == []


def failing() -> Iterator[Finding]:
    yield finding(seconds(9, 8, 10))
    raise ZeroDivisionError("nothing to divide")


@pytest.mark.parametrize(
    "wrong",
    [
        [finding(seconds(1, 2, 3))],
        [finding(Price(math.nan, 0, 1))],
        [None],
    ],
)
def test_a_wrong_finding_is_a_failure_of_its_rule(rules, wrong):
    rules(wrong=wrong, right=[finding(seconds(2, 1, 3))])
    found = advice.advice(trace())
    assert [row["rule"] for row in found.findings] == ["right"]
    assert [each.rule for each in found.failures] == ["wrong"]


def test_a_rule_that_fails_spoils_no_other_and_is_counted(rules):
    rules(broken=failing(), right=[finding(seconds(2, 1, 3))])
    found = advice.advice(trace())
    assert [row["rule"] for row in found.findings] == ["right"]
    assert [(each.rule, each.reason) for each in found.failures] == [
        ("broken", "ZeroDivisionError: nothing to divide")
    ]


@pytest.mark.parametrize("of_lines", [True, False])
def test_without_a_training_loop_lines_are_priced_as_parts_of_the_run(rules, of_lines):
    said = "The loop waits at a line that takes 20 % of the training loop"
    one = finding(seconds(2, 1, 3), title=said)
    rules(of_lines=of_lines, one=[one])
    whole = [
        share(0, "(none)", "python", LOOP_NS // 4, stage="whole"),
        share(0, "(none)", "wait", LOOP_NS, stage="whole"),
        share(1, "(none)", "python", LOOP_NS, stage="whole"),
    ]
    processes = [process(0, 0, LOOP_NS), process(1, 0, LOOP_NS)]
    found = advice.advice(trace(breakdown=whole, process=processes))
    assert found.loop is not None
    assert (found.loop.process_id, found.loop.loop_ns) == (1, LOOP_NS)
    expected = "The program waits at a line that takes 20 % of the run"
    assert [row["title"] for row in found.findings] == [expected] * of_lines


def test_of_a_run_in_which_nothing_was_recorded_nothing_is_said(rules):
    rules(one=[finding(seconds(2, 1, 3))])
    found = advice.advice(trace(breakdown=[]))
    assert found.loop is None
    assert found.findings == ()


def test_the_columns_are_those_of_the_relation(rules):
    rules(one=[finding(seconds(2, 1, 3))])
    rows = trace()
    columns = advice.finding_columns(rows)
    assert tuple(columns) == tuple(rows.table("finding").names)
    assert columns["title"] == ["it is slow"]


def wait(process_id: int, peer: int, self_ns: int, operation: str) -> dict[str, object]:
    where = {"process_id": process_id, "kind": "pipe", "object": "7", "function": "os.read"}
    return {**where, "operation": operation, "self_ns": self_ns, "peer_process_id": peer}


def pair(*, second_loops: bool, second_waits_ns: int) -> Relations:
    """Process 0 waits for 8 of 12 s for process 1."""
    second = "inference" if second_loops else "(none)"
    waits = [wait(0, 1, 8 * SECOND, "receive")]
    if second_waits_ns:
        waits.append(wait(1, 0, second_waits_ns, second))
    return trace(
        process=[process(0, 0, 20 * SECOND, role="main"), process(1, 0, 20 * SECOND, role="actor")],
        breakdown=[
            share(0, "receive", "wait", 8 * SECOND),
            share(0, "update", "framework", 4 * SECOND),
            share(1, second, "framework", 9 * SECOND),
        ],
        wait=waits,
    )


def test_prices_are_of_the_loop_that_waits_least():
    loop = critical_loop(pair(second_loops=True, second_waits_ns=0))
    assert loop is not None
    assert (loop.process_id, loop.loop_ns, loop.waited_ns) == (1, 9 * SECOND, 0)


def test_a_short_loop_is_not_what_prices_are_of():
    """As that of a child, which waits for nobody, of a program that waits now and then."""
    rows = trace(
        process=[process(0, 0, 20 * SECOND, role="main"), process(1, 0, 20 * SECOND, role="actor")],
        breakdown=[
            share(0, "update", "framework", 12 * SECOND),
            share(0, "receive", "wait", SECOND),
            share(1, "inference", "framework", 3 * SECOND),
        ],
        wait=[wait(0, 1, SECOND, "receive")],
    )
    loop = critical_loop(rows)
    assert loop is not None
    assert (loop.process_id, loop.loop_ns) == (0, 13 * SECOND)


@pytest.mark.parametrize(("begin_s", "process_id"), [(9, 1), (10, 0)])
def test_a_loop_after_the_longest_one_shows_its_result(begin_s: int, process_id: int):
    """As that of the process that started a pool, and then plays a game with the best policy."""
    rows = trace(
        process=[process(0, 0, 20 * SECOND), process(1, 0, 20 * SECOND)],
        breakdown=[
            share(0, "simulation", "python", 9 * SECOND),
            share(0, "send", "wait", SECOND),
            share(0, "(none)", "none", 10 * SECOND, stage="end"),
            share(1, "(none)", "python", begin_s * SECOND, stage="start-up"),
            share(1, "simulation", "python", (20 - begin_s) * SECOND // 2),
            share(1, "(none)", "python", (20 - begin_s) * SECOND // 2, stage="end"),
        ],
        wait=[wait(0, 1, SECOND, "send")],
    )
    loop = critical_loop(rows)
    assert loop is not None
    assert loop.process_id == process_id


@pytest.mark.parametrize(("half", "process_id"), [(4, 1), (6, 2)])
def test_a_process_waits_for_others_if_its_thread_does(half: int, process_id: int):
    """As a thread that takes the results of a pool. Process 1 waits a part of its loop for process
    0, longer than process 2 seems to wait."""
    lock = {"process_id": 2, "thread_id": 2, "kind": "lock", "operation": "update"}
    thread = {"process_id": 2, "thread_id": 9, "operation": "(none)"}
    rows = trace(
        process=[process(n, 0, 20 * SECOND) for n in (0, 1, 2)],
        breakdown=[
            share(1, "update", "python", 8 * SECOND),
            share(1, "receive", "wait", 2 * SECOND),
            share(2, "update", "wait", 10 * SECOND),
        ],
        breakdown_by_thread=[{"process_id": 2, "thread_id": 2, "operation": "update"}],
        thread=[{"process_id": 2, "thread_id": each} for each in (2, 9)],
        wait=[
            wait(1, 0, 2 * SECOND, "receive"),
            {**lock, "count": 1, "duration_ns": 10 * SECOND, "self_ns": 10 * SECOND},
            {**wait(2, 0, (10 - half) * SECOND, "(none)"), **thread},
        ],
    )
    loop = critical_loop(rows)
    assert loop is not None
    assert loop.process_id == process_id


def test_of_workers_that_wait_alike_it_is_the_one_that_completed_most_iterations():
    whole = {"complete": True, "duration_ns": SECOND, "source": "automatic"}
    completed = [(0, 1), (1, 1), (1, 2)]
    rows = trace(
        process=[process(pid, 0, 20 * SECOND, role="worker") for pid in (0, 1)],
        breakdown=[
            share(0, "rendering", "python", 12 * SECOND),
            share(1, "update", "framework", 9 * SECOND),
        ],
        iteration=[
            {"process_id": pid, "iteration": number, "start_ns": number * SECOND, **whole}
            for pid, number in completed
        ],
    )
    loop = critical_loop(rows)
    assert loop is not None
    assert (loop.process_id, loop.iterations) == (1, 2)


def test_in_a_loop_that_waits_for_others_that_go_on_nothing_is_sure(rules):
    rows = pair(second_loops=False, second_waits_ns=SECOND)
    rules(one=[finding(seconds(2, 1, 3))])
    found = advice.advice(rows)
    assert found.loop is not None
    assert (found.loop.process_id, found.loop.starved_ns) == (0, 8 * SECOND)
    assert [row["confidence"] for row in found.findings] == ["worth a look"]


def test_what_waits_for_the_loop_does_not_starve_it(rules):
    rows = pair(second_loops=False, second_waits_ns=2 * SECOND)
    rules(one=[finding(seconds(2, 1, 3))])
    found = advice.advice(rows)
    assert found.loop is not None
    assert found.loop.starved_ns == 0
    assert [row["confidence"] for row in found.findings] == ["measured"]


def of_iterations(times: list[int]) -> Relations:
    """Iterations, each with so much time in `update`."""
    starts = [sum(times[:place]) for place in range(len(times))]
    common = {"process_id": 0, "complete": True}
    return trace(
        iteration=[
            {
                **common,
                "iteration": place,
                "start_ns": start,
                "duration_ns": ns,
                "source": "explicit",
            }
            for place, (start, ns) in enumerate(zip(starts, times, strict=True))
        ],
        iteration_breakdown=[
            {
                **common,
                "iteration": place,
                "iteration_source": "explicit",
                "operation": "update",
                "layer": "python",
                "duration_ns": ns,
            }
            for place, ns in enumerate(times)
        ],
    )


def test_the_spread_of_iterations_leaves_out_those_that_are_not_usual():
    rows = of_iterations([100, 120, 80, 100, 5000])
    loop = critical_loop(rows)
    assert loop is not None
    found = spread(rows, loop, operation="update")
    assert (found["iterations"], found["mean_ns"], found["unusual"]) == (4, 100, 1)
    assert found["deviation_ns"] == pytest.approx(math.sqrt(800 / 3))
    assert spread(rows, loop, operation="update", layers=["wait"])["mean_ns"] == 0


def test_findings_of_one_operation_overlap(rules):
    rules(
        one=[finding(seconds(3, 2.7, 3.5), operation="update")],
        two=[finding(seconds(2, 1.8, 2.5), operation="inference")],
        three=[finding(seconds(1, 0.9, 1.5), operation="update")],
        four=[finding(seconds(0.5, 0.4, 0.6))],
    )
    rows = advice.advice(trace()).findings
    assert advice.overlaps(rows) == [(1, 3), (1, 4), (2, 4), (3, 4)]


def test_findings_of_two_lines_overlap_unless_both_are_of_their_lines():
    rules = ("optimizer_loop", "tensor_loop", "argument_validation", "single_inference")
    rows = [
        {"rank": rank, "rule": rule, "operation": "update", "file": "/x/train.py", "line": line}
        for rank, (rule, line) in enumerate(zip(rules, (1, 2, 2, 3), strict=True), 1)
    ]
    assert advice.overlaps(rows) == [(1, 4), (2, 3), (2, 4), (3, 4)]


def test_an_interval_is_a_tenth_of_the_price_to_each_side_at_least(rules):
    rules(one=[finding(seconds(2, 2, 2))])
    (row,) = advice.advice(trace()).findings
    highest = exact(2.2 * SECOND).with_rest(LOOP_NS).high_ns
    assert (row["saving_low_ns"], row["saving_high_ns"]) == (1.8 * SECOND, round(highest))


def test_a_share_is_of_the_loop_and_of_what_lies_outside(rules):
    rules(one=[finding(seconds(10, 9, 11), outside_ns=10 * SECOND)])
    (row,) = advice.advice(trace()).findings
    assert row["saving_share"] == pytest.approx(0.5 + 0.5 * 0.6 * 0.2)


def test_a_module_that_is_imported_is_no_part_of_a_loop(rules):
    text = "import scipy.stats\nrun()\n"
    source = [
        {"file": "a.py", "line": number, "text": line}
        for number, line in enumerate(text.splitlines(), 1)
    ]
    rules(
        of_lines=True,
        imported=[finding(seconds(5, 4, 6), file="a.py", line=1)],
        called=[finding(seconds(2, 1, 3), file="a.py", line=2)],
    )
    whole = [share(0, "(none)", "python", LOOP_NS, stage="whole")]
    found = advice.advice(trace(breakdown=whole, source_text=source))
    assert [row["rule"] for row in found.findings] == ["called"]
