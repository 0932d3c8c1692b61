"""The relations of a trace as SQLAlchemy tables: the schema that queries and reports rely on.

Every time is an int64 in nanoseconds of CLOCK_MONOTONIC, every id is dense within a run.
`operation` and `phase` as columns of other relations are text; "(none)" is no operation and no
phase, and "(not recorded)" the gaps between windows. What a trace cannot fill is NULL and listed
in `absent`.

A relation lies in DIR/tables in one of two layouts (`layout_of`):

    run       tables/<relation>/part.parquet                   small: one file for the whole run
    process   tables/<relation>/process_id=<id>/part.parquet   one file for each process
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import BigInteger, Boolean, Column, Double, MetaData, Table, Text
from sqlalchemy.types import TypeEngine

METADATA = MetaData()

RUN = "run"
PROCESS = "process"

_OPERATION = "path of the operation, operation.path"
_PHASE = 'phase of the process, "(none)" outside any'
_LAYER = "deepest layer: none, python, simulator, framework or cuda_api"
_GPU_BUSY = "whether a kernel, memcpy or memset of the process ran"
_COUNTED = "count over the trace"
_SOURCE = "explicit: annotated; automatic: found by rlscope"


def _integer(name: str, comment: str) -> Column[Any]:
    return Column(name, BigInteger, comment=comment)


def _text(name: str, comment: str) -> Column[Any]:
    return Column(name, Text, comment=comment)


def _flag(name: str, comment: str) -> Column[Any]:
    return Column(name, Boolean, comment=comment)


def _real(name: str, comment: str) -> Column[Any]:
    return Column(name, Double, comment=comment)


def _process_id() -> Column[Any]:
    return _integer("process_id", "process.process_id")


def _thread_id() -> Column[Any]:
    return _integer("thread_id", "thread.thread_id")


def _start() -> Column[Any]:
    return _integer("start_ns", "when it began, ns of CLOCK_MONOTONIC")


def _operation(meaning: str = "") -> tuple[Column[Any], ...]:
    """The operation that a row is about: an annotated one and one that rlscope found by itself are
    different operations, also where they have the same path."""
    return (
        _text("operation", f"{meaning}{': ' if meaning else ''}{_OPERATION}"),
        _text("source", f"{_SOURCE}; NULL outside of operations"),
    )


def _relation(name: str, comment: str, *columns: Column[Any], layout: str = RUN) -> Table:
    return Table(name, METADATA, *columns, comment=comment, info={"layout": layout})


run = _relation(
    "run",
    "The traced run: one row.",
    _text("run_id", "identity of the run"),
    _text("command", "the command line, secrets masked"),
    _text("name", "name given with --name, else the program"),
    _integer("start_ns", "start of the first process, ns of CLOCK_MONOTONIC"),
    _integer("end_ns", "end of the last process, ns of CLOCK_MONOTONIC"),
    _text("version", "version of rlscope that recorded the run"),
    _text("start_time", "when the run began, by the calendar, in UTC"),
    _text("options", "how it was recorded, as JSON"),
)

host = _relation(
    "host",
    "A machine that took part in the run.",
    _integer("host_id", "dense id"),
    _text("name", "host name"),
    _text("boot_id", "kernel boot id: clocks of one boot compare"),
    _text("cpu", "model name of the CPU"),
    _integer("cores", "CPUs that the run could use"),
    _text("clock", "clock of the records: tsc, monotonic or virtual_counter"),
    _integer("tsc_hz", "ticks of that clock per second"),
)

absent = _relation(
    "absent",
    "What this trace cannot fill: NULL there means unknown, never 0.",
    _text("relation", "name of the relation"),
    _text("column", "name of the column, * for the whole relation"),
    _text("reason", "why, in plain words"),
)

process = _relation(
    "process",
    "One executed image of one pid: fork and exec each begin a row.",
    _integer("process_id", "dense id, in order of start"),
    _integer("parent_process_id", "process that forked or started it; NULL when not traced"),
    _integer("host_id", "host.host_id"),
    _integer("os_pid", "pid in its own pid namespace"),
    _text("name", "its role: name given with rls.process(), else the program's short name"),
    _text("program", "command line, secrets masked"),
    _text("python", "version of the interpreter; NULL for other programs"),
    _integer("start_ns", "first clock reading in the process"),
    _integer("end_ns", "reading on the exit path, else when it was seen gone, else last record"),
    _integer("exit", "exit status; NULL when it did not end on an exit path"),
    _integer("cpu_ns", "CPU time of all threads of the program, without the profiler's"),
    _integer("profiler_cpu_ns", "CPU time of the profiler's own threads in the process"),
    _text("ended", "how end_ns is known: exit, gone, last_record or running"),
    _text("short_name", "the kernel's name of the process (comm), 15 characters"),
    _flag("forked", "began by fork, not by exec"),
    _integer("forks", "children forked from this image"),
    _integer("python_start_ns", "when the interpreter was instrumented; NULL never"),
    _integer("python_end_ns", "when the interpreter was finalised; NULL never"),
    _integer("events", "recorded intervals"),
    _integer("file_bytes", "size of its trace files"),
)

thread = _relation(
    "thread",
    "A thread that recorded something.",
    _integer("thread_id", "dense id over all processes"),
    _process_id(),
    _integer("os_tid", "kernel thread id"),
    _text("name", "name of the thread"),
    _flag("is_python", "a thread of the interpreter"),
    _integer("start_ns", "its first record"),
    _integer("end_ns", "its exit, else the end of the process"),
)

window = _relation(
    "window",
    "A stretch in which the process recorded; gaps are operation (not recorded).",
    _process_id(),
    _start(),
    _integer("duration_ns", "length of the window"),
)

phase = _relation(
    "phase",
    "A phase of a process; phases of one process do not overlap.",
    _process_id(),
    _text("name", "name of the phase"),
    _start(),
    _integer("duration_ns", "length of the phase"),
)

iteration = _relation(
    "iteration",
    "One pass of the training loop.",
    _process_id(),
    _integer("iteration", "number, from 0, in order of start"),
    _start(),
    _integer("duration_ns", "length; of the last one, up to the end of the window"),
    _flag("complete", "the next iteration began; false for the last one"),
    _text("source", "explicit: rls.iteration(); automatic: found from the program's calls"),
)

operation = _relation(
    "operation",
    "A step of the algorithm, by path and source; one row for all processes.",
    _integer("operation_id", "dense id; a parent's is lower than its children's"),
    _integer("parent_operation_id", "operation that encloses it; NULL outermost"),
    _text("name", "its own name"),
    _text("path", 'names from the outermost, joined by "/"; "\\" and "/" in a name are escaped'),
    _integer("depth", "0 outermost"),
    _text("source", _SOURCE),
    _text(
        "rule", "how an automatic one was found; NULL when the process did not say, or annotated"
    ),
)

operation_instance = _relation(
    "operation_instance",
    "One entry into an operation.",
    _process_id(),
    _thread_id(),
    _integer("operation_id", "operation.operation_id"),
    _integer("iteration", "iteration in which it began; NULL before the first"),
    _start(),
    _integer("duration_ns", "from enter to exit"),
    _integer("self_ns", "while it was the innermost open operation and running"),
    _text("ended", "what closed it: exit, window, process_end, thread_end or gap"),
    layout=PROCESS,
)


def _share_columns() -> tuple[Column[Any], ...]:
    """The columns that the process view and the thread view of the breakdown share."""
    return (
        _text("phase", _PHASE),
        *_operation("the innermost open operation"),
        _text("layer", _LAYER),
        _flag("gpu_busy", _GPU_BUSY),
        _integer("duration_ns", "wall time; all rows of a process add up to end_ns - start_ns"),
        _integer("overhead_ns", "bookkeeping in it, from calibration"),
        _integer("corrected_ns", "duration_ns without the overhead"),
        _integer("corrected_low_ns", "lower end of the 95 % interval of corrected_ns"),
        _integer("corrected_high_ns", "upper end of the 95 % interval of corrected_ns"),
        _integer("count", "separate stretches of time"),
    )


breakdown = _relation(
    "breakdown",
    "Where the wall time of a process went: one row per state it was in.",
    _process_id(),
    *_share_columns(),
    layout=PROCESS,
)

breakdown_by_thread = _relation(
    "breakdown_by_thread",
    "Where the wall time of each thread went, by its own operations.",
    _process_id(),
    _thread_id(),
    *_share_columns(),
    layout=PROCESS,
)

timeline = _relation(
    "timeline",
    "The breakdown over time, split exactly at the edges of buckets.",
    _process_id(),
    _integer("level", "0 is the finest; each level has half the buckets of the one before"),
    _integer("start_ns", "start of the bucket"),
    _integer("bucket_ns", "length of the bucket"),
    *_operation(),
    _text("layer", _LAYER),
    _flag("gpu_busy", _GPU_BUSY),
    _integer("duration_ns", "wall time in this state within the bucket"),
    layout=PROCESS,
)

transition = _relation(
    "transition",
    "Entries of threads into another layer (calls and callbacks, never returns).",
    _process_id(),
    *_operation("the operation open at entry"),
    _text("from_layer", "layer that was left"),
    _text("to_layer", "layer that was entered"),
    _integer("count", _COUNTED),
    _real("per_iteration", "count divided by complete iterations; NULL without any"),
    layout=PROCESS,
)

native_call = _relation(
    "native_call",
    "Calls of native functions of simulators and frameworks.",
    _process_id(),
    _text("function", "module:function"),
    _text("layer", "layer that the function belongs to"),
    *_operation("the operation at the start of the call"),
    _integer("calls", _COUNTED),
    _integer("duration_ns", "outermost calls, inclusive"),
    _integer("self_ns", "without callbacks into Python and CUDA calls"),
    layout=PROCESS,
)

api_call = _relation(
    "api_call",
    "Calls of the CUDA API.",
    _process_id(),
    _text("name", "name of the API function"),
    *_operation("the operation at the start of the call"),
    _integer("calls", _COUNTED),
    _integer("duration_ns", "sum over calls"),
    _integer("errors", "calls that returned an error"),
    layout=PROCESS,
)


def _gpu_columns(*own: Column[Any]) -> tuple[Column[Any], ...]:
    """The columns that say where GPU work ran, its own ones, and who launched it."""
    return (
        _process_id(),
        _integer("device", "number of the GPU"),
        _integer("stream", "number of the CUDA stream"),
        *own,
        *_operation("the operation that launched it"),
        _integer("count", _COUNTED),
    )


kernel = _relation(
    "kernel",
    "Kernels that ran on a GPU.",
    *_gpu_columns(_text("name", "name of the kernel")),
    _integer("duration_ns", "sum over launches"),
    _integer("min_ns", "the shortest"),
    _integer("max_ns", "the longest"),
    layout=PROCESS,
)

memcpy = _relation(
    "memcpy",
    "Copies that a GPU made.",
    *_gpu_columns(
        _text("direction", "from where to where, such as host_to_device"),
        _text("memory", "kind of host memory: pageable, pinned or other"),
    ),
    _integer("bytes", "bytes copied"),
    _integer("duration_ns", "sum over copies"),
    layout=PROCESS,
)

memset = _relation(
    "memset",
    "Memory that a GPU set.",
    *_gpu_columns(_text("memory", "kind of memory")),
    _integer("bytes", "bytes set"),
    _integer("duration_ns", "sum over memsets"),
    layout=PROCESS,
)

sync = _relation(
    "sync",
    "CUDA synchronisation.",
    _process_id(),
    _text("kind", "what was waited for: device, stream or event"),
    *_operation("the operation at the start of the call"),
    _integer("count", _COUNTED),
    _integer("duration_ns", "sum over calls"),
    _integer("waiting_ns", "overlap of the calls with the GPU work that they waited for"),
    layout=PROCESS,
)

gpu_time = _relation(
    "gpu_time",
    "GPU time of an operation, seen from both ends of a launch.",
    _process_id(),
    _integer("device", "number of the GPU"),
    *_operation(),
    _integer("while_ns", "union of GPU work while the operation owned the process"),
    _integer("launched_ns", "union of GPU work that the operation launched"),
    layout=PROCESS,
)

overhead = _relation(
    "overhead",
    "Bookkeeping by kind, and the time that calibration found for it.",
    _process_id(),
    *_operation(),
    _text("layer", _LAYER),
    _flag("gpu_busy", _GPU_BUSY),
    _text("kind", "kind of bookkeeping"),
    _integer("count", _COUNTED),
    _integer("overhead_ns", "count times the kind's mean"),
    layout=PROCESS,
)

calibration = _relation(
    "calibration",
    "What one piece of bookkeeping costs.",
    _integer("calibration_id", "dense id"),
    _text("kind", "kind of bookkeeping"),
    _text("api", "API function that it surrounds; NULL for all"),
    _integer("mean_ns", "mean cost"),
    _integer("low_ns", "lower end of its 95 % interval"),
    _integer("high_ns", "upper end of its 95 % interval"),
    _integer("samples", "measurements"),
    _text("method", "how it was measured"),
)

machine_sample = _relation(
    "machine_sample",
    "Readings of the machine about once a second.",
    _integer("host_id", "host.host_id"),
    _integer("process_id", "process.process_id; NULL for the whole machine"),
    _integer("start_ns", "when it was read, ns of CLOCK_MONOTONIC"),
    _text("metric", "what was read; its unit is in the name"),
    _real("value", "the reading"),
)

loss = _relation(
    "loss",
    "What was not recorded, or had to be mended, and how much of it.",
    _integer("process_id", "process.process_id; NULL for the whole run"),
    _text("kind", "kind of loss"),
    _integer("count", "how often, or how many records"),
    _integer("duration_ns", "how much time; NULL where it has none"),
    _text("detail", "where"),
)

progress = _relation(
    "progress",
    "What rls.progress(done, total) reported.",
    _process_id(),
    _integer("start_ns", "when it was reported, ns of CLOCK_MONOTONIC"),
    _real("done", "how much was done, in the program's own unit"),
    _real("total", "how much there is"),
)

metadata = _relation(
    "metadata",
    "What rls.metadata(key=value) reported; the last value of a key.",
    _process_id(),
    _text("key", "name"),
    _text("value", "value as JSON"),
)

event = _relation(
    "event",
    "Every recorded interval; made when a query first asks for it.",
    _process_id(),
    _integer("thread_id", "thread.thread_id; NULL for work of a GPU"),
    _text(
        "kind",
        "operation, call, callback, cuda_call, kernel, memcpy, memset, graph, sync, or "
        "overhead (CUPTI's own)",
    ),
    _text("layer", "layer that it belongs to; NULL for operations"),
    _text("name", "path of the operation, or name of the function or kernel"),
    _start(),
    _integer("duration_ns", "length of the interval"),
    _integer("correlation_id", "joins a launch to its GPU work; NULL for others"),
    _integer("device", "number of the GPU; NULL for others"),
    _integer("stream", "number of the CUDA stream; NULL for others"),
    _integer("bytes", "copied or set by GPU work; NULL for others"),
    _integer("graph", "CUDA graph that launched GPU work, 0 none; NULL for others"),
    layout=PROCESS,
)

# Made on request only: it is as large as the trace itself.
ON_REQUEST = frozenset({"event"})


def relations() -> dict[str, Table]:
    """Every relation by name, in the order of this file."""
    return dict(METADATA.tables)


def swept_relations() -> list[Table]:
    """The relations that opening a trace makes."""
    return [relation for name, relation in relations().items() if name not in ON_REQUEST]


def layout_of(relation: Table) -> str:
    """RUN or PROCESS: where the relation lies in DIR/tables."""
    return str(relation.info["layout"])


def descriptions(relation: Table) -> dict[str, str]:
    """What each column means."""
    return {column.name: str(column.comment) for column in relation.columns}


def type_name(type_: TypeEngine[Any]) -> str:
    """The SQL type of a column, as DuckDB and PostgreSQL spell it."""
    names = {BigInteger: "BIGINT", Text: "TEXT", Boolean: "BOOLEAN", Double: "DOUBLE"}
    return names[type(type_)]
