"""The training loop that prices are of, and how much its iterations differ; columns are described
in analysis/sql."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rlscope.analysis import statement
from rlscope.analysis.operations import BETWEEN, OUTSIDE
from rlscope.table import Table

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace


@dataclass(frozen=True)
class Loop:
    """The loop of the process that waits least for others: time won back there is won back in the
    run."""

    process_id: int
    loop_ns: int
    """Wall time of the loop."""
    waited_ns: int
    """The part of it in which the process waits for other processes."""
    starved_ns: int
    """The part of these waits for processes that go on while it works."""
    run_ns: int
    """Wall time of the run."""
    iterations: int
    """Complete ones."""
    is_whole: bool = False
    """It is all that the process did, because no process has a training loop."""


def critical_loop(trace: Trace) -> Loop | None:
    """None: no process has a training loop."""
    rows = statement.run(trace, "critical_loop").to_dicts()
    return Loop(**rows[0]) if rows else None


def whole_run(trace: Trace) -> Loop | None:
    """What takes the place of a loop where no process has one: all that the process did which
    worked longest. None: none did anything."""
    rows = statement.run(trace, "whole_run").to_dicts()
    nothing = {"waited_ns": 0, "starved_ns": 0, "iterations": 0}
    return Loop(**rows[0], **nothing, is_whole=True) if rows else None


def looping_processes(trace: Trace, loop: Loop) -> Table:
    """process_id, name, is_own, is_other: the processes that have a training loop, or all if none
    has; which of them has this one, and which do something else."""
    of_all = "whole_process" if loop.is_whole else "loop_process"
    return statement.run(trace, of_all, process_id=loop.process_id)


def spread(
    trace: Trace,
    loop: Loop,
    *,
    operation: str | None = None,
    layers: Sequence[str] = (),
) -> Mapping[str, Any]:
    """iterations, mean_ns, deviation_ns, unusual: time of an operation (None: of all) in some
    layers (none: in all) in an iteration of the loop, as prices.of_spread takes it."""
    (row,) = statement.run(
        trace,
        "iteration_spread",
        process_id=loop.process_id,
        operation=operation,
        layers=list(layers),
    ).to_dicts()
    return row


def states(trace: Trace, loop: Loop) -> Table:
    """operation, layer, duration_ns: where the loop is, the largest first."""
    return statement.run(trace, "loop_state", process_id=loop.process_id)


def time_in(trace: Trace, loop: Loop, operations: Container[str]) -> float:
    """Time of the loop in some operations, in ns."""
    whole_ns = 0.0
    for row in states(trace, loop).to_dicts():
        name = OUTSIDE if row["operation"] == BETWEEN else row["operation"]
        whole_ns += row["duration_ns"] * (name in operations)
    return whole_ns
