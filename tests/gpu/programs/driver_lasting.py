"""Operations of kernels for SECONDS: for a recorder that comes later than CUDA.

python driver_lasting.py SECONDS
"""

from __future__ import annotations

import sys
import time

from driver import Driver, say

import rlscope as rls

SPIN_NS = 100_000


def main(seconds: float) -> None:
    driver = Driver()
    stream = driver.stream()
    begin, kernels = time.monotonic_ns(), []
    while time.monotonic_ns() < begin + seconds * 1e9:
        with rls.operation("spin"):
            kernels.append(time.monotonic_ns())
            driver.spin(stream, SPIN_NS)
            driver.call("cuStreamSynchronize", stream)
        time.sleep(0.002)
    say(launched_ns=kernels)


if __name__ == "__main__":
    main(float(sys.argv[1]))
