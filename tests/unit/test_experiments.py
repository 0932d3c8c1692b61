"""Experiments of `rlscope advise --measure`: they run in other interpreters, and replace prices."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest
from support.files.finding_rows import LOOP_NS, finding, install, seconds, trace
from support.files.relation_rows import SECOND, Relations

from rlscope.analysis import advice
from rlscope.analysis.finding import Experiment, Measured
from rlscope.analysis.prices import Price, exact, of_ratios
from rlscope.experiments import running

ROOT = Path(__file__).parents[2]
PROGRAMS = ROOT / "rlscope" / "experiments" / "programs"
BATCH = Experiment("batched_calls", {"calls": 4, "each_ns": 5000}, exact(4 * SECOND))


def script(path: Path, text: str) -> str:
    """An interpreter that a test makes."""
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


def named() -> set[str]:
    """The experiments of all rules."""
    calls = (
        node
        for file in (ROOT / "analysis" / "findings").glob("*.py")
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Experiment"
    )
    return {str(ast.literal_eval(call.args[0])) for call in calls}


def test_rules_name_all_experiments_and_no_others():
    assert named() == {file.stem for file in PROGRAMS.glob("[a-z]*.py")}


def test_an_experiment_runs_in_the_other_interpreter():
    pytest.importorskip("torch")
    found = running.measure(BATCH, sys.executable)
    assert found.problem == ""
    assert found.left is not None
    assert 0 < found.left.low_ns <= found.left.saving_ns <= found.left.high_ns
    assert found.program_s > 0
    assert found.advised_s > 0


def test_without_the_library_it_says_so(tmp_path):
    bare = script(tmp_path / "python", f'exec {sys.executable} -I -S "$@"')
    found = running.measure(BATCH, bare)
    assert found.left is None
    assert "torch is not installed" in found.problem
    assert "--python" in found.problem


@pytest.mark.parametrize(
    ("does", "says"),
    [
        ("echo no module >&2; exit 3", "no module"),
        ("exit 3", "exit status 3"),
        ("echo '{\"pairs\": 3}'", "no result"),
        ("echo '{\"pairs\": [[1, 2], [1, 2]]}'", "disturbed"),
    ],
)
def test_an_interpreter_that_fails_is_named(tmp_path, does, says):
    assert says in running.measure(BATCH, script(tmp_path / "python", does)).problem


def test_an_interpreter_that_is_not_there_is_named(tmp_path):
    assert "cannot run" in running.measure(BATCH, str(tmp_path / "nothing")).problem


def test_ratios_have_the_interval_of_a_geometric_mean():
    price = of_ratios([-1.0, -1.2, -0.8, -1.1, -0.9])
    assert price.saving_ns == pytest.approx(2.718281828**-1)
    assert price.low_ns < price.saving_ns < price.high_ns < 1


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, slow=[finding(seconds(3, 1, 3.5), experiment=BATCH)])


def grown(saving_ns: float) -> float:
    """With what the rest of the loop gets quicker by."""
    return exact(saving_ns).with_rest(LOOP_NS).saving_ns


def measured(left: Price | None) -> advice.Advice:
    return advice.measured(trace(), lambda each: Measured(each.name, left, 2e-3, 1e-3))


@pytest.mark.usefixtures("slow")
def test_a_measured_part_replaces_the_price():
    (row,) = measured(Price(0.4, 0.3, 0.5)).findings
    assert row["priced_by"] == "experiment"
    assert row["saving_low_ns"] == pytest.approx(0.5 * 4 * SECOND)
    assert row["saving_ns"] == round(grown(0.6 * 4 * SECOND))
    assert "2.00 ms" in row["evidence"]


@pytest.mark.usefixtures("slow")
def test_the_run_itself_bounds_what_is_measured():
    (row,) = measured(Price(0.05, 0.01, 0.1)).findings
    assert row["saving_ns"] == round(grown(3.5 * SECOND))


@pytest.mark.usefixtures("slow")
def test_advice_that_wins_nothing_here_is_left_out():
    found = measured(Price(1.2, 1.1, 1.3))
    assert list(found.findings) == []
    assert [each.name for each in found.experiments] == ["batched_calls"]


@pytest.mark.usefixtures("slow")
def test_what_could_not_be_measured_stays_an_estimate():
    (row,) = measured(None).findings
    assert row["priced_by"] == "run"
    assert row["saving_ns"] == round(grown(3 * SECOND))


@pytest.mark.usefixtures("slow")
def test_what_was_measured_stays_with_the_run(tmp_path, monkeypatch):
    monkeypatch.setattr(Relations, "path", tmp_path)
    before = measured(Price(0.4, 0.3, 0.5)).findings
    assert list(advice.advice(trace()).findings) == list(before)
    again = measured(Price(0.6, 0.5, 0.7)).findings
    assert list(advice.advice(trace()).findings) == list(again)


@pytest.mark.usefixtures("slow")
@pytest.mark.parametrize(
    "line",
    [
        b"{",
        b"[]",
        b'{"experiment": 3}',
        b'{"experiment": "a", "left": NaN, "left_low": 1, "left_high": 1, "program_s": 1, '
        b'"advised_s": 1}',
    ],
)
def test_a_damaged_outcome_is_left_out(tmp_path, monkeypatch, line):
    monkeypatch.setattr(Relations, "path", tmp_path)
    before = measured(Price(0.4, 0.3, 0.5)).findings
    with (tmp_path / "experiments.jsonl").open("ab") as file:
        file.write(line + b"\n")
    assert list(advice.advice(trace()).findings) == list(before)
