"""Where the wall time went, added up along the dimensions that the caller asks for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rlscope.table import Table

if TYPE_CHECKING:
    import sqlalchemy as sa

    from rlscope.trace.trace import Trace

EVERYTHING = ("process", "phase", "operation", "source", "layer", "gpu_busy")

_DESCRIPTIONS = {
    "process_id": "process.process_id",
    "process": "name of the process",
    "role": "name of the processes, added up over those of one name",
    "thread_id": "thread.thread_id",
    "thread": "name of the thread",
    "phase": "phase of the process",
    "operation": "path of the innermost open operation",
    "source": "explicit: annotated; automatic: found by rlscope; NULL outside of operations",
    "layer": "deepest layer: none, python, simulator, framework or cuda_api",
    "gpu_busy": "whether the GPU worked for the process",
    "state": "cpu, cpu+gpu, gpu or idle; unknown: GPU work was not recorded",
    "duration_ns": "wall time; all rows of a process add up to its wall time exactly",
    "overhead_ns": "bookkeeping in it, from calibration; NULL before calibration",
    "corrected_ns": "duration_ns without the overhead; NULL before calibration",
    "corrected_low_ns": "lower end of the 95 % interval of corrected_ns",
    "corrected_high_ns": "upper end of the 95 % interval of corrected_ns",
    "count": "separate stretches of time",
}
_TIMES = ("duration_ns", "overhead_ns", "corrected_ns", "corrected_low_ns", "corrected_high_ns")


def breakdown(trace: Trace, by: Sequence[str] = EVERYTHING) -> Table:
    """Wall time per combination of the dimensions in `by`, largest first within a process.

    A dimension is one of

        process    columns process_id and process: one row or more per process image
        role       processes of one name together
        thread     columns thread_id and thread: each thread by its own operations and layers;
                   the rows of a thread, not of a process, then add up to its wall time
        phase, operation, layer, gpu_busy
        source     whether the operation was annotated (explicit) or found (automatic)
        state      cpu (a layer, GPU idle), cpu+gpu, gpu (no layer, GPU busy) or idle; unknown
                   where GPU work was not recorded

    `count` (separate stretches of time) is there only when every dimension is: stretches of
    different rows may touch, so their numbers do not add up. Raises ValueError: unknown dimension.
    """
    import sqlalchemy as sa

    source, dimensions = _dimensions("thread" in by)
    unknown = [name for name in by if name not in dimensions]
    if unknown:
        raise ValueError(f"no dimension {unknown[0]!r}; there are: {', '.join(dimensions)}")
    keys = [column for name in dict.fromkeys(by) for column in dimensions[name]]
    times = [sa.cast(sa.func.sum(sa.column(name)), sa.BigInteger).label(name) for name in _TIMES]
    counts = [sa.cast(sa.func.sum(sa.column("count")), sa.BigInteger).label("count")]
    statement = (
        sa.select(*keys, *times, *(counts if set(EVERYTHING) <= set(by) else []))
        .select_from(source)
        .group_by(*keys)
        .order_by(*_order(keys))
    )
    return Table(trace.query(statement).columns, name="breakdown", descriptions=_DESCRIPTIONS)


def _dimensions(by_thread: bool) -> tuple[sa.FromClause, Mapping[str, list[Any]]]:
    """What to read, and the columns of every dimension."""
    import sqlalchemy as sa

    from rlscope.trace import store

    rows = store.breakdown_by_thread if by_thread else store.breakdown
    process, thread = store.process.c, store.thread.c
    source = rows.join(store.process, rows.c.process_id == process.process_id)
    if by_thread:
        source = source.join(store.thread, rows.c.thread_id == thread.thread_id)
    in_layer = rows.c.layer != "none"
    state = sa.case(
        (rows.c.gpu_busy.is_(None), "unknown"),
        (in_layer & rows.c.gpu_busy, "cpu+gpu"),
        (in_layer, "cpu"),
        (rows.c.gpu_busy, "gpu"),
        else_="idle",
    )
    return source, {
        "process": [rows.c.process_id, process.name.label("process")],
        "role": [process.name.label("role")],
        "thread": [thread.thread_id, thread.name.label("thread")],
        "phase": [rows.c.phase],
        "operation": [rows.c.operation],
        "source": [rows.c.source],
        "layer": [rows.c.layer],
        "gpu_busy": [rows.c.gpu_busy],
        "state": [state.label("state")],
    }


def _order(keys: Sequence[Any]) -> list[Any]:
    """Process by process, largest first; equal times in the order of the keys."""
    import sqlalchemy as sa

    first = [key for key in keys if key.name == "process_id"]
    return [*first, sa.desc("duration_ns"), *(key for key in keys if key not in first)]
