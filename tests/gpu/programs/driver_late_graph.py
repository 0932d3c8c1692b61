"""Launches of graphs that are older than what records them; prints how many kernels there were.

python driver_late_graph.py late|paused|resumed     recording begins after the graph was made; it
    was made in a pause; it was made before one
"""

from __future__ import annotations

import sys

from driver import Driver, say

from rlscope.recorder import runtime

KERNELS, LAUNCHES, SPIN_NS = 3, 100, 2000


def main(order: str) -> None:
    if order == "late":
        runtime.pause_cuda()
    driver = Driver()
    if order == "paused":
        runtime.pause_cuda()
    graph, stream = driver.graph(KERNELS, SPIN_NS), driver.stream()
    if order == "resumed":
        runtime.pause_cuda()
    runtime.resume_cuda()
    for _ in range(LAUNCHES):
        driver.call("cuGraphLaunch", graph, stream)
    driver.call("cuStreamSynchronize", stream)
    say(kernels=KERNELS * LAUNCHES)


if __name__ == "__main__":
    main(sys.argv[1])
