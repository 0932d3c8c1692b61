"""An operation against the rest of its loop, on runs made by hand: on a machine that slows all
operations of a run alike, by tens of percent, a planted slow-down of one of them is told."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest
from numpy.random import Generator, default_rng

from rlscope.analysis.difference_verdicts import Gated, Verdict
from rlscope.compare import comparison, gate, trimmed, words
from rlscope.compare.comparison import Comparison
from rlscope.compare.measured import Measured
from rlscope.compare.readings import BLOCKS, STEPS
from rlscope.compare.rows import Row

ITERATIONS, ENTRIES = 100, 10
OPERATIONS = {"inference": 100_000.0, "simulation": 150_000.0, "learning": 150_000.0}
EQUAL: Mapping[str, float] = {}


def run(
    generator: Generator,
    slower: Mapping[str, float] = EQUAL,
    *,
    drift: float = 0.2,
    unlike: float = 0.002,
    waiting: str = "",
) -> Measured:
    """A run on a machine that drifts: from run to run, and inside of it."""
    walk = np.cumsum(generator.normal(size=ITERATIONS)) / math.sqrt(ITERATIONS)
    machine = drift * (generator.normal() + walk)
    times = {
        name: ns
        * slower.get(name, 1.0)
        * np.exp(generator.normal() * unlike + (0 if name == waiting else machine))[..., None]
        * generator.lognormal(0, 0.02, (ITERATIONS, ENTRIES))
        for name, ns in OPERATIONS.items()
    }
    return measured(times, waiting)


def measured(times: Mapping[str, np.ndarray], waiting: str = "") -> Measured:
    """A run of entries: iterations x entries of an iteration, by operation."""
    sums = {
        (name, "wait" if name == waiting else "python"): of.sum(axis=1)
        for name, of in times.items()
    }
    total = int(sum(each.sum() for each in sums.values()))
    return Measured(
        directory="run",
        facts={"program": "python train.py"},
        loop_ns=total,
        run_ns=total,
        iterations=len(next(iter(times.values()))),
        states={state: int(each.sum()) for state, each in sums.items()},
        corrected={},
        series=sums,
        entries={name: float(of.shape[1]) for name, of in times.items()},
        entry_times={name: histogram(of) for name, of in times.items()},
    )


def histogram(times: np.ndarray) -> dict[tuple[int, int], int]:
    blocks = np.broadcast_to(BLOCKS * np.arange(len(times))[:, None] // len(times), times.shape)
    steps = np.floor(STEPS * np.log(times)).astype(int)
    places = np.array([blocks.ravel(), steps.ravel()])
    pairs, counts = np.unique(places, axis=1, return_counts=True)
    return {
        (int(block), int(step)): int(count)
        for block, step, count in zip(*pairs, counts, strict=True)
    }


def compared(
    seed: int, runs: int, slower: Mapping[str, float] = EQUAL, **machine: object
) -> Comparison:
    generator = default_rng(seed)
    base = [run(generator, **machine) for _ in range(runs)]  # type: ignore[arg-type]
    new = [run(generator, slower, **machine) for _ in range(runs)]  # type: ignore[arg-type]
    return comparison.compare(base, new)


def row(found: Comparison, name: str) -> Row:
    (chosen,) = [each for each in found.operations if each.name == name]
    return chosen


def told(found: Comparison) -> set[str]:
    rows = (found.loop, found.mean_loop, *found.operations)
    return {each.name for each in rows if each.verdict != Verdict.NO_CLEAR_DIFFERENCE}


@pytest.mark.parametrize("name", OPERATIONS)
def test_what_became_slower_is_told_where_the_machine_drifts_by_more(name: str) -> None:
    found = compared(1, 5, {name: 1.05})
    assert told(found) == {name}
    first = found.operations[0]
    assert (first.name, first.own_verdict) == (name, Verdict.NO_CLEAR_DIFFERENCE)
    assert first.relative is not None
    assert first.relative.difference.change == pytest.approx(0.05, abs=0.005)
    assert found.loop.verdict == Verdict.NO_CLEAR_DIFFERENCE
    change = words.size(first.relative.difference.change)
    said = words.headline(found)
    assert said.endswith(f"; {name} is {change} slower relative to the rest of the loop.")
    assert "no clear difference" in said


def test_equal_runs_are_not_told_apart_where_the_machine_drifts() -> None:
    found = [row for seed in range(10) for row in compared(seed, 3).operations]
    assert {each.relative_verdict for each in found} == {Verdict.NO_CLEAR_DIFFERENCE}


def test_one_run_of_each_side_tells_what_is_larger_than_runs_differ_by() -> None:
    found = compared(2, 1, {"simulation": 1.1}, drift=0.1)
    by_rest = {each.name: each.relative_verdict for each in found.operations}
    assert by_rest.pop("simulation") == Verdict.SLOWER
    assert set(by_rest.values()) == {Verdict.NO_CLEAR_DIFFERENCE}


def test_two_operations_that_change_both_leave_the_rest() -> None:
    generator = default_rng(3)
    slower = {"simulation": 1.1, "inference": 0.9}
    base = [four(generator, EQUAL) for _ in range(5)]
    new = [four(generator, slower) for _ in range(5)]
    found = comparison.compare(base, new)
    verdicts = {each.name: each.verdict for each in found.operations}
    assert verdicts == {
        "simulation": Verdict.SLOWER,
        "inference": Verdict.FASTER,
        "learning": Verdict.NO_CLEAR_DIFFERENCE,
        "sampling": Verdict.NO_CLEAR_DIFFERENCE,
    }
    for name, factor in slower.items():
        relative = row(found, name).relative
        assert relative is not None
        assert relative.difference.change == pytest.approx(factor - 1, abs=0.01)


def four(generator: Generator, slower: Mapping[str, float]) -> Measured:
    machine = np.exp(generator.normal() * 0.2) * 150_000
    return measured(
        {
            name: machine
            * slower.get(name, 1.0)
            * generator.lognormal(0, 0.02, (ITERATIONS, ENTRIES))
            for name in (*OPERATIONS, "sampling")
        }
    )


def test_a_slower_machine_does_not_make_what_waits_faster() -> None:
    generator = default_rng(4)
    base = [run(generator, drift=0.01, waiting="learning") for _ in range(5)]
    slow = dict.fromkeys(("inference", "simulation"), 1.2)
    new = [run(generator, slow, drift=0.01, waiting="learning") for _ in range(5)]
    found = comparison.compare(base, new)
    assert row(found, "learning").relative is None
    assert row(found, "learning").verdict == Verdict.NO_CLEAR_DIFFERENCE


def test_an_operation_of_some_blocks_only_is_no_part_of_the_rest() -> None:
    generator = default_rng(5)
    runs = [run(generator) for _ in range(4)]
    late = [
        replace(each, entry_times={**each.entry_times, "learning": late_half(each)})
        for each in runs
    ]
    found = comparison.compare(late[:2], late[2:])
    assert row(found, "learning").relative is None
    assert row(found, "simulation").relative is not None


def late_half(found: Measured) -> dict[tuple[int, int], int]:
    entries = found.entry_times["learning"]
    return {(block, step): n for (block, step), n in entries.items() if block >= BLOCKS // 2}


def test_what_changed_in_some_kind_of_entry_only_is_told_of_the_mean() -> None:
    """A tenth of simulation's time is in short entries, and only these are slower."""
    generator = default_rng(6)
    base, new = ([kinds(generator, slower) for _ in range(3)] for slower in (1.0, 1.5))
    relative = row(comparison.compare(base, new), "simulation").relative
    assert relative is not None
    assert relative.difference.change == pytest.approx(0.05, abs=0.01)


def kinds(generator: Generator, slower: float) -> Measured:
    shape = (ITERATIONS, ENTRIES)
    times = {name: ns * generator.lognormal(0, 0.002, shape) for name, ns in OPERATIONS.items()}
    is_short = np.arange(ENTRIES) < ENTRIES // 2
    parts = np.where(is_short, 0.2 * slower, 1.8)
    return measured({**times, "simulation": times["simulation"] * parts})


def test_disturbed_entries_do_not_hide_what_became_slower() -> None:
    """Half of all entries take several times as long as the rest, at random."""
    generator = default_rng(7)
    base, new = ([disturbed(generator, slower) for _ in range(5)] for slower in (1.0, 1.05))
    found = comparison.compare(base, new)
    first = found.operations[0]
    assert (first.name, first.verdict) == ("simulation", Verdict.SLOWER)


def disturbed(generator: Generator, slower: float) -> Measured:
    shape = (ITERATIONS, 40)
    machine = np.exp(generator.normal() * 0.05)
    return measured(
        {
            name: ns
            * machine
            * (slower if name == "simulation" else 1.0)
            * generator.lognormal(0, 0.01, shape)
            * np.where(generator.random(shape) < 0.5, generator.uniform(2, 6, shape), 1.0)
            for name, ns in OPERATIONS.items()
        }
    )


@pytest.mark.parametrize("slope", [0.0, 0.3])
def test_what_slows_operations_unequally_widens_the_interval(slope: float) -> None:
    """The base on one machine, the new runs on one that is slower by a fifth, where simulation
    slows down by more; inside of runs, the machine changes as much."""
    generator = default_rng(8)

    def on(machine: float) -> Measured:
        moves = machine + 0.1 * generator.normal(size=(ITERATIONS, 1))
        return measured(
            {
                name: ns
                * np.exp(moves * (1 + slope * (name == "simulation")))
                * generator.lognormal(0, 0.01, (ITERATIONS, ENTRIES))
                for name, ns in OPERATIONS.items()
            }
        )

    base, new = ([on(machine) for _ in range(5)] for machine in (0.0, 0.2))
    relative = row(comparison.compare(base, new), "simulation").relative
    assert relative is not None
    apart = 0.2 * min(max(slope, 0.05), 0.25)
    assert relative.difference.error == pytest.approx(apart, rel=0.25)
    assert relative.verdict == Verdict.NO_CLEAR_DIFFERENCE


def test_the_change_is_that_of_plain_ratios() -> None:
    """Two operations, so that the rest of one is the other, whatever it weighs."""
    generator = default_rng(9)
    shape = (ITERATIONS, ENTRIES)
    runs = [
        {
            name: ns * generator.lognormal(0, 0.02, shape)
            for name, ns in OPERATIONS.items()
            if name != "learning"
        }
        for _ in range(4)
    ]
    by_hand = [plain_ratio(each) for each in runs]
    found = comparison.compare(
        [measured(each) for each in runs[:2]], [measured(each) for each in runs[2:]]
    )
    relative = row(found, "simulation").relative
    assert relative is not None
    expected = sum(by_hand[2:]) / 2 - sum(by_hand[:2]) / 2
    assert relative.difference.log_ratio == pytest.approx(expected, abs=0.002)


def plain_ratio(times: Mapping[str, np.ndarray]) -> float:
    """Of lower quartiles in each block, by their definition."""
    quartiles = {
        name: np.quantile(of.reshape(BLOCKS, -1), 0.25, axis=1) for name, of in times.items()
    }
    apart = np.log(quartiles["simulation"]) - np.log(quartiles["inference"])
    return trimmed.of(apart.tolist()).mean


def test_a_short_run_of_each_side_tells_nothing_relative() -> None:
    generator = default_rng(10)
    shape = (5, ENTRIES)
    base, new = (
        measured({name: ns * factor * generator.lognormal(0, 0.01, shape)
                  for (name, ns), factor in zip(OPERATIONS.items(), factors, strict=True)})
        for factors in ((1, 1, 1), (1, 3, 1))
    )  # fmt: skip
    relative = row(comparison.compare([base], [new]), "simulation").relative
    assert relative is not None and math.isinf(relative.difference.error)


def test_a_gate_fails_by_what_is_slower_than_the_rest() -> None:
    found = compared(11, 5, {"simulation": 1.06})
    judged = gate.judge(found, 0.03)
    (failed,) = [each for each in judged.checks if each.outcome == Gated.FAILS]
    assert (failed.row.name, failed.by_rest) == ("simulation", True)
    assert "simulation +" in words.gate(judged)
    assert "relative to the rest of the loop" in words.gate(judged)
    assert gate.judge(found, 0.09).outcome != Gated.FAILS


def test_a_gate_does_not_fail_by_a_rest_that_became_faster() -> None:
    faster = {"simulation": 0.8, "learning": 0.8}
    found = compared(12, 5, faster, drift=0.02)
    assert row(found, "inference").relative_verdict == Verdict.SLOWER
    assert found.loop.verdict == Verdict.FASTER
    assert gate.judge(found, 0.03).outcome != Gated.FAILS
