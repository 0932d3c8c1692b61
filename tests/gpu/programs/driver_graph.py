"""A graph of three kernels, launched a hundred times; prints how many launches and kernels."""

from __future__ import annotations

from driver import Driver, say

KERNELS, LAUNCHES, SPIN_NS = 3, 100, 2000


def main() -> None:
    driver = Driver()
    graph, stream = driver.graph(KERNELS, SPIN_NS), driver.stream()
    for _ in range(LAUNCHES):
        driver.call("cuGraphLaunch", graph, stream)
    driver.call("cuStreamSynchronize", stream)
    say(replays=LAUNCHES, kernels=KERNELS * LAUNCHES)


if __name__ == "__main__":
    main()
