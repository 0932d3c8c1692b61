"""Relations of CUDA calls and of GPU work by operation (rlscope/trace/build.py makes them from
`_trace.Directory.cuda_relations`)."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Column

from rlscope.trace import columns

_GPU = (
    "name of the GPU on the machine: the entry of CUDA_VISIBLE_DEVICES at the device's place, "
    "else the device's number"
)

_CALLER = (
    "the innermost of its thread at the start of the call; of a thread that works for the owner, "
    "the owner's"
)

api_call = columns.relation(
    "api_call",
    "Calls of the CUDA API.",
    columns.process_id(),
    columns.text("name", "name of the API function"),
    *columns.operation(_CALLER),
    columns.integer("calls", columns.COUNTED),
    columns.integer("duration_ns", "sum over calls; one at the end of a window is cut there"),
    columns.integer("errors", "calls that returned an error; 'not ready' is none"),
    columns.integer("with_work", "calls that launched GPU work which is in the trace"),
    layout=columns.PROCESS,
)


def _gpu_columns(*own: Column[Any]) -> tuple[Column[Any], ...]:
    """The place of GPU work, the columns of its own, and the operation that launched it."""
    return (
        columns.process_id(),
        columns.integer("device", "number of the GPU"),
        columns.integer("context", "number of the CUDA context; each numbers its own streams"),
        columns.integer("stream", "number of the CUDA stream"),
        *own,
        *columns.operation('the operation of its launch, "(unlinked)" where the trace has none'),
        columns.integer("count", columns.COUNTED),
    )


def _launched_columns() -> tuple[Column[Any], ...]:
    """The columns of kernels and graphs."""
    return (
        columns.integer("duration_ns", "sum over launches, which may overlap"),
        columns.integer("min_ns", "the shortest"),
        columns.integer("max_ns", "the longest"),
        columns.integer(
            "launch_bound", "launches at whose end the stream was idle: the GPU waited for the CPU"
        ),
    )


kernel = columns.relation(
    "kernel",
    "Kernels that ran on a GPU.",
    *_gpu_columns(
        columns.text("name", "name of the kernel as it is in the code: mangled"),
        columns.text("function", "the same as its source spells it"),
    ),
    *_launched_columns(),
    layout=columns.PROCESS,
)

graph = columns.relation(
    "graph",
    "Launches of CUDA graphs, each from its start to its end (rls-prof --cuda-graph-trace=graph).",
    *_gpu_columns(columns.integer("graph", "number of the executable graph")),
    *_launched_columns(),
    layout=columns.PROCESS,
)

memcpy = columns.relation(
    "memcpy",
    "Copies that a GPU made.",
    *_gpu_columns(
        columns.text("direction", "from where to where: host_to_device, device_to_host, ..."),
        columns.text(
            "memory",
            "kind of the host's memory: pageable, pinned or managed; of a copy without a host, of "
            "its source",
        ),
    ),
    columns.integer("bytes", "bytes copied"),
    columns.integer("duration_ns", "sum over copies"),
    layout=columns.PROCESS,
)

memset = columns.relation(
    "memset",
    "Memory that a GPU set.",
    *_gpu_columns(columns.text("memory", "kind of memory: device, pinned, managed, ...")),
    columns.integer("bytes", "bytes set"),
    columns.integer("duration_ns", "sum over memsets"),
    layout=columns.PROCESS,
)

sync = columns.relation(
    "sync",
    "CUDA synchronisation.",
    columns.process_id(),
    columns.text(
        "kind",
        "device, stream or event that the call waited for; stream_wait_event makes a stream wait, "
        "not the call",
    ),
    *columns.operation(_CALLER),
    columns.integer("count", columns.COUNTED),
    columns.integer("duration_ns", "sum over calls"),
    columns.integer(
        "waiting_ns", "overlap of the calls with GPU work of the stream or device waited for"
    ),
    layout=columns.PROCESS,
)

gpu_time = columns.relation(
    "gpu_time",
    "GPU time of an operation, seen from both ends of a launch, in recorded time.",
    columns.process_id(),
    columns.integer("device", "number of the GPU in the process"),
    columns.text("gpu", _GPU),
    *columns.operation(),
    columns.integer("while_ns", "union of GPU work while the operation owned the process"),
    columns.integer("launched_ns", "union of GPU work that the operation launched"),
    layout=columns.PROCESS,
)

gpu_device = columns.relation(
    "gpu_device",
    "A GPU that processes of the run used, over all of them.",
    columns.integer("host_id", "host.host_id"),
    columns.text("gpu", _GPU),
    columns.integer("processes", "processes that kept it busy"),
    columns.integer("busy_ns", "union of GPU work over processes, each in its recorded time"),
    columns.integer("processes_ns", "sum of the processes' own times; more where they overlap"),
)

gpu_timeline = columns.relation(
    "gpu_timeline",
    "How busy a GPU was over time, over all processes; buckets without work have no row.",
    columns.integer("host_id", "host.host_id"),
    columns.text("gpu", _GPU),
    columns.integer("start_ns", "start of the bucket: one of level 0 of timeline"),
    columns.integer("bucket_ns", "length of the bucket"),
    columns.integer("busy_ns", "union of GPU work over processes within the bucket"),
)
