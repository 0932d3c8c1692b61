"""The answer in words, for the top of the page and of the terminal's screen.

    backprop takes 54.2 % of the time: 3.21 s of 5.92 s, 31.2 ms in each of 103 iterations.

Built from tables alone; every number in a sentence is a cell of one of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rlscope import cuts
from rlscope.analysis import coverage, iterations, operations
from rlscope.analysis.operations import OTHER_OPERATIONS, OUTSIDE
from rlscope.report import layers, limits, losses, sentences, units
from rlscope.table import Table

if TYPE_CHECKING:
    from rlscope.load import Trace

# Above this share of time outside operations, the page says so at its top.
NOTABLE_OUTSIDE = 0.2
# Operations that the second sentence names.
_NEXT = 3
# Layers that the first one names.
_LARGEST = 4

_ADVICE = (
    "No operation is annotated and none was found, so all time is (none). Put the steps of the "
    "training loop into `with rls.operation(name):` to see where it goes."
)


@dataclass(frozen=True)
class Detail:
    text: str
    warning: bool = False


@dataclass(frozen=True)
class Headline:
    """What stands above the panels."""

    title: str
    """Name of the run."""
    run: str
    """Length, size and command in one line; the command last, which may be long."""
    sentence: str
    """Where the time goes: one sentence."""
    cut: str = ""
    """That recording stopped before the program did, and when: said first. Empty: it did not."""
    details: list[Detail] = field(default_factory=list)
    version: str = ""
    """Version of rlscope that recorded the run; "" unknown."""


def read(trace: Trace) -> Headline:
    """The headline of a trace; raises RlscopeError as analysis does."""
    times = operations.operation_time(trace, operations=limits.OPERATIONS, processes=0)
    states = operations.state_time(trace, operations=0, processes=0)
    costs = iterations.iteration_cost(trace, operations=limits.OPERATIONS)
    summary = iterations.iteration_summary(trace, processes=1)
    (facts,) = coverage.coverage(trace).to_dicts()
    lost = coverage.loss_summary(trace, rows=limits.ROWS).to_dicts()
    run = next(iter(trace.table("run").to_dicts()), {})
    return Headline(
        title=str(run.get("name") or "run"),
        run=_run_line(run, facts),
        sentence=_of_nested(run, facts) or sentence(times, facts, costs, summary),
        cut=" ".join(sentences.cut(row) for row in coverage.cut(trace).to_dicts()),
        details=[
            *_next_operations(times, facts),
            *_states(states),
            *_outside(facts),
            *_scope(facts),
            *_nested(run, facts),
            *_lost(lost),
        ],
        version=str(run.get("version") or ""),
    )


def _of_nested(run: dict[str, Any], facts: dict[str, Any]) -> str:
    """What to say instead where nothing is recorded here, but in another trace."""
    if not run.get("nested") or facts["events"]:
        return ""
    return f"Nothing was recorded here. {sentences.nested(units.visible(run['nested']))}"


def _nested(run: dict[str, Any], facts: dict[str, Any]) -> Iterable[Detail]:
    if run.get("nested") and facts["events"]:
        yield Detail(sentences.nested(units.visible(run["nested"])))


def _run_line(run: dict[str, Any], facts: dict[str, Any]) -> str:
    if not run:
        return "run.json is missing"
    parts = [
        units.duration(run["end_ns"] - run["start_ns"]),
        units.plural(facts["processes"], "process"),
        f"{units.count(facts['events'])} events",
        units.visible(str(run.get("command") or run.get("name") or "")),
    ]
    return " · ".join(part for part in parts if part)


def sentence(times: Table, facts: dict[str, Any], costs: Table, summary: Table) -> str:
    """Which operation takes most, of how much, and what that is per iteration.

    Of the time in operations when much lies outside: imports would hide a short training loop.
    """
    totals = _operation_totals(times)
    if not totals:
        return "Nothing was recorded."
    if all(row["operation"] == OUTSIDE for row in totals):
        return _ADVICE
    top = next(row for row in totals if row["operation"] not in (OUTSIDE, OTHER_OPERATIONS))
    inside = _much_outside(facts)
    whole_ns = facts["inside_ns"] if inside else facts["annotated_ns"]
    return (
        f"{units.visible(top['operation'])} takes {units.share(top['operation_ns'], whole_ns)} "
        f"of the time{' in operations' if inside else ''}: "
        f"{units.duration(top['operation_ns'])} of {units.duration(whole_ns)}"
        f"{_per_iteration(top['operation'], costs, summary)}."
    )


def _much_outside(facts: dict[str, Any]) -> bool:
    return bool(facts["none_ns"] > NOTABLE_OUTSIDE * facts["annotated_ns"])


def _per_iteration(operation: str, costs: Table, summary: Table) -> str:
    """What the operation costs in each iteration of the process with the most iteration time."""
    for row in summary.to_dicts():
        for cost in costs.to_dicts():
            if (cost["process_id"], cost["operation"]) == (row["process_id"], operation):
                mean = units.duration(cost["mean_ns"])
                return f", {mean} in each of {units.plural(row['iterations'], 'iteration')}"
    return ""


def _operation_totals(times: Table) -> list[dict[str, Any]]:
    """One row per operation of all processes, largest first."""
    rows = [row for row in times.to_dicts() if row["process_id"] is None]
    return list({row["operation"]: row for row in rows}.values())


def _next_operations(times: Table, facts: dict[str, Any]) -> Iterable[Detail]:
    named = [row for row in _operation_totals(times) if row["operation"] != OUTSIDE]
    if not named:
        return
    yield Detail(_layers_of(times, named[0]["operation"]))
    if len(named) > 1:
        whole_ns = facts["inside_ns"] if _much_outside(facts) else facts["annotated_ns"]
        shares = [
            f"{units.visible(row['operation'])} {units.share(row['operation_ns'], whole_ns)}"
            for row in named[1 : 1 + _NEXT]
        ]
        yield Detail("Then " + ", ".join(shares) + ".")


def _layers_of(times: Table, operation: str) -> str:
    rows = [
        row
        for row in times.to_dicts()
        if row["process_id"] is None and row["operation"] == operation
    ]
    rows.sort(key=lambda row: -row["duration_ns"])
    shares = [
        f"{layers.label(row['layer'], row['gpu_busy'])} "
        f"{units.share(row['duration_ns'], row['operation_ns'])}"
        for row in rows[:_LARGEST]
    ]
    return f"Its time by layer: {', '.join(shares)}."


def _states(states: Table) -> Iterable[Detail]:
    """CPU and GPU, when there was GPU work at all."""
    rows = [row for row in states.to_dicts() if row["operation"] is None]
    if any(row["state"] in ("gpu", "cpu+gpu") for row in rows):
        shares = [
            f"{row['state']} {units.share(row['duration_ns'], row['group_ns'])}" for row in rows
        ]
        yield Detail(f"By GPU state: {', '.join(shares)}.")


def _outside(facts: dict[str, Any]) -> Iterable[Detail]:
    if _much_outside(facts):
        share = units.share(facts["none_ns"], facts["annotated_ns"])
        yield Detail(
            f"{share} of all time lies outside any operation, (none): imports, start and what is "
            "not annotated.",
            warning=True,
        )


def _scope(facts: dict[str, Any]) -> Iterable[Detail]:
    others = facts["processes"] - facts["annotated_processes"]
    if facts["annotated_processes"] and others:
        yield Detail(
            f"Counted: {units.plural(facts['annotated_processes'], 'process')} with operations. "
            f"{units.plural(others, 'process')} without are under Processes."
        )
    elif facts["annotated_processes"] > 1:
        yield Detail(
            f"Time is summed over {units.plural(facts['annotated_processes'], 'process')}."
        )


def _lost(lost: list[dict[str, Any]]) -> Iterable[Detail]:
    said = losses.HARMLESS | set(cuts.KINDS)
    harmful = [row for row in lost if row["kind"] not in said]
    if harmful:
        kinds = ", ".join(f"{row['kind']} {units.count(row['count'])}" for row in harmful)
        yield Detail(f"Not everything was recorded ({kinds}); see Data quality.", warning=True)
