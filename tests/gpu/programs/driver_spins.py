"""Kernels of known length, each between two events, behind another kernel, and waited for.

python driver_spins.py SECONDS     so long short ones, then twenty of each length

Prints, of each kernel, the length that it got, the time between its events, and the time since
the first event of the kernel before: all by the GPU's own clock.
"""

from __future__ import annotations

import sys
import time

from driver import Driver, say

LENGTHS_NS = (10_000, 100_000, 1_000_000, 10_000_000)
SHORT_NS, EVERY_S = 50_000, 0.02
GATE_NS = 200_000  # of the kernel before: until it ends, all that follows waits in the queue
WARM_UP = 20


class Spins:
    """What was asked for, and what the events say of it."""

    def __init__(self) -> None:
        self.driver = Driver()
        self.stream = self.driver.stream()
        self.events = [
            (self.driver.event(timed=True), self.driver.event(timed=True)) for _ in range(2)
        ]
        self.lengths_ns: list[int] = []
        self.between_ns: list[float] = []
        self.since_ns: list[float] = [0.0]

    def spin(self, length_ns: int) -> None:
        number = len(self.lengths_ns)
        begin, end = self.events[number % 2]
        self.driver.spin(self.stream, GATE_NS)
        self.driver.call("cuEventRecord", begin, self.stream)
        self.driver.spin(self.stream, length_ns)
        self.driver.call("cuEventRecord", end, self.stream)
        self.driver.call("cuStreamSynchronize", self.stream)
        self.lengths_ns.append(length_ns)
        self.between_ns.append(self.driver.elapsed_ns(begin, end))
        if number > 0:
            self.since_ns.append(self.driver.elapsed_ns(self.events[1 - number % 2][0], begin))


def main(seconds: float) -> None:
    spins = Spins()
    for _ in range(WARM_UP):
        spins.spin(SHORT_NS)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        spins.spin(SHORT_NS)
        time.sleep(EVERY_S)
    short = len(spins.lengths_ns)
    for length_ns in LENGTHS_NS:
        for _ in range(20):
            spins.spin(length_ns)
    say(
        lengths_ns=spins.lengths_ns,
        between_ns=spins.between_ns,
        since_ns=spins.since_ns,
        short=short,
    )


if __name__ == "__main__":
    main(float(sys.argv[1]))
