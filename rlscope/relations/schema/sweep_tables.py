"""Relations that a sweep over the merged streams of a process makes; and its single events."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Column

from rlscope import _trace
from rlscope.relations.schema import columns

operation = columns.relation(
    "operation",
    "A step of the algorithm, by path and source; one row for all processes.",
    columns.integer("operation_id", "dense id; a parent's is lower than its children's"),
    columns.integer("parent_operation_id", "operation that encloses it; NULL outermost"),
    columns.text("name", "its own name"),
    columns.text(
        "path", 'names from the outermost, joined by "/"; "\\" and "/" in a name are escaped'
    ),
    columns.integer("depth", "0 outermost"),
    columns.text("source", columns.SOURCE),
    columns.text(
        "rule", "how an automatic one was found; NULL when the process gave none, or annotated"
    ),
)

operation_instance = columns.relation(
    "operation_instance",
    "One entry into an operation.",
    columns.process_id(),
    columns.thread_id(),
    columns.integer("operation_id", "operation.operation_id"),
    columns.integer("iteration", "iteration in which it began; NULL before the first"),
    columns.start(),
    columns.integer("duration_ns", "from enter to exit"),
    columns.integer("self_ns", "while it was the innermost open operation and running"),
    columns.text("ended", "how it was closed: exit, window, process_end, thread_end or gap"),
    layout=columns.PROCESS,
)


def _share_columns(whole: str) -> tuple[Column[Any], ...]:
    """The columns that the process view and the thread view of the breakdown share."""
    return (
        columns.text("phase", columns.PHASE),
        *columns.operation("the innermost open operation"),
        columns.text("layer", columns.LAYER),
        columns.flag("gpu_busy", columns.GPU_BUSY),
        columns.integer("duration_ns", f"wall time; all rows of a {whole}"),
        columns.integer("overhead_ns", "cost of the records in it"),
        columns.integer("corrected_ns", "duration_ns without the overhead"),
        columns.integer("corrected_low_ns", "lower end of the 95 % interval of corrected_ns"),
        columns.integer("corrected_high_ns", "upper end of the 95 % interval of corrected_ns"),
        columns.integer("count", "separate stretches of time"),
    )


breakdown = columns.relation(
    "breakdown",
    "Where the wall time of a process went: one row per state it was in.",
    columns.process_id(),
    columns.text(
        "stage",
        "start-up: before the training loop of the process; loop: from its first to its last "
        "operation; end: after it; whole: a process without a training loop",
    ),
    *_share_columns("process add up to its end_ns - start_ns"),
    layout=columns.PROCESS,
)

breakdown_by_thread = columns.relation(
    "breakdown_by_thread",
    "Where the wall time of each thread went, by its own operations.",
    columns.process_id(),
    columns.thread_id(),
    *_share_columns("thread add up to the life of that thread"),
    layout=columns.PROCESS,
)

iteration_breakdown = columns.relation(
    "iteration_breakdown",
    "The breakdown of each iteration, split exactly at its start and end.",
    columns.process_id(),
    columns.integer("iteration", "iteration.iteration; NULL outside of iterations"),
    columns.text("iteration_source", "iteration.source; NULL outside of iterations"),
    columns.flag("complete", "iteration.complete; NULL outside of iterations"),
    *columns.operation("the innermost open operation"),
    columns.text("layer", columns.LAYER),
    columns.flag("gpu_busy", columns.GPU_BUSY),
    columns.integer("duration_ns", "wall time in this state within the iteration"),
    layout=columns.PROCESS,
)

timeline = columns.relation(
    "timeline",
    "The breakdown over time, split exactly at the edges of buckets; one grid for a machine.",
    columns.process_id(),
    columns.integer(
        "level",
        "0: the same buckets in all processes; each level above has buckets of twice the length, "
        "each below, of short processes, of half",
    ),
    columns.integer("start_ns", "start of the bucket"),
    columns.integer("bucket_ns", "length of the bucket"),
    *columns.operation(),
    columns.text("layer", columns.LAYER),
    columns.flag("gpu_busy", columns.GPU_BUSY),
    columns.integer("duration_ns", "wall time in this state within the bucket"),
    layout=columns.PROCESS,
)

transition = columns.relation(
    "transition",
    "Entries of threads into another layer (calls and callbacks, never returns).",
    columns.process_id(),
    *columns.operation("the operation open at entry"),
    columns.text("from_layer", "layer that was left"),
    columns.text("to_layer", "layer that was entered"),
    columns.integer("count", columns.COUNTED),
    columns.real(
        "per_iteration", "those in complete iterations, divided by these; NULL without any"
    ),
    layout=columns.PROCESS,
)

native_call = columns.relation(
    "native_call",
    "Calls of native functions of simulators and frameworks, and of serialization.",
    columns.process_id(),
    columns.text("function", "module:function"),
    columns.text("layer", "layer that the function belongs to; python: it serializes (pickle)"),
    *columns.operation("the operation at the start of the call"),
    columns.integer("calls", columns.COUNTED),
    columns.integer("duration_ns", "outermost calls, inclusive"),
    columns.integer("self_ns", "without callbacks into Python and CUDA calls"),
    layout=columns.PROCESS,
)

wait = columns.relation(
    "wait",
    "Waits of threads: calls that blocked for 5 us or more.",
    columns.process_id(),
    columns.thread_id(),
    columns.text(
        "kind",
        "pipe, socket, poll (one of several), semaphore or process: another process; lock, queue, "
        "thread or gil: another thread; disk, device, descriptor, sleep",
    ),
    columns.text("object", "inode of the pipe, socket or semaphore, pid of the process; else NULL"),
    columns.text("function", "module.function in which the thread waited"),
    *columns.operation("the thread's own operation at the start of the wait"),
    columns.integer(
        "peer_process_id",
        "process at the other end of the object; NULL where it is none of the run, or not certain",
    ),
    columns.integer("count", columns.COUNTED),
    columns.integer("duration_ns", "from the start to the end of the calls"),
    columns.integer("self_ns", "without waits inside, as for the GIL at the end of a read"),
)

overhead = columns.relation(
    "overhead",
    "Bookkeeping by kind, and the time that calibration found for it.",
    columns.process_id(),
    *columns.operation(),
    columns.text("layer", columns.LAYER),
    columns.flag("gpu_busy", columns.GPU_BUSY),
    columns.text(
        "kind",
        f"{', '.join(_trace.RECORD_KINDS)}; clamped: overhead for which the rows had no time",
    ),
    columns.integer("count", "records that tell of this state: part of their cost lies inside"),
    columns.integer("outside", "records made in this state of another one inside it"),
    columns.integer(
        "overhead_ns", "their mean cost, calibration.mean_ns; below zero where it is taken back"
    ),
    layout=columns.PROCESS,
)

event = columns.relation(
    "event",
    "Every interval, as the other relations count it; made when a query first asks for it.",
    columns.process_id(),
    columns.integer("thread_id", "thread.thread_id; NULL for work of a GPU"),
    columns.text(
        "kind",
        f"{', '.join(_trace.EVENT_KINDS)}; overhead is CUPTI's own, unknown of a later version",
    ),
    columns.text("layer", "layer that it belongs to; NULL for operations"),
    columns.text("name", "path of the operation, or name of the function or kernel"),
    columns.start(),
    columns.integer("duration_ns", "length of the interval"),
    columns.integer(
        "operation_id",
        "operation.operation_id that it is counted with: of GPU work its launch's, of an operation "
        "itself; NULL outside of operations, and of a callback",
    ),
    columns.integer("iteration", "iteration in which it began; NULL before the first"),
    columns.integer("correlation_id", "joins a launch to its GPU work; NULL for others"),
    columns.integer("device", "number of the GPU; NULL for others"),
    columns.integer("stream", "number of the CUDA stream; NULL for others"),
    columns.integer("bytes", "copied or set by GPU work; NULL for others"),
    columns.integer("graph", "CUDA graph that launched GPU work, 0 none; NULL for others"),
    layout=columns.PROCESS,
)
