"""The relation `event`: every interval, streamed from the files into a table of its own.

The rows are those that the sweep counts (csrc/analysis/events/intervals.h), so their
sums are the sums of the other relations.
"""

from __future__ import annotations

from collections.abc import Sequence

from rlscope import _trace
from rlscope.relations.files.sink import Sink
from rlscope.relations.rows.progress import Progress
from rlscope.relations.schema.store import event


def build_events(
    directory: _trace.Directory,
    operations: Sequence[tuple[str, str, int]],
    sink: Sink,
    progress: Progress,
) -> None:
    """Puts the events of every process into `sink`, a few batches in memory at a time.

    `operations`: path, source and id of those of the run.
    """
    first_thread = 0
    with progress.of(1):
        for process in directory.processes:
            index = process["index"]
            rows = directory.event_rows(index, first_thread=first_thread, operations=operations)
            sink.put_rows(event, rows, index)
            progress.end_pass(index)
            first_thread += len(directory.threads(index)["thread"])
        sink.finish()
