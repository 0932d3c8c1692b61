"""A little of everything that leaves a record: kernels, copies, sets, graphs, ways to wait."""

from __future__ import annotations

import ctypes
from ctypes import c_size_t

from driver import Driver, say

KERNELS, COPIES, SETS, REPLAYS = 20, 5, 3, 4
COPIED, SET_BYTES = 4096, 1 << 20
SPIN_NS = 5000
IN_GRAPH = 2


def work(driver: Driver) -> None:
    """Kernels, copies from pinned and from pageable memory, memsets; waits in three ways."""
    stream, event = driver.stream(), driver.event()
    device, pinned = driver.device_memory(SET_BYTES), driver.pinned_memory(COPIED)
    pageable = ctypes.create_string_buffer(COPIED)
    for _ in range(KERNELS):
        driver.spin(stream, SPIN_NS)
    for _ in range(COPIES):
        driver.call("cuMemcpyHtoDAsync_v2", device, pinned, c_size_t(COPIED), stream)
        driver.call("cuMemcpyDtoHAsync_v2", pinned, device, c_size_t(COPIED), stream)
        driver.call("cuMemcpyHtoD_v2", device, pageable, c_size_t(COPIED))
    for _ in range(SETS):
        driver.call("cuMemsetD8Async", device, 0, c_size_t(SET_BYTES), stream)
    driver.call("cuStreamSynchronize", stream)
    driver.call("cuEventRecord", event, stream)
    driver.call("cuEventSynchronize", event)
    driver.call("cuCtxSynchronize")


def replay(driver: Driver) -> None:
    """A graph of two kernels, launched a few times."""
    stream, executable = driver.stream(), driver.graph(IN_GRAPH, SPIN_NS)
    for _ in range(REPLAYS):
        driver.call("cuGraphLaunch", executable, stream)
    driver.call("cuStreamSynchronize", stream)


def main() -> None:
    driver = Driver()
    work(driver)
    replay(driver)
    say(
        kernels=KERNELS,
        graphs=REPLAYS,
        graph_kernels=IN_GRAPH * REPLAYS,
        copies={"HtoD": 2 * COPIES, "DtoH": COPIES},
        copied_bytes=3 * COPIES * COPIED,
        sets=SETS,
        set_bytes=SETS * SET_BYTES,
    )


if __name__ == "__main__":
    main()
