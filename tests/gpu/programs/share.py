"""A loop with its iterations, of which a part is recorded (rls-prof --gpu-share).

    python share.py LOOP SECONDS [graph]

Each iteration waits for the GPU. With graph, each also replays a CUDA graph that is older than all
windows but the first.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable

import loops
from driver import say
from waiting import wait_for_gpu

import rlscope as rls


def captured() -> Callable[[], None]:
    """Replays a graph of a few kernels."""
    import torch

    values = torch.ones(1 << 10, device="cuda")
    values.mul_(1.0)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(3):
            values.mul_(1.0)
    return lambda: graph.replay()


def main(name: str, seconds: float, graph: bool) -> None:
    iterate = loops.make(name)
    replay = captured() if graph else lambda: None
    times_ns, end = [], time.monotonic() + seconds
    while time.monotonic() < end:
        begun_ns = time.perf_counter_ns()
        rls.iteration()
        iterate()
        replay()
        wait_for_gpu()
        times_ns.append(time.perf_counter_ns() - begun_ns)
    rls.iteration()
    late = times_ns[len(times_ns) // 2 :]
    say(
        iterations=len(times_ns),
        median_us=statistics.median(late) / 1e3,
        mean_us=statistics.mean(late) / 1e3,
    )


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]), "graph" in sys.argv[3:])
