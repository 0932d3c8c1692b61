"""Relations of CUDA calls and of GPU work by operation.

rlscope/relations/rows/build.py makes them from `_trace.Directory.cuda_relations`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Column, Table

from rlscope import _trace
from rlscope.relations.schema import columns

_GPU = (
    "name of the GPU on the machine: the device's entry in CUDA_VISIBLE_DEVICES, "
    "else the device's number; in imported files with numbers of their own, also whose number it is"
)

_CALLER = (
    "innermost operation of its thread at the start of the call",
    "for a thread that works for the owner, the owner's",
)

api_call = columns.relation(
    "api_call",
    "Calls of the CUDA API.",
    columns.process_id(),
    columns.text("name", "name of the API function"),
    *columns.operation(*_CALLER),
    columns.integer("calls", columns.COUNTED),
    columns.integer("duration_ns", "sum over calls; the end of a window cuts a call"),
    columns.integer("errors", "calls that returned an error; 'not ready' does not count"),
    columns.integer("with_work", "calls whose GPU work is in the trace"),
    layout=columns.PROCESS,
)


def _work_relation(kind: Mapping[str, Any]) -> Table:
    """The place of GPU work of a kind, its own columns, and the operation that launched it."""
    return columns.relation(
        kind["name"],
        kind["comment"],
        columns.process_id(),
        columns.integer("device", "number of the GPU"),
        columns.integer("context", "number of the CUDA context; each numbers its own streams"),
        columns.integer("stream", "number of the CUDA stream"),
        *map(_column, kind["keys"]),
        *columns.operation("operation of its launch", '"(unlinked)": the trace has no launch'),
        columns.integer("count", columns.COUNTED),
        *map(_column, kind["sums"]),
        layout=columns.PROCESS,
    )


def _column(facts: Mapping[str, Any]) -> Column[Any]:
    make = columns.text if facts["is_text"] else columns.integer
    return make(facts["name"], facts["comment"])


work = tuple(_work_relation(kind) for kind in _trace.GPU_KINDS if kind["is_work"])
"""One for each kind of GPU work: kernel, memcpy, memset, graph."""

sync = columns.relation(
    "sync",
    "CUDA synchronisation.",
    columns.process_id(),
    columns.text(
        "kind",
        "device, stream or event that the call waited for; stream_wait_event makes a stream wait, "
        "not the call",
    ),
    *columns.operation(*_CALLER),
    columns.integer("count", columns.COUNTED),
    columns.integer("duration_ns", "sum over calls"),
    columns.integer(
        "waiting_ns",
        "overlap of the calls with GPU work of the stream or device that they wait for",
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
    "A GPU that the run used, over all of its processes.",
    columns.integer("host_id", "host.host_id"),
    columns.text("gpu", _GPU),
    columns.integer("processes", "processes that kept it busy"),
    columns.integer("busy_ns", "union of GPU work over processes, each in its recorded time"),
    columns.integer(
        "processes_ns", "sum of the processes' own times; larger than busy_ns if they overlap"
    ),
)

gpu_timeline = columns.relation(
    "gpu_timeline",
    "How busy a GPU was over time, over all processes. Buckets without work have no row.",
    columns.integer("host_id", "host.host_id"),
    columns.text("gpu", _GPU),
    columns.integer("start_ns", "start of the bucket, which is one of level 0 of timeline"),
    columns.integer("bucket_ns", "length of the bucket"),
    columns.integer("busy_ns", "union of GPU work over processes within the bucket"),
)
