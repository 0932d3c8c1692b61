"""What calls cost their thread: nanoseconds of CPU time each, the median over blocks."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

from driver import Driver, say

BLOCKS, CALLS = 60, 500


def cost_ns(call: Callable[[], Any], after: Callable[[], Any]) -> float:
    """Median over blocks of CALLS calls each; `after` each block is not timed."""
    blocks = []
    for _ in range(BLOCKS):
        begin = time.thread_time_ns()
        for _ in range(CALLS):
            call()
        blocks.append((time.thread_time_ns() - begin) / CALLS)
        after()
    return statistics.median(blocks)


def main() -> None:
    driver = Driver()
    stream, event = driver.stream(), driver.event()
    device, host = driver.device_memory(4096), driver.pinned_memory(4096)
    front, (pointers, extra, _value) = driver.spin_arguments(0)
    launch, query = driver.function("cuLaunchKernel"), driver.function("cuEventQuery")
    copy = driver.function("cuMemcpyHtoDAsync_v2")
    driver.call("cuEventRecord", event, stream)

    def synchronize() -> None:
        driver.call("cuStreamSynchronize", stream)

    synchronize()
    say(
        cuLaunchKernel=cost_ns(lambda: launch(*front, stream, pointers, extra), synchronize),
        cuEventQuery=cost_ns(lambda: query(event), synchronize),
        cuMemcpyHtoDAsync=cost_ns(lambda: copy(device, host, 64, stream), synchronize),
    )


if __name__ == "__main__":
    main()
