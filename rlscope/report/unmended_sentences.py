"""What takes the time of a loop where no rule has advice: its hottest line, and its layer."""

from __future__ import annotations

import math
from collections.abc import Container, Sequence
from typing import TYPE_CHECKING, Any

from rlscope.analysis import critical_loop, finding_verdicts, lines, own_loops
from rlscope.analysis.advice import Advice
from rlscope.analysis.critical_loop import Loop
from rlscope.analysis.groups import BETWEEN_OPERATIONS, GROUPS
from rlscope.analysis.operations import BETWEEN, OUTSIDE
from rlscope.analysis.worker_loop import WorkerLoop
from rlscope.relations.groups import SIMULATION, group_of
from rlscope.report import source_names, units
from rlscope.report.source_names import place

if TYPE_CHECKING:
    from rlscope.opening import Trace

Row = dict[str, Any]

_LAYERS = {
    "simulator": "the simulator's own code",
    "framework": "calls of the framework",
    "python": "Python and NumPy",
    "cuda_api": "CUDA calls",
    "wait": "waiting",
    "none": "other native code",
}


def beside(trace: Trace, loop: Loop, first: Row, findings: Sequence[Row]) -> str:
    """A line in which Python itself takes more than the first finding wins, if no finding is of
    it. What a library does for a line, as an environment of its own, counts for nothing."""
    found = {(row["file"], row["line"]) for row in findings}
    for row in lines.python_lines(trace, process_id=loop.process_id)[:1]:
        if (row["file"], row["line"]) in found:
            return ""
        low_ns = row["own_ns"] - math.sqrt(row["below_ns2"])
        if finding_verdicts.is_line_larger(low_ns, loop.loop_ns, first["saving_ns"]):
            return _unknown_cause(trace, loop, row, row["operation"], loop.loop_ns).strip()
    return ""


def unmended(trace: Trace, asked: Advice, findings: Sequence[Row]) -> str:
    """The hottest line of the program's own, if it takes much of the loops, and no finding is of
    it. Where it waits for environment workers, that of theirs, too."""
    found = {(row["file"], row["line"]) for row in findings}
    for row in lines.hot_lines(trace, lines=1).to_dicts():
        if (row["file"], row["line"]) in found:
            return ""
        if finding_verdicts.is_line_unmended(row["own_low_ns"], row["loop_ns"]):
            operation = lines.operation_of_hottest_line(trace)
            whole = _whole(trace, asked.loop)
            said = _unknown_cause(trace, asked.loop, row, operation, row["loop_ns"], whole)
            return said + (_of_workers(trace, asked.inside, found) if asked.inside else "")
    return ""


def _has_loop(loop: Loop | None) -> bool:
    return loop is not None and not loop.is_whole


def _whole(trace: Trace, loop: Loop | None) -> str:
    """What shares of all loops are of, where that is not one loop; "" it is."""
    if loop is not None and loop.is_whole:
        return "the run"
    looping = critical_loop.looping_processes(trace, loop) if loop else ()
    return f"the training loops of {len(looping):,} processes" if len(looping) > 1 else ""


def _unknown_cause(
    trace: Trace,
    loop: Loop | None,
    row: Row,
    operation: str | None,
    loop_ns: int,
    whole: str = "",
) -> str:
    """With the lines that lead there, where several do: a user may see that one is too many."""
    callers = own_loops.parting_callers(trace, loop, row["file"], row["line"]) if loop else []
    names = source_names.short([row["file"], *(each["file"] for each in callers)])
    share = units.share(row["own_ns"], loop_ns)
    where = place(row, names)
    subject = f"The hottest line takes {share}{whole and f' of {whole}'} ({where})"
    if operation and group_of(operation) == SIMULATION:
        subject = f"The environment takes {share} of {whole or 'the loop'} at one line ({where})"
    elif operation and (_has_loop(loop) or operation not in (BETWEEN, OUTSIDE)):
        subject += f", most of it {_in_operation(operation)}"
    said = f" {subject}: rlscope has no advice on it." if loop else f" {subject}."
    if not callers:
        return said
    whole_ns = sum(each["total_ns"] for each in callers)
    parts = (f"{place(e, names)} {units.share(e['total_ns'], whole_ns)}" for e in callers)
    return f"{said} {units.plural(len(callers), 'line')} lead there: {', '.join(parts)}."


def _of_workers(trace: Trace, inside: WorkerLoop, found: Container[tuple[str, int]]) -> str:
    """The hottest line of environment workers, if it takes much of their work, and no finding is of
    it."""
    row = inside.hottest_line(trace)
    if row is None or (row["file"], row["line"]) in found:
        return ""
    if not finding_verdicts.is_line_unmended(row["own_low_ns"], inside.loop.loop_ns):
        return ""
    where = place(row, source_names.short([row["file"]]))
    several = inside.workers > 1
    workers = f"{inside.workers:,} environment workers" if several else "environment worker"
    share = units.share(row["own_ns"], inside.loop.loop_ns)
    whose = "their" if several else "its"
    return f" In the {workers}, one line takes {share} of {whose} work ({where})."


def spends(trace: Trace, loop: Loop) -> str:
    """ "spends 91.0 % in the simulator's own code"; "" it is in nothing for long."""
    state = critical_loop.states(trace, loop).to_dicts()[0]
    if not finding_verdicts.is_state_named(state["duration_ns"], loop.loop_ns):
        return ""
    share = units.share(state["duration_ns"], loop.loop_ns)
    return f"spends {share} in {_state_name(state)}"


def _state_name(state: Row) -> str:
    """ "the simulator's own code", "calls of the framework in inference"."""
    layer = _LAYERS.get(state["layer"], str(state["layer"]))
    if state["layer"] == "simulator":
        return layer
    return f"{layer} {_in_operation(state['operation'])}"


def _in_operation(operation: str) -> str:
    """ "in inference", "between operations"."""
    if operation == BETWEEN:
        return BETWEEN_OPERATIONS
    group = group_of(operation)
    return f"in {group if group in GROUPS else units.label(group)}"
