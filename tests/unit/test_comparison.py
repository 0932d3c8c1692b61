"""Comparisons of runs made by hand, of which one operation is known to be slower."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from numpy.random import default_rng
from support.files.compared_runs import measured
from support.files.facts import assert_says

from rlscope.analysis.difference_verdicts import Verdict
from rlscope.compare import comparison, words
from rlscope.compare.measured import Measured
from rlscope.compare.renderers.text import render


@pytest.mark.parametrize(
    "long_part",
    [0.0, 0.5, 0.1],  # entries are alike; half of them, or a few, take nearly all of the time
)
def test_what_became_slower_is_told_whichever_entries_it_is_in(long_part: float) -> None:
    generator = default_rng(7)
    base, new = (
        [measured(generator, slower=slower, long_part=long_part) for _ in range(3)]
        for slower in (1.0, 1.1)
    )
    found = comparison.compare(base, new)
    first = found.operations[0]
    assert (first.name, first.verdict) == ("inference", Verdict.SLOWER)
    assert first.difference is not None
    assert first.difference.change == pytest.approx(0.1, abs=0.02)
    assert found.loop.verdict == Verdict.SLOWER


@pytest.mark.parametrize("long_part", [0.0, 0.5, 0.1])
def test_equal_runs_are_not_told_apart(long_part: float) -> None:
    generator = default_rng(8)
    runs = [measured(generator, slower=1.0, long_part=long_part) for _ in range(6)]
    found = comparison.compare(runs[:3], runs[3:])
    rows = [found.loop, found.mean_loop, *found.operations]
    assert {row.verdict for row in rows} == {Verdict.NO_CLEAR_DIFFERENCE}


def headline(base: Sequence[Measured], new: Sequence[Measured]) -> str:
    return words.headline(comparison.compare(base, new))


def made(count: int, *, slower: float = 1.0, seed: int = 3) -> list[Measured]:
    generator = default_rng(seed)
    return [measured(generator, slower=slower, long_part=0.0) for _ in range(count)]


def without_noise(slower: float) -> Measured:
    """A run too short to say how far it drifts."""
    run = made(1, slower=slower)[0]
    return replace(
        run, series={state: of[:2] for state, of in run.series.items()}, entries={}, entry_times={}
    )


def test_one_run_each_says_first_what_was_measured() -> None:
    sides = [without_noise(4.0)], [without_noise(1.0)]
    said = headline(*sides)
    assert_says(said, "6.79 ms", "3.19 ms", "-53.0 %", "one run each", "3 or more of each")
    assert "no clear difference" not in said
    text = render(comparison.compare(*sides), None, width=100, unicode=True)
    assert "would show" not in text
    assert "too few runs to say" in text


def test_the_first_sentence_has_both_times_and_whether_they_are_told_apart() -> None:
    told = headline(made(3), made(3, slower=1.5, seed=4))
    assert_says(told, "18.8 % slower", "3.16 ms", "3.75 ms", "inference", "50.1 %", "slower")
    untold = headline(made(3), made(3, seed=4))
    assert_says(untold, "3.16 ms", "3.16 ms", "+0.0 %", "no clear difference")
    assert "one run each" not in told + untold
    assert "one run each" in headline(made(1), made(1, seed=4))


def test_the_power_is_said_once_and_of_the_way_the_loop_went() -> None:
    """Told apart are then a slow-down to 1 + x and a speed-up to 1 / (1 + x) times as long."""
    sides = made(1), made(1, slower=1.02, seed=4)
    found = [comparison.compare(*each) for each in (sides, sides[::-1])]
    least = [row.loop.difference.could_tell for row in found]  # type: ignore[union-attr]
    assert least[0] == pytest.approx(least[1])
    shown = [words.size(least[0]), words.size(1 - 1 / (1 + least[0]))]
    for each, what, by in zip(found, ("slow-down", "speed-up"), shown, strict=True):
        text = render(each, None, width=100, unicode=True)
        assert f"A {what} of the loop by {by} or more" in text
        assert text.count("would show") == 1
    told = render(comparison.compare(made(3), made(3, slower=1.5)), None, width=100, unicode=True)
    assert "would show" not in told


@pytest.mark.parametrize("count", [1, 3])
def test_a_run_and_its_copy_are_the_same_run(count: int) -> None:
    runs = [replace(run, run_id=f"run {place}") for place, run in enumerate(made(count))]
    copies = [replace(run, directory="copy") for run in runs]
    found = comparison.compare(runs, copies)
    assert render(found, None, width=100, unicode=True).splitlines() == [words.headline(found)]
    assert all(each in words.headline(found) for each in ("same", "run", "copy"))
    others = [replace(run, run_id="") for run in runs]
    assert "same" not in headline(others, [replace(run) for run in others])


def test_a_run_on_both_sides_among_others_is_named() -> None:
    runs = [
        replace(run, run_id=str(place), directory=f"run-{place}")
        for place, run in enumerate(made(3))
    ]
    found = comparison.compare(runs[:2], runs[1:])
    assert any("run-1" in each and "both sides" in each for each in found.warnings)
    assert not any("both sides" in each for each in comparison.compare(runs[:1], runs[1:]).warnings)


def test_transitions_are_counted_and_rare_ones_left_out() -> None:
    outside, rare = "(between operations): python to framework", "inference: wait to python"
    crossings = [{outside: 10.0, rare: 0.0003, "a: b": 0.02}, {outside: 20.0, "a: b": 0.001}]
    base, new = (replace(made(1)[0], crossings=each) for each in crossings)
    found = comparison.compare([base, base], [new, new])
    assert {row.name for row in found.crossings} == {outside, "a: b"}
    cells = {row.name: words.cells(row, counted=True) for row in found.crossings}
    assert cells[outside][:5] == [outside, "10", "20", "+100.0 %", "more"]
    assert cells["a: b"][:3] == ["a: b", "0.02", "< 0.01"]
    swapped = comparison.compare([new, new], [base, base]).crossings
    assert words.cells(swapped[0], counted=True)[4] == "fewer"


def test_long_names_leave_room_for_what_is_told() -> None:
    name = "void at::native::vectorized_elementwise_kernel<4, at::native::" + 20 * "functor" + ">"
    runs = [
        replace(measured(default_rng(9), slower=1.0, long_part=0.0), kernels={name: kernel_ns})
        for kernel_ns in (10_000_000, 20_000_000)
    ]
    text = render(comparison.compare(runs[:1], runs[1:]), None, width=100, unicode=True)
    head, row, *_ = text[text.index("kernel ") :].splitlines()
    assert head.split()[:5] == ["kernel", "base", "new", "change", "verdict"]
    assert all(said in row for said in ("100 µs", "200 µs", "+100.0 %", "slower"))
    assert all(len(line) <= 100 for line in text.splitlines())
