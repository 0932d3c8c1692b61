"""Keras makes a data set for each call of fit or predict, and runs a batch or two of it; or it is
called for one row after the other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rlscope.amounts import plural, share
from rlscope.analysis import groups, verdicts
from rlscope.analysis.critical_loop import Loop
from rlscope.analysis.finding import Finding, Rule
from rlscope.analysis.function_time import (
    KERAS_LAYERS,
    FunctionTime,
    of_functions,
    time_of_functions,
)
from rlscope.analysis.independent_passes import goes_through_items
from rlscope.analysis.own_loops import operations_in
from rlscope.analysis.prices import Price
from rlscope.analysis.source_code import source_of
from rlscope.relations.groups import LEARNING, SIMULATION

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace

_CALLS = (r".*keras/.*:(\w*Trainer|Model)\.(fit|predict|evaluate)",)
# What calls them, and frees the data set when they return.
_AROUND = (r".*keras/.*/traceback_utils\.py:filter_traceback\.<locals>\.error_handler",)
# Calls that make none: of a model, and of its methods for a batch.
_BATCHES = (*KERAS_LAYERS, r".*keras/.*:(\w*Trainer|Model)\.(train|test|predict)_on_batch")
# What they call with each batch.
_STEPS = (
    r".*keras/.*:(\w*Trainer|Model)\.(_make|make_(train|test|predict))_function\.<locals>\..*",
    r".*tensorflow/python/eager/polymorphic_function/polymorphic_function\.py:Function\.__call__",
)


def _find(trace: Trace, loop: Loop) -> Iterator[Finding]:
    calls = of_functions(trace, loop, _CALLS)
    if calls is None:
        return
    time = time_of_functions(trace, loop, _CALLS + _AROUND, calls.places)
    steps_ns = time_of_functions(trace, loop, _STEPS, calls.places).saving_ns
    beside_ns = max(time.saving_ns - steps_ns, 0.0)
    if not verdicts.is_most(beside_ns, time.saving_ns):
        return
    steps = share(steps_ns, time.saving_ns)
    evidence = (
        f"{calls.readings} readings of the loop's stack lie in fit, predict or evaluate, called "
        f"from {plural(len(calls.places), 'line')}. What these do with a batch takes {steps}."
    )
    if _are_rows_looped(trace, loop, calls):
        yield _of_rows(loop, calls, time, evidence)
        return
    yield Finding(
        title="Keras makes data sets for single batches for "
        f"{share(beside_ns, loop.loop_ns)} of the loop",
        evidence=evidence,
        evidence_sql=calls.evidence_sql,
        fix="Call predict_on_batch and train_on_batch, which make none, with many rows at once.",
        no_effect="Little effect where each call goes through many batches.",
        # With a row or 32, they take 0.4 % to 2 % of the time of predict and fit.
        price=Price(
            beside_ns, max(time.low_ns - steps_ns, 0.0), max(time.high_ns - steps_ns, 0.0)
        ).part(0.9, 0.97, 1.0),
        operation=calls.operation,
        file=calls.file,
        line=calls.line,
    )


def _find_batches(trace: Trace, loop: Loop) -> Iterator[Finding]:
    """The same of calls that make no data sets, all in one loop."""
    calls = of_functions(trace, loop, _BATCHES, groups.paths_in(trace, loop.process_id, LEARNING))
    if calls is None or not _are_rows_looped(trace, loop, calls):
        return
    first, last = source_of(trace, calls.file).loop_at(calls.line) or (0, 0)
    inside = {each for each in calls.places if each[0] == calls.file and first <= each[1] <= last}
    time = time_of_functions(trace, loop, _BATCHES, inside)
    evidence = (
        f"{calls.readings} readings of the loop's stack lie in Keras' calls of a model, from "
        f"{plural(len(inside), 'line')} of a loop over rows."
    )
    yield _of_rows(loop, calls, time, evidence)


def _of_rows(loop: Loop, calls: FunctionTime, time: Price, evidence: str) -> Finding:
    return Finding(
        title="Keras is called for one row after the other, for "
        f"{share(time.saving_ns, loop.loop_ns)} of the loop",
        evidence=evidence,
        evidence_sql=calls.evidence_sql,
        fix="Put the rows of all passes into one batch, and call predict_on_batch and "
        "train_on_batch once.",
        no_effect="Other numbers, where a pass needs what the one before it learned.",
        # One batch of 32 rows takes 0.7 % of what they take one by one.
        price=time.part(0.85, 0.97, 0.99),
        operation=calls.operation,
        file=calls.file,
        line=calls.line,
    )


def _are_rows_looped(trace: Trace, loop: Loop, calls: FunctionTime) -> bool:
    """Whether the line stands in a loop over rows, which steps no environment."""
    source = source_of(trace, calls.file)
    place = source.loop_at(calls.line)
    if place is None or not goes_through_items(source, calls.line):
        return False
    inside = operations_in(trace, loop, calls.file, place)
    return inside.isdisjoint(groups.paths_in(trace, loop.process_id, SIMULATION))


def _find_any(trace: Trace, loop: Loop) -> Iterator[Finding]:
    found = [*_find(trace, loop)]
    yield from found or _find_batches(trace, loop)


RULE = Rule(_find_any, of_lines=True)
