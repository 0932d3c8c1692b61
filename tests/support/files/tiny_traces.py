"""Tiny traces that the tests of the store and of the commands read; one screen each.

Times are nanoseconds since the process began; on disk they are shifted (written.ORIGIN_NS).
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from ground_truth.raw import (
    Gpu,
    GpuWork,
    Node,
    RawProcess,
    RawThread,
    call,
    enter,
    iteration,
    leave,
    phase,
    window_start,
    window_stop,
)
from ground_truth.written import write

from rlscope.opening import Trace, load

#                 0    1    2    3    4    5    6    7    8    9    10 us
#   layer         none |python     |fw|python
#   phase                   [training ----------------------------
#   iteration               [0 -------------------][1 ------------
#   operation               [update --------]    [update ---]
#                                [backprop]
TRAINER = RawProcess(
    end_ns=10_000,
    python_begin_ns=1_000,
    threads=[
        RawThread(
            items=[
                phase(2_000, "training"),
                iteration(2_000),
                enter(2_000, "update"),
                enter(3_000, "backprop"),
                call(3_200, 3_700, "matmul"),
                leave(5_000, "backprop"),
                leave(6_000, "update"),
                iteration(6_500),
                enter(6_500, "update"),
                leave(9_000, "update"),
            ]
        )
    ],
)

# The same, and where its thread was three times.
READ_TRAINER = replace(
    TRAINER,
    nodes=[Node(0, "main", 3), Node(1, "step", 8)],
    states=[(3_500, frozenset({1})), (5_500, frozenset({1})), (8_000, frozenset({1}))],
    stacks={3_500: {1: 2}, 5_500: {1: 1}, 8_000: {1: 2}},
)

# Two images of other pids: one shares the trainer's operation, has its own and a second thread;
# one recorded nothing.
WORKER = RawProcess(
    os_pid=4243,
    start_ns=3_000,
    python_begin_ns=3_000,
    end_ns=8_000,
    threads=[
        RawThread(items=[enter(4_000, "update"), enter(4_500, "step/a"), leave(5_000, "step/a")]),
        RawThread(items=[enter(6_000, "write"), leave(7_000, "write")], main=False),
    ],
)
SILENT = RawProcess(os_pid=4244, start_ns=5_000, python_begin_ns=None, end_ns=6_000)

# Recorded from 1 to 4 and from 7 to 9 us.
WINDOWED = RawProcess(
    end_ns=9_000,
    threads=[
        RawThread(
            items=[
                window_start(1_000),
                enter(2_000, "update"),
                window_stop(4_000),
                window_start(7_000),
                enter(7_500, "update"),
                leave(8_000, "update"),
                window_stop(9_000),
            ]
        )
    ],
)

# A kernel and a copy that overlap on two streams: busy from 2 to 6 us.
WITH_GPU = RawProcess(
    end_ns=8_000,
    threads=[RawThread(items=[enter(1_000, "update"), leave(5_000, "update")])],
    gpu=[
        GpuWork(2_000, 5_000, Gpu.KERNEL, stream=7),
        GpuWork(4_000, 6_000, Gpu.MEMCPY, stream=8),
    ],
)

TRACES = {
    "trainer": [TRAINER],
    "workers": [TRAINER, WORKER, SILENT],
    "windows": [WINDOWED],
    "gpu": [WITH_GPU],
}
# Beside those that every SQL test asks.
_WITH_STACKS = {"stacks": [READ_TRAINER, WORKER, SILENT]}

_WRONG_SUMS = """
WITH _swept(relation, id, start_ns, end_ns, sum_ns) AS (
  SELECT 'breakdown', process_id, p.start_ns, p.end_ns, sum(duration_ns)
  FROM process AS p LEFT JOIN breakdown USING (process_id) GROUP BY ALL
  UNION ALL
  SELECT 'breakdown_by_thread', thread_id, t.start_ns, t.end_ns, sum(duration_ns)
  FROM thread AS t LEFT JOIN breakdown_by_thread USING (thread_id) GROUP BY ALL
  UNION ALL
  SELECT 'iteration_breakdown', process_id, p.start_ns, p.end_ns, sum(duration_ns)
  FROM process AS p LEFT JOIN iteration_breakdown USING (process_id) GROUP BY ALL
  UNION ALL
  SELECT 'timeline level ' || "level", process_id, p.start_ns, p.end_ns, sum(duration_ns)
  FROM process AS p JOIN timeline USING (process_id) GROUP BY ALL
)
SELECT * FROM _swept WHERE coalesce(sum_ns, 0) != end_ns - start_ns
"""


def write_trace(name: str, root: Path) -> Path:
    """Writes one of TRACES, or "stacks", as the trace directory `root`."""
    write({**TRACES, **_WITH_STACKS}[name], root)
    return root


def load_checked(root: Path) -> Trace:
    """Opens a trace whose times must add up to the nanosecond, per process, thread and level."""
    trace = load(root)
    assert trace.sql(_WRONG_SUMS).to_dicts() == []
    return trace
