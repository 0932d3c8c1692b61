"""The timeline at the resolution of a picture: the finest level with at most so many buckets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlscope.analysis import statement
from rlscope.table import Table

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace


def timeline_layer(trace: Trace, *, buckets: int, processes: int) -> Table:
    """process_id, bucket, start_ns (since the run began), bucket_ns, layer, gpu_busy, duration_ns
    of the `processes` longest processes."""
    return statement.run(trace, "timeline_layer", buckets=buckets, processes=processes)


def timeline_operation(trace: Trace, *, buckets: int, processes: int, operations: int) -> Table:
    """process_id, bucket, bucket_ns, operation, duration_ns, operation_ns: the `operations`
    largest of each process, by descending operation_ns."""
    return statement.run(
        trace,
        "timeline_operation",
        buckets=buckets,
        processes=processes,
        operations=operations,
    )
