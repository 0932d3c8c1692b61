"""Kernels of known length, each waited for: SECONDS of short ones, then twenty of each length."""

from __future__ import annotations

import sys
import time

from driver import Driver, say

LENGTHS_NS = (10_000, 100_000, 1_000_000, 10_000_000)
SHORT_NS, EVERY_S = 50_000, 0.02


def main(seconds: float) -> None:
    driver = Driver()
    stream = driver.stream()
    wanted: list[int] = []

    def spin(length_ns: int) -> None:
        driver.spin(stream, length_ns)
        driver.call("cuStreamSynchronize", stream)
        wanted.append(length_ns)

    end = time.monotonic() + seconds
    while time.monotonic() < end:
        spin(SHORT_NS)
        time.sleep(EVERY_S)
    short = len(wanted)
    for length_ns in LENGTHS_NS:
        for _ in range(20):
            spin(length_ns)
    say(lengths_ns=wanted, short=short)


if __name__ == "__main__":
    main(float(sys.argv[1]))
