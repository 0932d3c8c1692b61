"""What calls cost their thread: nanoseconds of CPU time each, the median over blocks.

python driver_calls.py [THREADS]     then the median over threads
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from driver import Driver, say

BLOCKS, CALLS = 60, 500
GRAPH_KERNELS = 3


def cost_ns(call: Callable[[], Any], after: Callable[[], Any], calls: int = CALLS) -> float:
    """Median over blocks of so many calls each; `after` each block is not timed."""
    blocks = []
    for _ in range(BLOCKS):
        begin = time.thread_time_ns()
        for _ in range(calls):
            call()
        blocks.append((time.thread_time_ns() - begin) / calls)
        after()
    return statistics.median(blocks)


def costs(driver: Driver) -> dict[str, float]:
    """Of this thread's calls on a stream of its own."""
    driver.enter_thread()
    stream, event = driver.stream(), driver.event()
    device, host = driver.device_memory(4096), driver.pinned_memory(4096)
    front, (pointers, extra, _value) = driver.spin_arguments(0)
    launch, query = driver.function("cuLaunchKernel"), driver.function("cuEventQuery")
    copy, replay = driver.function("cuMemcpyHtoDAsync_v2"), driver.function("cuGraphLaunch")
    graph = driver.graph(GRAPH_KERNELS, 0)
    driver.call("cuEventRecord", event, stream)

    def synchronize() -> None:
        driver.call("cuStreamSynchronize", stream)

    synchronize()
    return {
        "cuLaunchKernel": cost_ns(lambda: launch(*front, stream, pointers, extra), synchronize),
        "cuEventQuery": cost_ns(lambda: query(event), synchronize),
        "cuMemcpyHtoDAsync": cost_ns(lambda: copy(device, host, 64, stream), synchronize),
        "cuGraphLaunch": cost_ns(lambda: replay(graph, stream), synchronize, calls=CALLS // 10),
    }


def main(threads: int) -> None:
    driver = Driver()
    with ThreadPoolExecutor(threads) as pool:
        found = list(pool.map(costs, [driver] * threads))
    say(**{name: statistics.median(each[name] for each in found) for name in found[0]})


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1)
