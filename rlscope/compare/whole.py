"""Rows of the loop as a whole."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from rlscope.analysis import difference_verdicts
from rlscope.compare import iterations
from rlscope.compare.measured import Measured
from rlscope.compare.readings import Reading
from rlscope.compare.rows import ITERATION, RUN, STEP, Row, Sides


def _whole(row: Row) -> Row:
    contribution = row.new / row.base - 1 if row.base else 0.0
    return replace(row, share=1.0, contribution=contribution)


def loop(sides: Sides) -> Row:
    row = sides.row(
        "the loop",
        lambda run: iterations.usual_loop(run, sides.unit, sides.alike),
        doubt=difference_verdicts.LOOP_DOUBT,
    )
    return replace(_whole(row), corrected=corrected(sides, lambda _: True))


def mean_loop(sides: Sides) -> Row:
    return _whole(
        sides.row(
            "the loop, with what disturbed it",
            lambda run: iterations.mean_reading(run, lambda *_: True, sides.unit),
            doubt=difference_verdicts.LOOP_DOUBT,
        )
    )


def per_step(sides: Sides) -> Row | None:
    if sides.unit == RUN or not all(each.steps for each in sides.every):
        return None
    return loop(replace(sides, unit=STEP))


def cpu(sides: Sides) -> Row | None:
    """CPU time is known of a whole life only, which runs of one length have in common."""
    lengths = [run.iterations for run in sides.every]
    known = [run.cpu_ns for run in sides.every if run.cpu_ns]
    if len(known) < len(lengths) or max(lengths) > min(lengths) * difference_verdicts.EQUAL_WORK:
        return None
    alike = sides if sides.unit != STEP else replace(sides, unit=ITERATION)

    def reading(run: Measured) -> Reading:
        mean = iterations.mean_reading(run, lambda *_: True, alike.unit) or Reading(0.0)
        return replace(mean, value=float(run.cpu_ns or 0) / run.units)

    return _whole(
        alike.row("CPU time of the process", reading, doubt=difference_verdicts.LOOP_DOUBT)
    )


def corrected(sides: Sides, of: Callable[[str], bool]) -> float | None:
    """The change of the time in some operations, without what recording cost."""
    means = []
    for side in (sides.base, sides.new):
        kept = [_kept(run, of) for run in side]
        times = [
            (
                iterations.mean_reading(run, lambda path, _: of(path), sides.unit) or Reading(0.0)
            ).value
            * sides.factor(run)
            for run in side
        ]
        if any(each is None for each in kept):
            return None
        means.append(
            sum(ns * (part or 0.0) for ns, part in zip(times, kept, strict=True)) / len(side)
        )
    return means[1] / means[0] - 1 if means[0] > 0 else None


def _kept(run: Measured, of: Callable[[str], bool]) -> float | None:
    """The part of the time in some operations that is left without what recording cost."""
    states = [state for state in run.states if of(state[0])]
    corrected = [run.corrected.get(state) for state in states]
    recorded = sum(run.states[state] for state in states)
    if None in corrected or not recorded:
        return None
    return sum(each or 0 for each in corrected) / recorded
