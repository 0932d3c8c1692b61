"""Asks every rule of analysis/findings, and ranks what they found: the relation `finding`.

    advice(trace).findings    rows of the relation, the best first
    advice(trace).failures    rules that failed, which spoil nothing else
    measured(trace, run)      the same, with prices that experiments measured

A finding has a rank where its price does not reach 0: `saving_low_ns` is what it surely wins.
docs/reference/semantics.md, "Findings".
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, fields, replace
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from rlscope import registry
from rlscope.amounts import duration
from rlscope.analysis import finding_verdicts
from rlscope.analysis.critical_loop import Loop, critical_loop, whole_run
from rlscope.analysis.finding import Experiment, Finding, Measured
from rlscope.analysis.finding_verdicts import Confidence
from rlscope.analysis.operations import OUTSIDE
from rlscope.analysis.prices import Price
from rlscope.analysis.source_code import source_of
from rlscope.analysis.worker_loop import WorkerLoop, worker_loop
from rlscope.rundir import experiments_file

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace

Row = dict[str, Any]
COLUMNS = (
    *("rank", "rule", "title", "operation", "file", "line"),
    *("saving_ns", "saving_low_ns", "saving_high_ns", "saving_share", "run_speedup", "once_ns"),
    *("confidence", "priced_by", "evidence", "fix", "no_effect", "evidence_sql"),
)
"""Those of the relation."""

# Part of a price that its interval has to each side at least: runs of one program differ.
_LEAST_WIDTH = 0.1
_OF_LOOP = re.compile(r"\bof the (training )?loop\b")
_THE_LOOP = re.compile(r"\b([Tt])he (training )?loop\b")

Run = Callable[[Experiment], Measured]
"""Runs an experiment."""


@dataclass(frozen=True)
class Failure:
    """A rule that failed."""

    rule: str
    reason: str


@dataclass(frozen=True)
class Advice:
    """What rules found in a trace."""

    loop: Loop | None
    """What prices are of. None: no process did anything, and nothing is advised."""
    findings: Sequence[Row]
    """Rows of the relation `finding`: ranked ones, then those that are worth a look, then what is
    paid once."""
    failures: Sequence[Failure]
    experiments: Sequence[Measured] = ()
    """What was measured for prices."""
    inside: WorkerLoop | None = None
    """Of the environment workers that the loop waits for."""


_advice: WeakKeyDictionary[Trace, Advice] = WeakKeyDictionary()


def advice(trace: Trace) -> Advice:
    """What the rules find; they are asked once of a trace."""
    if trace not in _advice:
        _advice[trace] = _asked(trace, _kept(trace))
    return _advice[trace]


def measured(trace: Trace, run: Run) -> Advice:
    """What the rules find, with prices from the experiments that they name. From here on, this is
    the advice on the trace. What was measured stays with the run, if that can be written."""
    outcomes: list[Measured] = []

    def noted(experiment: Experiment) -> Measured:
        outcome = run(experiment)
        outcomes.append(outcome)
        _keep(trace, experiment, outcome)
        return outcome

    _advice[trace] = replace(_asked(trace, noted), experiments=outcomes)
    return _advice[trace]


def finding_columns(trace: Trace) -> dict[str, list[Any]]:
    """The rows of the relation `finding`, by column."""
    rows = advice(trace).findings
    return {name: [row[name] for row in rows] for name in COLUMNS}


def _keep(trace: Trace, experiment: Experiment, outcome: Measured) -> None:
    if outcome.left is None:
        return
    left = outcome.left.saving_ns, outcome.left.low_ns, outcome.left.high_ns
    key = experiments_file.key_of(experiment.name, experiment.settings)
    kept = experiments_file.Outcome(*left, outcome.program_s, outcome.advised_s)
    with suppress(OSError):  # read-only, or full
        experiments_file.append(trace.path, key, kept)


def _kept(trace: Trace) -> Run:
    """Gives what was measured before, as if it were measured now."""
    known = experiments_file.read(trace.path)

    def run(experiment: Experiment) -> Measured:
        outcome = known.get(experiments_file.key_of(experiment.name, experiment.settings))
        if outcome is None:
            return Measured(experiment.name)
        left = Price(outcome.left, outcome.left_low, outcome.left_high)
        return Measured(experiment.name, left, outcome.program_s, outcome.advised_s)

    return run


def overlaps(rows: Sequence[Row]) -> list[tuple[int, int]]:
    """The ranks of findings, two by two, that can be about the same time: those of one operation,
    or of all of the loop, unless both are of their lines only, and these differ. Their prices do
    not add up."""
    ranked = [row for row in rows if row["rank"] is not None]
    return [
        (one["rank"], other["rank"])
        for place, one in enumerate(ranked)
        for other in ranked[place + 1 :]
        if (
            None in (one["operation"], other["operation"]) or one["operation"] == other["operation"]
        )
        and not _are_apart(one, other)
    ]


def _are_apart(one: Row, other: Row) -> bool:
    places = {(row["file"], row["line"]) for row in (one, other) if row["line"] is not None}
    return len(places) == 2 and all(
        registry.load(registry.FINDINGS, row["rule"]).of_lines for row in (one, other)
    )


def _asked(trace: Trace, run: Run | None = None) -> Advice:
    loop = critical_loop(trace) or whole_run(trace)
    if loop is None:
        return Advice(None, (), ())
    rows: list[Row] = []
    failures: list[Failure] = []
    inside = None if loop.is_whole else worker_loop(trace, loop)
    for name in registry.names(registry.FINDINGS):
        found = _found_by(name, trace, loop, inside, run)
        if isinstance(found, Failure):
            failures.append(found)
        else:
            rows += found
    return Advice(loop, _ranked(rows), failures, inside=inside)


def _found_by(
    name: str, trace: Trace, loop: Loop, inside: WorkerLoop | None, run: Run | None
) -> list[Row] | Failure:
    """What one rule found in the loop, and at lines of the workers it waits for: all of it, or why
    nothing."""
    try:
        rule = registry.load(registry.FINDINGS, name)
        # Other rules ask for operations and iterations, which only a loop has.
        found = [*rule.find(trace, loop)] if rule.of_lines or not loop.is_whole else []
        if loop.is_whole:
            found = [_of_run(each) for each in found if not _is_import(trace, each)]
        if inside is not None and rule.of_lines:
            of_worker = rule.find(trace, inside.loop)
            found += [inside.seen_outside(each) for each in of_worker if each.price is not None]
        return [row for each in found for row in _rows(name, each, loop, run)]
    # A rule may be anybody's, and none may cost the reader the report.
    except Exception as error:
        return Failure(name, f"{type(error).__name__}: {error}")


def _is_import(trace: Trace, found: Finding) -> bool:
    """Whether the work is that of a module which is imported: a loop has none of that."""
    if found.file is None or found.line is None:
        return False
    return source_of(trace, found.file).imports(found.line)


def _of_run(found: Finding) -> Finding:
    """A finding of a run without a training loop."""
    texts = (_OF_LOOP.sub("of the run", text) for text in (found.title, found.evidence))
    title, evidence = (_THE_LOOP.sub(r"\1he program", text) for text in texts)
    return replace(found, title=title, evidence=evidence)


def _rows(name: str, found: Finding, loop: Loop, run: Run | None) -> Iterator[Row]:
    """Its row, unless it is worth too little."""
    row = _row(name, found, loop, "run")
    if row and run and found.experiment:
        outcome = run(found.experiment)
        if outcome.left is not None:
            row = _row(name, _repriced(found, found.experiment, outcome), loop, "experiment")
    if row:
        yield row


def _row(name: str, found: Finding, loop: Loop, priced_by: str) -> Row | None:
    values = {field.name: getattr(found, field.name) for field in fields(found)}
    row = {**values, "rule": name, "rank": None, "priced_by": priced_by, **_priced(found, loop)}
    if row["operation"] == OUTSIDE:
        row["operation"] = None
    confidence = finding_verdicts.confidence(row, loop.loop_ns, loop.run_ns)
    row["confidence"] = confidence.value
    if confidence is Confidence.NOT_WORTH_A_WORD:
        return None
    return {key: row[key] for key in (*COLUMNS, "outside_ns")}


def _repriced(found: Finding, experiment: Experiment, outcome: Measured) -> Finding:
    """With the price that was measured. Advice that makes this machine slower wins nothing."""
    left = outcome.left or Price(1, 1, 1)
    won = (max(1 - each, 0) for each in (left.high_ns, left.saving_ns, left.low_ns))
    took = duration(outcome.program_s * 1e9), duration(outcome.advised_s * 1e9)
    said = (
        f"Measured by an experiment: {took[0]} in the program's way, {took[1]} in the advised way."
    )
    price = experiment.whole.part(*won)
    if found.price is not None:  # the run itself bounds what can be won
        price = price.within(found.price.high_ns)
    return replace(found, price=price, evidence=f"{found.evidence} {said}")


def _priced(found: Finding, loop: Loop) -> Row:
    """The columns of its price. Raises ValueError: it is no number, or not inside of its
    interval."""
    if found.price is None:
        empty = ("saving_ns", "saving_low_ns", "saving_high_ns", "saving_share", "run_speedup")
        return dict.fromkeys(empty) | {"once_ns": round(found.once_ns)}
    whole_ns = loop.loop_ns + found.outside_ns
    price = found.price
    if not math.isfinite(price.high_ns - price.low_ns):
        raise ValueError(f"a price that is no number: {price}")
    if not price.low_ns <= price.saving_ns <= price.high_ns:
        raise ValueError(f"a price outside of its interval: {price}")
    price = price.widened(_LEAST_WIDTH).within(whole_ns).with_rest(whole_ns)
    if not found.ends_starving and finding_verdicts.is_loop_starved(loop.starved_ns, loop.loop_ns):
        price = replace(price, low_ns=min(price.low_ns, 0))
    saving_ns, low_ns, high_ns = (max(each, 0) for each in asdict(price).values())
    return {
        "saving_ns": round(saving_ns),
        "saving_low_ns": round(low_ns),
        "saving_high_ns": round(high_ns),
        "saving_share": saving_ns / whole_ns,
        "run_speedup": loop.run_ns / max(loop.run_ns - high_ns, 1),
        "once_ns": None,
    }


def _ranked(rows: list[Row]) -> list[Row]:
    """In the order in which a reader wants them; only those of which something is sure have a
    rank."""
    places = {each.value: place for place, each in enumerate(Confidence)}
    rows.sort(
        key=lambda row: (
            places[row["confidence"]],
            -(row["saving_low_ns"] or 0),
            -(row["saving_ns"] or row["once_ns"] or 0),
            row["rule"],
        )
    )
    for rank, row in enumerate(rows, 1):
        if row["confidence"] == Confidence.MEASURED.value:
            row["rank"] = rank
    return rows
