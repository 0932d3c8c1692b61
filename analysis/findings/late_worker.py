"""An environment worker that the others, and the process that learns, wait for."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from rlscope.amounts import count, duration
from rlscope.analysis import groups, lines, process_verdicts, statement, waits
from rlscope.analysis.critical_loop import Loop
from rlscope.analysis.finding import Finding, Rule
from rlscope.analysis.prices import Price
from rlscope.analysis.process_verdicts import Lateness
from rlscope.relations.groups import SIMULATION

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace


_WORK = ("python", "simulator", "framework")
# A step may also wait, for a device or another program.
_STEP = (*_WORK, "wait")

_SAYS = re.compile("worker|env|actor", re.IGNORECASE)


def _find(trace: Trace, loop: Loop) -> Iterator[Finding]:
    for workers in waits.workers_of(trace, loop.process_id).values():
        what, row = process_verdicts.lateness(workers)
        if what is Lateness.STRAGGLER:
            yield _finding(trace, row)


def _finding(trace: Trace, row: Mapping[str, Any]) -> Finding:
    asked = {"process_id": row["worker_id"]}
    each_ns = row["stepped_ns"] / max(row["own_steps"], 1)
    return Finding(
        title=f"{_name(row['worker'])} takes {duration(each_ns)} a step, and others "
        f"{duration(row['typical_ns'])}",
        evidence=f"It was the last of {count(row['workers'])} workers in {count(row['last'])} of "
        f"{count(row['steps'])} steps.",
        evidence_sql=statement.shown("findings/late_worker", **asked),
        fix="Make the step of this environment as fast as that of the others, or let the vector "
        "go on without the last one.",
        no_effect="No effect where nobody waits for this worker.",
        price=_price(row),
        operation=row["operation"],
        **lines.place_of(_lines(trace, row)),
    )


def _name(worker: str) -> str:
    """Many are called after their function, such as "loop 1"."""
    return worker if _SAYS.search(worker) else f"environment worker {worker}"


def _lines(trace: Trace, row: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Lines of the worker's step, whatever the program calls it; else of all its work."""
    found = (
        lines.operation_lines(
            trace,
            process_id=row["worker_id"],
            operation=operation,
            layers=_WORK if operation is None else _STEP,
        )
        for operation in (*groups.paths_of(trace, row["worker_id"], SIMULATION), None)
    )
    return next((each for each in found if each), [])


def _price(row: Mapping[str, Any]) -> Price:
    """At least what the worker is late by itself; at most all that it works more than the others.
    With a core for each worker both are nearly the same; with fewer, cores that it leaves help
    others."""
    scale = row["whole_ns"] / row["operation_ns"]
    low_ns, high_ns = row["tail_ns"] * scale, row["excess_ns"] * scale
    return Price(math.sqrt(low_ns * high_ns), low_ns, high_ns)


RULE = Rule(_find)
