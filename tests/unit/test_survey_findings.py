"""Findings of surveys made by hand: values computed on paper, and the edges of verdicts."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.files.survey_runs import cell, lasting, row, run, simulating, survey

from rlscope.survey.claims import (
    ABOVE,
    BELOW,
    FAILS,
    HOLDS,
    NEEDS_GPU,
    UNDECIDED,
    Judged,
    JudgedFinding,
    decide,
)
from rlscope.survey.findings import FINDINGS, judge_all
from rlscope.survey.pairs import pairs
from rlscope.survey.results import CellResult, Results, value_of, value_of_ratios
from rlscope.survey.runs import Process

EAGER = {"algorithm": "TD3", "framework": "TensorFlow", "mode": "eager", "environment": "P"}
FUNCTION = {**EAGER, "mode": "function"}
GRAPH = {**EAGER, "mode": "graph"}
TORCH = {**EAGER, "framework": "PyTorch"}


def finding(results: Results, key: str) -> JudgedFinding:
    return {each.finding.key: each for each in judge_all(results)}[key]


def mean(judged: Judged) -> float:
    assert judged.value is not None, judged.reason
    return judged.value.mean


@pytest.mark.parametrize(
    ("low", "high", "above", "below"),
    [
        (1.1, 1.2, HOLDS, FAILS),
        (0.8, 0.9, FAILS, HOLDS),
        (0.9, 1.1, UNDECIDED, UNDECIDED),
        (1.0, 1.1, UNDECIDED, UNDECIDED),
        (0.9, 1.0, UNDECIDED, UNDECIDED),
        (1.0, 1.0, UNDECIDED, UNDECIDED),
    ],
)
def test_only_a_whole_interval_on_one_side_decides(
    low: float, high: float, above: str, below: str
) -> None:
    assert decide(ABOVE, 1.0, low, high) == above
    assert decide(BELOW, 1.0, low, high) == below


def test_the_interval_is_students() -> None:
    """t of two degrees of freedom is 4.302653, and the standard error of 1, 2, 3 is sqrt(1/3)."""
    value = value_of([1.0, 2.0, 3.0])
    assert value is not None and value.low is not None and value.high is not None
    assert (value.mean, value.repetitions) == (2.0, 3)
    assert value.high - 2.0 == pytest.approx(4.302653 / 3**0.5)
    assert 2.0 - value.low == pytest.approx(4.302653 / 3**0.5)


def test_the_interval_of_ratios_is_that_of_their_logarithms() -> None:
    """Those of 1, 2 and 4 are 0, 1 and 2 times ln 2, with the standard error ln 2 / sqrt(3)."""
    value, inverse = value_of_ratios([1.0, 2.0, 4.0]), value_of_ratios([1.0, 0.5, 0.25])
    assert value is not None and value.low is not None and value.high is not None
    assert value.mean == pytest.approx(2.0)
    assert value.high / value.mean == pytest.approx(2 ** (4.302653 / 3**0.5))
    assert value.mean / value.low == pytest.approx(2 ** (4.302653 / 3**0.5))
    assert inverse is not None and inverse.low == pytest.approx(1 / value.high)


@pytest.mark.parametrize(
    ("values", "mean"), [([0.0, 2.0], 1.0), ([3.0], 3.0), ([1e-300, 1e300], 1.0)]
)
def test_ratios_of_any_kind_have_a_finite_mean(values: list[float], mean: float) -> None:
    value = value_of_ratios(values)
    assert value is not None and value.mean == pytest.approx(mean)
    assert value.high is None or value.high < float("inf")
    assert value_of_ratios([]) is None


def test_all_findings_have_their_number_once() -> None:
    assert [each.key for each in FINDINGS] == [f"S{number}" for number in range(1, 16)]


SB3 = {"experiment": "algorithm", "framework": "Stable-Baselines3"}


def of_library(algorithm: str, share: int, policy: str, **others: str) -> CellResult:
    labels = {**SB3, "algorithm": algorithm, "policy": policy, **others}
    return simulating(algorithm.lower(), [share] * 3, **labels)


def papers_algorithms() -> list[CellResult]:
    return [
        of_library("A2C", 60, "on-policy"),
        of_library("PPO", 40, "on-policy"),
        of_library("SAC", 5, "off-policy"),
        of_library("DDPG", 10, "off-policy"),
    ]


def test_on_policy_against_off_policy_is_the_least_over_the_largest_share() -> None:
    found = finding(survey(*papers_algorithms()), "S12")
    assert mean(found.judged[0]) == pytest.approx(4.0)
    assert found.judged[0].by == [("ppo", "ddpg")] * 3
    assert found.verdict == HOLDS


def test_policies_are_compared_within_one_library() -> None:
    ours = of_library("TD3", 30, "off-policy", framework="PyTorch")
    found = finding(survey(*papers_algorithms(), ours), "S12")
    assert mean(found.judged[0]) == pytest.approx(4.0)


def test_policies_are_not_compared_without_one_of_the_papers_algorithms() -> None:
    ours = of_library("DDPG", 10, "off-policy", framework="PyTorch")
    found = finding(survey(*papers_algorithms()[:3], ours), "S12")
    assert (found.verdict, found.judged[0].value) == (UNDECIDED, None)
    assert found.judged[0].reason.startswith("not measured: no cell of algorithm Stable-Baselines3")
    assert "DDPG" in found.judged[0].reason


def test_shares_of_simulation_that_vary_decide_nothing() -> None:
    results = survey(simulating("hopper", [30, 50, 40], experiment="simulator"))
    found = finding(results, "S13")
    assert mean(found.judged[0]) == pytest.approx(0.4)
    assert found.verdict == UNDECIDED
    assert "bound" in found.judged[0].reason


@pytest.mark.parametrize(("share", "verdict"), [(39, HOLDS), (38, UNDECIDED), (37, FAILS)])
def test_the_least_share_of_a_simulator_decides(share: int, verdict: str) -> None:
    results = survey(
        simulating("pong", [90] * 3, experiment="simulator"),
        simulating("ant", [share] * 3, experiment="simulator algorithm"),
        simulating("elsewhere", [1] * 3, experiment="algorithm"),
    )
    assert finding(results, "S13").verdict == verdict


def test_eager_is_compared_with_every_other_mode_of_the_same_task() -> None:
    """20 over 10, 30 over 10; the cell of another environment has no pair."""
    results = survey(
        lasting("tf-eager", [200] * 3, EAGER, entries=4.0),
        lasting("torch", [300] * 3, TORCH, entries=6.0),
        lasting("tf-function", [100] * 3, FUNCTION, entries=2.0),
        lasting("other", [999] * 3, {**GRAPH, "environment": "Q"}, entries=2.0),
    )
    time, entries = finding(results, "S1").judged
    assert set(time.by) <= {("tf-eager", "tf-function"), ("torch", "tf-function")}
    assert (mean(time), mean(entries)) == (pytest.approx(2.0), pytest.approx(2.0))
    assert finding(results, "S1").verdict == HOLDS


def test_time_is_compared_by_the_step_and_not_by_the_window() -> None:
    """Both ran for 100 ns; one of them has made twice as many steps."""
    results = survey(
        lasting("tf-eager", [100] * 3, EAGER, iterations=1, steps=10),
        lasting("torch", [100] * 3, TORCH, iterations=2, steps=20),
    )
    assert mean(finding(results, "S3").judged[0]) == pytest.approx(2.0)


def with_steps(each: CellResult, steps: int) -> CellResult:
    """The cell with so many steps of an iteration."""
    return replace(each, cell=replace(each.cell, steps=steps))


def test_entries_are_compared_by_the_iteration() -> None:
    """Eight against two in an iteration of four steps, whatever the number of iterations."""
    results = survey(
        with_steps(lasting("tf", [9] * 3, EAGER, entries=8.0, iterations=1, steps=4), 4),
        with_steps(lasting("torch", [9] * 3, TORCH, entries=2.0, iterations=5, steps=20), 4),
    )
    assert mean(finding(results, "S3").judged[1]) == pytest.approx(4.0)
    (pair,) = pairs(results)
    assert pair.entries is not None and pair.entries.mean == pytest.approx(4.0)


def test_cells_whose_iterations_differ_are_of_unequal_work() -> None:
    results = survey(
        with_steps(lasting("tf", [9] * 3, EAGER, entries=8.0), 1024),
        with_steps(lasting("torch", [9] * 3, TORCH, entries=2.0), 4096),
    )
    assert pairs(results) == []
    found = finding(results, "S3")
    assert found.verdict == UNDECIDED
    assert found.judged[0].reason.startswith("not measured: no pair")


def test_a_sum_over_several_processes_is_no_time_of_the_training_process() -> None:
    """Results of an earlier release have only that."""
    family = [Process("trainer", "main", 9, 9, 9), Process("worker 0", "worker", 9, 9, 9)]
    results = survey(
        lasting("tf", [200] * 3, EAGER, processes=family), lasting("torch", [100] * 3, TORCH)
    )
    found = finding(results, "S3")
    assert (found.verdict, found.judged[0].value) == (UNDECIDED, None)
    assert found.judged[0].reason == "not measured: the time of the training process of tf"


def test_a_finding_holds_only_if_all_of_its_claims_do() -> None:
    results = survey(
        lasting("tf-eager", [200] * 3, EAGER, entries=1.0),
        lasting("torch", [100] * 3, TORCH, entries=2.0),
    )
    time, entries = finding(results, "S3").judged
    assert (time.verdict, entries.verdict) == (HOLDS, FAILS)
    assert finding(results, "S3").verdict == FAILS


@pytest.mark.parametrize(
    ("graph", "function", "difference"), [(110, 100, 0.1), (100, 110, 0.1), (150, 100, 0.5)]
)
def test_autograph_and_graph_differ_by_a_part_of_the_faster(
    graph: int, function: int, difference: float
) -> None:
    results = survey(
        lasting("graph", [graph] * 3, GRAPH), lasting("function", [function] * 3, FUNCTION)
    )
    assert mean(finding(results, "S4").judged[0]) == pytest.approx(difference)


def test_pytorch_is_compared_with_the_better_of_two() -> None:
    results = survey(
        lasting("torch", [300] * 3, TORCH),
        lasting("graph", [150] * 3, GRAPH),
        lasting("function", [100] * 3, FUNCTION),
    )
    assert mean(finding(results, "S5").judged[0]) == pytest.approx(3.0)


def test_every_two_cells_of_equal_work_are_a_pair() -> None:
    found = pairs(
        survey(
            lasting("torch", [300] * 3, TORCH, entries=6.0),
            lasting("graph", [150] * 3, GRAPH, entries=2.0),
            lasting("silent", [100] * 3, FUNCTION),
            lasting("other", [100] * 3, {**GRAPH, "environment": "Q"}),
        )
    )
    assert [(each.first, each.second) for each in found] == [
        ("torch", "graph"),
        ("torch", "silent"),
        ("graph", "silent"),
    ]
    first, second, _ = found
    for value, ratio in ((first.time, 2), (first.backend_time, 2), (first.entries, 3)):
        assert value is not None
        assert (value.low, value.mean, value.high) == pytest.approx((ratio, ratio, ratio))
    assert second.entries is None, "nothing is divided by 0"


def test_python_shares_are_of_their_stage() -> None:
    """Inference: 50 % against 20 %. Updates: 40 % against 10 %."""

    def program(name: str, python: int, update: int, labels: dict[str, str]) -> object:
        rows = [
            row("inference", "python", python),
            row("inference", "framework", 100 - python),
            row("critic/backprop", "python", update),
            row("critic/backprop", "framework", 100 - update),
        ]
        return cell(name, [run(name, number, rows) for number in (1, 2, 3)], **labels)

    results = survey(program("graph", 50, 40, GRAPH), program("function", 20, 10, FUNCTION))
    assert mean(finding(results, "S2").judged[0]) == pytest.approx(2.5)


def test_inflation_is_recorded_over_corrected_time() -> None:
    """150 over 100 and 110 over 100: 1.3 on average, which is less than the paper's least."""
    results = survey(
        cell("a", [run("a", n, [row("x", "python", 150, corrected_ns=100)]) for n in (1, 2, 3)]),
        cell("b", [run("b", n, [row("x", "python", 110, corrected_ns=100)]) for n in (1, 2, 3)]),
    )
    found = finding(results, "S15")
    assert mean(found.judged[0]) == pytest.approx(1.3)
    assert found.verdict == FAILS


@pytest.mark.parametrize("key", ["S6", "S7", "S8", "S14"])
def test_what_is_about_a_gpu_needs_one(key: str) -> None:
    found = finding(survey(lasting("torch", [100] * 3, TORCH)), key)
    assert found.verdict == NEEDS_GPU
    assert all(each.value is None and each.reason for each in found.judged)


def test_gpu_time_is_the_time_in_which_the_gpu_worked() -> None:
    """15 of 200 ns of inference, and twice as much time in CUDA calls."""
    rows = [
        row("inference", "cuda_api", 30),
        row("inference", "framework", 155),
        row("inference", "none", 15, gpu=True),
        row("backprop", "framework", 400),
    ]
    results = survey(cell("torch", [run("torch", n, rows, gpu_absence="") for n in (1, 2, 3)]))
    share, calls = finding(results, "S6"), finding(results, "S7")
    assert (mean(share.judged[0]), share.verdict) == (pytest.approx(0.075), HOLDS)
    assert (mean(calls.judged[0]), calls.verdict) == (pytest.approx(2.0), HOLDS)


def test_one_repetition_has_a_value_and_decides_nothing() -> None:
    found = finding(survey(simulating("pong", [90], experiment="simulator")), "S13")
    assert mean(found.judged[0]) == pytest.approx(0.9)
    assert (found.verdict, found.judged[0].reason) == (
        UNDECIDED,
        "one repetition has no interval",
    )


def test_a_cell_that_lacks_a_repetition_is_in_no_finding() -> None:
    whole = simulating("pong", [90, 90, 90], experiment="simulator")
    broken = simulating("ant", [10, 10, 10], experiment="simulator")
    runs = [*broken.runs[:2], replace(broken.runs[2], error="it failed", rows=())]
    found = finding(survey(whole, replace(broken, runs=runs)), "S13")
    assert mean(found.judged[0]) == pytest.approx(0.9)


def test_a_survey_of_other_programs_is_not_judged() -> None:
    assert judge_all(survey(simulating("mine", [90, 90, 90], experiment="mine"))) == []


def test_without_any_run_nothing_is_decided() -> None:
    found = judge_all(survey(cell("none", [])))
    assert {each.verdict for each in found} == {UNDECIDED}
