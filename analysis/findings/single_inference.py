"""Inference calls the network several times in a row, where one call could take all inputs."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rlscope.amounts import count, duration
from rlscope.analysis import brief_calls, finding_verdicts, groups, statement, training_lines
from rlscope.analysis.critical_loop import Loop
from rlscope.analysis.finding import Experiment, Finding, Rule
from rlscope.analysis.function_time import NETWORKS, FunctionTime, of_functions
from rlscope.analysis.independent_passes import (
    chains_could_be_one_call,
    could_be_one_call,
    needs_earlier,
)
from rlscope.analysis.own_loops import callers, operations_in, own_loop
from rlscope.analysis.prices import exact
from rlscope.analysis.source_code import Source, looped_names, source_of
from rlscope.relations.groups import INFERENCE, LEARNING, SIMULATION, group_of

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace

_CALLING = "findings/calling_line"
_WITH_REST = 2.5


def _find(trace: Trace, loop: Loop) -> Iterator[Finding]:
    operations = groups.paths_in(trace, loop.process_id, INFERENCE)
    found = of_functions(trace, loop, NETWORKS, operations)
    if found is None:
        return
    place = _looping_line(trace, loop, found)
    if place is None:
        yield from _between_steps(trace, loop, found)
        return
    asked = brief_calls.asked(trace, loop, found.operation)
    rows = statement.run(trace, brief_calls.STATEMENT, **asked).to_dicts()
    calls = brief_calls.in_a_row(rows)
    if not finding_verdicts.is_called_in_a_row(calls):
        return
    rest = 1 - 1 / calls
    # What prepares inputs, and takes results apart, is as long as the network in small programs.
    at = {"file": place[0], "line": place[1], "operation": found.operation}
    line_ns = training_lines.whole_ns(trace, loop, at)  # of distributions, too
    longest_ns = max(_WITH_REST * found.time.saving_ns, line_ns)
    together_ns = min(rows[0]["operation_ns"], longest_ns)
    yield Finding(
        title=f"inference calls the network {calls:.0f} times in a row",
        evidence=f"{count(rows[0]['calls'])} calls of {rows[0]['function']} in "
        f"{count(rows[0]['entries'])} entries into {found.operation}, from a loop of the program.",
        evidence_sql=statement.shown(brief_calls.STATEMENT, **asked),
        fix="Put the inputs into one batch and call the network once. If each input depends on the "
        "result before, as in a tree search, batch the inputs of several searches.",
        no_effect="Little effect where the network is so large that its arithmetic takes the time.",
        experiment=_experiment(rows, calls),
        price=exact(together_ns).part(0.75 * rest, 0.9 * rest, rest),
        operation=found.operation,
        file=place[0],
        line=place[1],
    )


def _between_steps(trace: Trace, loop: Loop, found: FunctionTime) -> Iterator[Finding]:
    """One forward for each environment of several, which the same loop steps: they could all come
    before the steps."""
    place = _asking_line(trace, loop, found)
    if place is None:
        return
    asked = brief_calls.asked(trace, loop, found.operation)
    rows = statement.run(trace, brief_calls.STATEMENT, **asked).to_dicts()
    if not rows:
        return
    yield Finding(
        title="inference calls the network for one environment at a time",
        evidence=f"{count(rows[0]['entries'])} entries into {found.operation} take "
        f"{duration(rows[0]['operation_ns'])}, from a loop over objects that also step.",
        evidence_sql=statement.shown(brief_calls.STATEMENT, **asked),
        fix="Put the observations of all environments into one batch, call the network once, and "
        "then step them.",
        no_effect="Little effect where there are two environments, or each has its own network.",
        price=exact(rows[0]["operation_ns"]).part(0.4, 0.8, 1.0),
        operation=found.operation,
        file=place[0],
        line=place[1],
    )


def _asking_line(trace: Trace, loop: Loop, found: FunctionTime) -> tuple[str, int] | None:
    """The line that leads to the network, in the first loop around it or around its callers, if
    that loop goes through environments."""
    simulation = groups.paths_in(trace, loop.process_id, SIMULATION)
    for file, line in callers(trace, loop, found.file, found.line, found.operation):
        source = source_of(trace, file)
        place = source.loop_at(line)
        if place is None:
            continue
        inside = operations_in(trace, loop, file, place)
        known = {row for row in inside if group_of(row) in (LEARNING, "replay")}
        steps = _asks_each(source, line) and not inside.isdisjoint(simulation) and not known
        return (file, line) if steps else None
    return None


def _experiment(rows: Sequence[Mapping[str, Any]], calls: float) -> Experiment | None:
    """Only PyTorch's layers can be measured."""
    layers = [row for row in rows if row["function"].endswith(":linear")]
    if not layers:
        return None
    settings = {"calls": round(calls), "each_ns": layers[0]["duration_ns"] / layers[0]["calls"]}
    return Experiment("batched_calls", settings, exact(rows[0]["operation_ns"]))


def _looping_line(trace: Trace, loop: Loop, found: FunctionTime) -> tuple[str, int] | None:
    """The line nearest to the network, in a loop of the program, that leads to most calls of the
    whole network: its layers are called in turn anyway. The loop can be that of a caller. If each
    pass needs what the one before made, or calls another network, the loop around it counts, if its
    passes do not. None: no loop can be one call."""
    asked = {"process_id": loop.process_id, "operations": [found.operation]}
    rows = statement.run(trace, _CALLING, **asked, functions=list(NETWORKS)).to_dicts()
    longest_ns = rows[0]["total_ns"] if rows else 0
    most = (row for row in rows if finding_verdicts.is_most_of_calls(row["total_ns"], longest_ns))
    is_inside = False
    for row in sorted(most, key=lambda row: row["distance"]):
        place = row["file"], row["line"]
        source = source_of(trace, place[0])
        batches = chains_could_be_one_call(source, place[1])
        if (source.is_chain(place[1]) or _is_fed(source, place, rows)) and not batches:
            is_inside = True
        elif own_loop(trace, loop, file=place[0], line=place[1], operation=found.operation):
            is_one = batches or not is_inside or could_be_one_call(source, place[1])
            return place if is_one else None
    return None


def _is_fed(source: Source, place: tuple[str, int], rows: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the loop around a line gives a network what comes of its last pass, as a rollout of
    an environment that nobody knows does."""
    loop, (file, _) = source.innermost_loop(place[1]), place
    return any(
        needs_earlier(source, row["line"])
        for row in rows
        if row["file"] == file and source.innermost_loop(row["line"]) is loop
    )


def _asks_each(source: Source, line: int) -> bool:
    """Whether the innermost loop around a line goes through objects, and calls a method of
    each: env.step(action) for each env, player.move(net) for each player."""
    loop = source.innermost_loop(line)
    if source.loop_at(line) is None or isinstance(loop, ast.While) or loop is None:
        return False
    looped = looped_names(loop)
    calls = (node for node in ast.walk(loop) if isinstance(node, ast.Call))
    owners = (getattr(call.func, "value", None) for call in calls)
    return any(
        isinstance(owner, (ast.Name, ast.Attribute))
        and any(f"{ast.unparse(owner)}.".startswith(f"{name}.") for name in looped)
        for owner in owners
    )


RULE = Rule(_find)
