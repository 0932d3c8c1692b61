"""Where the wall time went, added up along the dimensions that the caller asks for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rlscope.analysis import statement
from rlscope.table import Table

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace

EVERYTHING = ("process", "stage", "phase", "operation", "source", "layer", "gpu_busy")

_DESCRIPTIONS = {
    "process_id": "process.process_id",
    "process": "name of the process",
    "name": "name of the processes, added up over those of one name",
    "role": "process.role",
    "thread_id": "thread.thread_id",
    "thread": "name of the thread",
    "stage": "start-up, loop, warm-up, end or whole: where in the process's life; NULL of threads",
    "phase": "phase of the process",
    "operation": "path of the innermost open operation",
    "source": "explicit: annotated; automatic: found by rlscope; NULL outside of operations",
    "layer": "deepest layer: none, wait, python, simulator, framework or cuda_api",
    "gpu_busy": "whether the GPU worked for the process",
    "state": "cpu, cpu+gpu, gpu, waiting or idle; unknown: GPU work was not recorded",
    "duration_ns": "wall time; all rows of a process add up to its wall time exactly",
    "overhead_ns": "cost of the records in it; NULL where no cost is known",
    "corrected_ns": "duration_ns without the overhead; NULL where no cost is known",
    "corrected_low_ns": "lower end of the 95 % interval of corrected_ns",
    "corrected_high_ns": "upper end of the 95 % interval of corrected_ns",
    "count": "separate stretches of time",
}
_COLUMNS = {
    "process": ("process_id", "process"),
    "name": ("name",),
    "role": ("role",),
    "thread": ("thread_id", "thread"),
    "stage": ("stage",),
    "phase": ("phase",),
    "operation": ("operation",),
    "source": ("source",),
    "layer": ("layer",),
    "gpu_busy": ("gpu_busy",),
    "state": ("state",),
}
_TIMES = ("duration_ns", "overhead_ns", "corrected_ns", "corrected_low_ns", "corrected_high_ns")


def breakdown(trace: Trace, by: Sequence[str] = EVERYTHING) -> Table:
    """Wall time per combination of the dimensions in `by`, largest first within a process.

    A dimension is one of

        process    columns process_id and process: one row or more per process image
        name       processes of one name together: rls.process("actor") in each of them
        role       processes of one role together: main, rank, environment worker, ...
        thread     columns thread_id and thread: each thread by its own operations and layers;
                   the rows of a thread, not of a process, then add up to its wall time
        stage      before the training loop, in it, after it (start-up, loop, end, whole), or in
                   it but only preparing it (warm-up)
        phase, operation, layer, gpu_busy
        source     whether the operation was annotated (explicit) or found (automatic)
        state      cpu (a layer other than wait, GPU idle), cpu+gpu, gpu (no layer or wait, GPU
                   busy), waiting (layer wait, GPU idle) or idle (no layer); unknown where GPU
                   work was not recorded

    `count` (separate stretches of time) is there only when every dimension is: stretches of
    different rows may touch, so their numbers do not add up. Raises ValueError: unknown dimension.
    """
    unknown = [name for name in by if name not in _COLUMNS]
    if unknown:
        raise ValueError(f"no dimension {unknown[0]!r}; there are: {', '.join(_COLUMNS)}")
    wanted = [column for name in dict.fromkeys(by) for column in _COLUMNS[name]]
    wanted += [*_TIMES, *(["count"] if set(EVERYTHING) <= set(by) else [])]
    rows = statement.run(trace, "breakdown", by=list(by))
    columns = {name: rows[name] for name in wanted}
    return Table(columns, name="breakdown", descriptions=_DESCRIPTIONS)
