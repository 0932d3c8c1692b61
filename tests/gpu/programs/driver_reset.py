"""Kernels, a reset of the device (as cudaDeviceReset does it), and kernels again."""

from __future__ import annotations

from driver import Driver, say

KERNELS, SPIN_NS = 100, 2000


def work(driver: Driver) -> None:
    stream = driver.stream()
    for _ in range(KERNELS):
        driver.spin(stream, SPIN_NS)
    driver.call("cuStreamSynchronize", stream)


def main() -> None:
    driver = Driver()
    work(driver)
    driver.reset()
    work(driver)
    say(kernels=2 * KERNELS)


if __name__ == "__main__":
    main()
