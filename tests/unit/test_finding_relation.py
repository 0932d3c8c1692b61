"""The relation `finding`, which a query makes: of one run, of several, and in a rule."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.files.finding_rows import finding, install, seconds
from support.files.tiny_traces import write_trace

import rlscope as rls
from rlscope import registry
from rlscope.analysis import advice
from rlscope.analysis.finding import Rule
from rlscope.analysis.prices import Price

TITLE = "it is slow"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write_trace("workers", tmp_path / "run")


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, slow=[finding(Price(2_000, 1_000, 3_000), file="a'b.py", line=3)])


@pytest.mark.usefixtures("slow")
def test_a_query_has_the_findings_of_a_run(root):
    with rls.load(root) as trace:
        rows = trace.sql("SELECT rank, rule, title, file, saving_low_ns FROM finding")
        assert list(rows) == [(1, "slow", TITLE, "a'b.py", 1_000)]
        assert trace.table("finding")["confidence"] == ("measured",)


def test_rules_are_asked_once_of_a_trace(root, monkeypatch):
    asked = []

    def find(*_: object) -> Iterator[object]:
        asked.append(1)
        yield finding(seconds(2, 1, 3))

    monkeypatch.setattr(registry, "names", lambda _: ["one"])
    load = registry.load
    monkeypatch.setattr(
        registry,
        "load",
        lambda group, name: Rule(find) if group == registry.FINDINGS else load(group, name),
    )
    with rls.load(root) as trace:
        for _ in range(3):
            assert len(trace.sql("FROM finding")) == 1
            assert len(advice.advice(trace).findings) == 1
    assert asked == [1]


@pytest.mark.usefixtures("slow")
def test_several_runs_have_their_findings_together(root, tmp_path):
    other = write_trace("trainer", tmp_path / "other")
    with rls.load_many([root, other]) as traces:
        rows = traces.sql("SELECT run_id, title FROM finding JOIN run USING (run_id)")
        assert {title for _, title in rows} == {TITLE}
        assert len({run_id for run_id, _ in rows}) == len(rows) == 2


def test_a_rule_that_asks_for_findings_fails(root, monkeypatch):
    install(monkeypatch, good=[finding(Price(2_000, 1_000, 3_000))])
    load = registry.load

    def load_one(group: str, name: str) -> object:
        if group == registry.FINDINGS:
            return Rule(lambda trace, _: trace.sql("FROM finding"))
        return load(group, name)

    monkeypatch.setattr(registry, "load", load_one)
    with rls.load(root) as trace:
        assert len(trace.sql("FROM finding")) == 0
        (failure,) = advice.advice(trace).failures
        assert failure.rule == "good"
