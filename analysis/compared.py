"""What a comparison of runs asks of each of them; analysis/sql/compared describes the columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlscope.analysis import statement
from rlscope.table import Table

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace


def iteration_states(trace: Trace, *, process_id: int, points: int) -> Table:
    """point, iterations, operation, layer, mean_ns: an iteration of each of at most `points` groups
    of neighbours, by state."""
    return statement.run(trace, "compared/iteration_state", process_id=process_id, points=points)


def loop_states(trace: Trace, *, process_id: int) -> Table:
    """operation, layer, duration_ns, corrected_ns (None: no cost is known): the training loop."""
    return statement.run(trace, "compared/loop_state", process_id=process_id)


def entries(trace: Trace, *, process_id: int) -> Table:
    """operation, per_iteration: how often it is entered."""
    return statement.run(trace, "compared/entry", process_id=process_id)


def entry_times(trace: Trace, *, process_id: int, blocks: int) -> Table:
    """operation, block, step, entries: how long entries take, as a histogram."""
    return statement.run(trace, "compared/entry_time", process_id=process_id, blocks=blocks)


def kernels(trace: Trace, *, kernels: int) -> Table:
    """function, launches, duration_ns: of all processes, the `kernels` longest."""
    return statement.run(trace, "compared/kernel", kernels=kernels)


def sources(trace: Trace) -> Table:
    """file, line, text: the program's own files, as the run kept them."""
    return statement.run(trace, "compared/source")


def facts(trace: Trace) -> Table:
    """kind, value: what the run was made with."""
    return statement.run(trace, "compared/fact")


def processes(trace: Trace) -> Table:
    """process_id, name, cpu_ns (None: not known), run_ns: those that shares are of first, the
    longest first."""
    return statement.run(trace, "compared/process")
