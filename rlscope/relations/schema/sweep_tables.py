"""Relations that a sweep over the merged streams of a process makes; and its single events."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Column

from rlscope import _trace
from rlscope.relations.schema import columns

operation = columns.relation(
    "operation",
    "A step of the algorithm, by path and source. A row covers all processes.",
    columns.integer("operation_id", "id, counted from 0; a parent's is lower than its children's"),
    columns.integer("parent_operation_id", "operation that encloses it; NULL: it is outermost"),
    columns.text("name", "its own name"),
    columns.text(
        "path", 'names from the outermost, joined by "/"; "\\" and "/" in a name are escaped'
    ),
    columns.integer("depth", "depth in the path; 0: outermost"),
    columns.text("source", columns.SOURCE),
    columns.text(
        "rule",
        "rule that found an automatic operation; NULL: annotated, or the process gave no rule",
    ),
)

operation_instance = columns.relation(
    "operation_instance",
    "One entry into an operation.",
    columns.process_id(),
    columns.thread_id(),
    columns.integer("operation_id", "operation.operation_id"),
    columns.integer("iteration", "iteration in which it began; NULL: before the first"),
    columns.start(),
    columns.integer("duration_ns", "from enter to exit"),
    columns.integer("self_ns", "time in which it was the innermost open operation, and running"),
    columns.text("ended", "what closed it: exit, window, process_end, thread_end or gap"),
    layout=columns.PROCESS,
)


def _share_columns(whole: str, *, outside: str = "") -> tuple[Column[Any], ...]:
    """The columns that the views of the breakdown share."""
    return (
        columns.text("phase", columns.PHASE),
        *columns.operation("innermost open operation", outside),
        columns.text("layer", columns.LAYER),
        columns.flag("gpu_busy", columns.GPU_BUSY),
        columns.integer("duration_ns", f"wall time; all rows of a {whole}"),
        columns.integer("overhead_ns", "cost of the records in this state"),
        columns.integer("corrected_ns", "duration_ns without the overhead"),
        columns.integer("corrected_low_ns", "lower end of the 95 % interval of corrected_ns"),
        columns.integer("corrected_high_ns", "upper end of the 95 % interval of corrected_ns"),
        columns.integer("count", "number of separate stretches of time"),
    )


breakdown = columns.relation(
    "breakdown",
    "Where the wall time of a process went, with a row for each state.",
    columns.process_id(),
    columns.text(
        "stage",
        "start-up: before the training loop of the process; loop: in it; warm-up: between its "
        "begin and its end, in operations that only prepare it; end: after the loop; whole: a "
        "process without a training loop",
    ),
    *_share_columns("process add up to its end_ns - start_ns"),
    layout=columns.PROCESS,
)

training_loop = columns.relation(
    "training_loop",
    "What the shares of the report are of: the breakdown of the training loops.",
    columns.process_id(),
    columns.text("stage", "loop; whole: no process has a training loop, so that all time counts"),
    *_share_columns(
        "process add up to its training loop",
        outside="(between operations): no operation is open. The other relations call that (none)",
    ),
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
    columns.integer("iteration", "iteration.iteration; NULL: outside of iterations"),
    columns.text("iteration_source", "iteration.source; NULL: outside of iterations"),
    columns.flag("complete", "iteration.complete; NULL: outside of iterations"),
    *columns.operation("innermost open operation"),
    columns.text("layer", columns.LAYER),
    columns.flag("gpu_busy", columns.GPU_BUSY),
    columns.integer("duration_ns", "wall time in this state within the iteration"),
    layout=columns.PROCESS,
)

timeline = columns.relation(
    "timeline",
    "The breakdown over time, split exactly at the edges of buckets. All processes of a "
    "machine share one grid.",
    columns.process_id(),
    columns.integer(
        "level",
        "0: the same buckets in all processes; each level above doubles their length; each level "
        "below, in short processes only, halves it",
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
    *columns.operation("operation that was open at the entry"),
    columns.text("from_layer", "layer that was left"),
    columns.text("to_layer", "layer that was entered"),
    columns.integer("count", columns.COUNTED),
    columns.real(
        "per_iteration",
        "transitions per complete iteration; NULL: no iteration is complete",
    ),
    layout=columns.PROCESS,
)

native_call = columns.relation(
    "native_call",
    "Calls of native functions of simulators and frameworks, of serialization, and garbage "
    "collections.",
    columns.process_id(),
    columns.text("function", "module:function"),
    columns.text(
        "layer",
        "layer of the function; python: the function serializes (pickle), or collects garbage (gc)",
    ),
    *columns.operation("operation at the start of the call"),
    columns.integer("calls", f"{columns.COUNTED}; without serialization of less than 5 us"),
    columns.integer("duration_ns", "time of the outermost calls, with all calls inside them"),
    columns.integer("self_ns", "the same without callbacks into Python and CUDA calls"),
    layout=columns.PROCESS,
)

wait = columns.relation(
    "wait",
    "Waits of threads: calls that blocked for 5 us or more.",
    columns.process_id(),
    columns.text("stage", "breakdown.stage at the end of the waits"),
    columns.thread_id(),
    columns.text(
        "kind",
        "for another process: pipe, socket, semaphore, process; for another thread: lock, queue, "
        "thread, gil; others: poll (a descriptor that is not known), disk, device, descriptor, "
        "sleep (time)",
    ),
    columns.text("object", "inode of the pipe, socket or semaphore, pid of the process; else NULL"),
    columns.text("function", "module.function in which the thread waited"),
    *columns.operation("thread's own operation at the start of the wait"),
    columns.integer(
        "peer_process_id",
        "process at the other end of the object; NULL: several (relation wait_peer), or none of "
        "the run",
    ),
    columns.integer("count", f"{columns.COUNTED}; without calls of less than 5 us"),
    columns.integer("duration_ns", "time from the start to the end of the calls"),
    columns.integer(
        "self_ns", "the same without waits inside, such as for the GIL at the end of a read"
    ),
)

idle = columns.relation(
    "idle",
    "Why the loop does not go on, or the GPU is idle: the time of breakdown, divided by reason.",
    columns.process_id(),
    columns.text("stage", "breakdown.stage"),
    *columns.operation("innermost open operation"),
    columns.text("layer", columns.LAYER),
    columns.flag("gpu_busy", columns.GPU_BUSY),
    columns.text(
        "reason",
        "simulator, framework, python, collection (of garbage), launch, synchronisation (with "
        "copies to the host), copy (of pageable memory to the device), allocation, process, thread "
        "(waits for another one), sleep, disk, compilation, none, rolled up",
    ),
    columns.integer(
        "duration_ns", "wall time; the reasons of a state add up to its time in breakdown"
    ),
    columns.flag(
        "is_sample",
        "in a window of GPU work that was chosen at random: it stands for the time in which "
        "gpu_busy is NULL (--gpu-share)",
    ),
    layout=columns.PROCESS,
)

blocked = columns.relation(
    "blocked",
    "How much of the time of a process its threads were blocked, by readings of their states.",
    columns.process_id(),
    columns.text("stage", "breakdown.stage"),
    *columns.operation("innermost open operation"),
    columns.text("layer", columns.LAYER),
    columns.integer("duration_ns", "wall time, exact: that of breakdown"),
    columns.integer("readings", "times in this state at which the kernel was asked"),
    columns.integer(
        "blocked", "readings of which no thread that counts for the state ran or was runnable"
    ),
    columns.integer(
        "blocked_ns",
        "estimate: duration_ns in the proportion of these readings; NULL: there are none",
    ),
    columns.integer("blocked_low_ns", "lower end of the 95 % interval of blocked_ns"),
    columns.integer("blocked_high_ns", "upper end of the 95 % interval of blocked_ns"),
    layout=columns.PROCESS,
)

stack = columns.relation(
    "stack",
    "Stacks of the interpreter's threads, each a line of a call and the stack that made the call.",
    columns.process_id(),
    columns.integer("stack_id", "number of the stack in its process, from 1 on"),
    columns.integer("parent_id", "stack_id of the call's caller; NULL: the thread began here"),
    columns.text("function", "qualified name of the function"),
    columns.text("file", "file of the function, as the interpreter has it"),
    columns.integer("line", "line that the function was at; NULL: not known"),
    columns.integer("first_line", "line at which the function is defined"),
    columns.flag("is_own", "whether the file is the program's own and no library's"),
    layout=columns.PROCESS,
)

stack_time = columns.relation(
    "stack_time",
    "Time of a process by its owner's stack, estimated from readings, with exact sums. Rows of "
    "layer gpu: CUDA calls of all threads by their stack, and the GPU time of what they launched.",
    columns.process_id(),
    columns.integer("stack_id", "stack.stack_id; NULL: the stack is not known"),
    columns.text("stage", "breakdown.stage"),
    *columns.operation("innermost open operation"),
    columns.text("layer", columns.LAYER),
    columns.integer("readings", "how often the stack was found in this state"),
    columns.integer(
        "self_ns",
        "estimate: the exact time of the state (breakdown) in the proportion of these readings",
    ),
    columns.integer("self_low_ns", "lower end of the 95 % interval of self_ns"),
    columns.integer("self_high_ns", "upper end of the 95 % interval of self_ns"),
    columns.integer(
        "self_corrected_ns",
        "self_ns without the overhead: the state's breakdown.corrected_ns, divided as its time",
    ),
    columns.integer("calls", "CUDA calls of the stack, exact; in rows of layer gpu only"),
    columns.integer(
        "gpu_ns",
        "GPU time of what these calls launched, exact; NULL: the process could not record it",
    ),
    layout=columns.PROCESS,
)

source_line = columns.relation(
    "source_line",
    "Time of a process by line of Python, estimated from readings of its owner's stack. Rows of "
    "layer gpu: CUDA calls of all threads by their line, and the GPU time of what they launched.",
    columns.process_id(),
    columns.text("file", "stack.file; NULL: no line of the program's own is on the stack"),
    columns.integer("line", "stack.line; NULL as file"),
    columns.text("function", "stack.function; NULL as file"),
    columns.flag("is_own", "stack.is_own"),
    columns.text("stage", "breakdown.stage"),
    *columns.operation("innermost open operation"),
    columns.text("layer", columns.LAYER),
    columns.integer(
        "readings", "how often the line was found in this state, anywhere on the stack"
    ),
    columns.integer("self_ns", "time in which the line was the innermost one"),
    columns.integer(
        "own_ns", "time in which the line was the innermost one of the program's own code"
    ),
    columns.integer("own_low_ns", "lower end of the 95 % interval of own_ns"),
    columns.integer("own_high_ns", "upper end of the 95 % interval of own_ns"),
    columns.integer("total_ns", "time in which the line was on the stack"),
    columns.integer(
        "wait_ns",
        "the part of own_ns in layer wait; without a file: what no line has of that layer",
    ),
    columns.integer("self_corrected_ns", "self_ns without the overhead, as in stack_time"),
    columns.integer("own_corrected_ns", "own_ns without the overhead"),
    columns.integer("total_corrected_ns", "total_ns without the overhead"),
    columns.integer(
        "calls",
        "CUDA calls for which the line is the innermost one of the program's own code, exact; in "
        "rows of layer gpu only",
    ),
    columns.integer(
        "gpu_ns",
        "GPU time of what these calls launched, exact; NULL: the process could not record it",
    ),
    columns.integer(
        "total_gpu_ns", "the same of all calls that were made while the line was on the stack"
    ),
    layout=columns.PROCESS,
)

wait_peer = columns.relation(
    "wait_peer",
    "Processes at the other end of what a process waits for.",
    columns.process_id(),
    columns.text("kind", "kind of the waits (wait.kind)"),
    columns.text("object", "what they were for (wait.object)"),
    columns.text("function", "function in which they were (wait.function)"),
    columns.integer(
        "peer_process_id",
        "process at the other end; the process itself: another of its threads",
    ),
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
    columns.integer("count", "records of intervals in this state; a part of their cost lies here"),
    columns.integer("outside", "records made in this state, about another state inside it"),
    columns.integer(
        "overhead_ns",
        "mean cost of these records, by calibration.mean_ns; below zero: cost that is taken back",
    ),
    layout=columns.PROCESS,
)

event = columns.relation(
    "event",
    "Every interval, as the other relations count it. The first query that needs it makes it.",
    columns.process_id(),
    columns.integer("thread_id", "thread.thread_id; NULL: work of a GPU"),
    columns.text(
        "kind",
        f"{', '.join(_trace.EVENT_KINDS)}; overhead: CUPTI's own work; "
        "unknown: a kind of a later version",
    ),
    columns.text("layer", "layer that it belongs to; NULL: an operation"),
    columns.text("name", "path of the operation, or name of the function or kernel"),
    columns.start(),
    columns.integer("duration_ns", "length of the interval"),
    columns.integer(
        "operation_id",
        "operation that it counts for (operation.operation_id): GPU work for the operation of its "
        "launch, an operation for itself; NULL: outside of operations, or a callback",
    ),
    columns.integer("iteration", "iteration in which it began; NULL: before the first"),
    columns.integer("correlation_id", "joins a launch to its GPU work; NULL: other intervals"),
    columns.integer("device", "number of the GPU; NULL: other intervals"),
    columns.integer("stream", "number of the CUDA stream; NULL: other intervals"),
    columns.integer("bytes", "bytes that GPU work copied or set; NULL: other intervals"),
    columns.integer("graph", "CUDA graph that launched GPU work; 0: none; NULL: other intervals"),
    layout=columns.PROCESS,
)
