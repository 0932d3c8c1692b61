"""Advice on what environment workers do, priced by what the training loop waits less for them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import astuple
from typing import Any

import pytest
from support.files.finding_rows import LOOP_NS, finding, served, steps, trace
from support.files.relation_rows import SECOND, Relations

from rlscope import registry
from rlscope.analysis import advice
from rlscope.analysis.critical_loop import Loop
from rlscope.analysis.finding import Finding, Rule
from rlscope.analysis.prices import Price, exact


def ask(monkeypatch: pytest.MonkeyPatch, rows: Relations, *, of_lines: bool = True) -> list[Any]:
    """What a rule finds that speaks of process 1 only: a second, and something paid once."""

    def find(_: Any, loop: Loop) -> Iterator[Finding]:
        if loop.process_id == 1:
            price = Price(SECOND, SECOND / 2, 2 * SECOND)
            share_of_loop = SECOND / loop.loop_ns
            yield finding(price, title=f"it takes {share_of_loop:.0%} of the loop", line=7)
            yield finding(once_ns=9 * SECOND)

    monkeypatch.setattr(registry, "names", lambda _: ["one"])
    monkeypatch.setattr(registry, "load", lambda *_: Rule(find, of_lines=of_lines))
    return [*advice.advice(rows).findings]


def test_what_a_worker_does_is_worth_what_the_loop_waits_less(monkeypatch):
    steps(monkeypatch, {"stepped_ns": 2 * SECOND}, {"stepped_ns": SECOND})
    (row,) = ask(monkeypatch, served())
    assert row["title"] == "in 2 environment workers, it takes 25% of their work"
    assert row["line"] == 7
    part = 3 * 8 / 4 / 4  # steps take 3 of 4 s that were looked at, of 8 s; the worker has 4 s
    wins = Price(part * SECOND, 0.7 * part * SECOND / 2, 1.1 * part * 2 * SECOND)
    prices = Price(row["saving_ns"], row["saving_low_ns"], row["saving_high_ns"])
    assert astuple(prices) == pytest.approx(astuple(wins.with_rest(LOOP_NS)))


@pytest.mark.parametrize(
    ("of_lines", "any_ns", "working"),
    [
        (False, 3 * SECOND, "python"),
        (True, SECOND // 3, "python"),  # it waits for messages
        (True, 3 * SECOND, "wait"),
    ],
)
def test_nothing_is_said_of_other_rules_and_workers(monkeypatch, of_lines, any_ns, working):
    steps(monkeypatch, {"stepped_ns": SECOND // 4, "any_ns": any_ns})
    assert ask(monkeypatch, served(working=working), of_lines=of_lines) == []


@pytest.mark.parametrize("role", ["environment worker", "actor"])
def test_a_pool_is_waited_for_by_a_thread(monkeypatch, role):
    """The loop waits for 8 s for that thread, while a worker works for 4 s. An actor has a loop of
    its own, which waits less."""
    times = {"count": 1, "duration_ns": 8 * SECOND, "self_ns": 8 * SECOND}
    results = {"object": "7", "function": "os.read", "peer_process_id": 1}
    rows = served(
        role=role,
        thread=[{"process_id": 0, "thread_id": each} for each in (0, 9)],
        breakdown_by_thread=[
            {"process_id": 0, "thread_id": 0, "operation": "simulation", "duration_ns": 1}
        ],
        wait=[
            {"process_id": 0, "thread_id": 0, "kind": "lock", "operation": "simulation", **times},
            {"process_id": 0, "thread_id": 9, "kind": "pipe", "operation": "(none)"}
            | times
            | results,
        ],
    )
    found = ask(monkeypatch, rows)
    if role == "actor":
        assert [row["title"] for row in found][:1] == ["it takes 20% of the loop"]
        return
    (row,) = found
    assert row["title"] == "in 1 environment worker, it takes 25% of its work"
    assert row["saving_ns"] == round(exact(8 / 4 * SECOND).with_rest(LOOP_NS).saving_ns)


def test_a_loop_without_workers_is_looked_at_alone(monkeypatch):
    assert ask(monkeypatch, trace()) == []
