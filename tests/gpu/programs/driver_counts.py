"""Threads with a stream each: kernels, copies both ways, memsets; prints how many of each."""

from __future__ import annotations

import threading

from driver import Driver, say

THREADS, KERNELS, COPIES, SETS = 4, 2500, 100, 50
COPIED, SET = 4096, 1 << 20


def work(driver: Driver) -> None:
    driver.enter_thread()
    stream = driver.stream()
    device, host = driver.device_memory(SET), driver.pinned_memory(COPIED)
    for number in range(KERNELS):
        driver.spin(stream, 1000)
        if number < COPIES:
            driver.call("cuMemcpyHtoDAsync_v2", device, host, COPIED, stream)
            driver.call("cuMemcpyDtoHAsync_v2", host, device, COPIED, stream)
        if number < SETS:
            driver.call("cuMemsetD8Async", device, 0, SET, stream)
    driver.call("cuStreamSynchronize", stream)


def main() -> None:
    driver = Driver()
    threads = [threading.Thread(target=work, args=(driver,)) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    say(
        kernels=THREADS * KERNELS,
        copies={"HtoD": THREADS * COPIES, "DtoH": THREADS * COPIES},
        copied_bytes=2 * THREADS * COPIES * COPIED,
        sets=THREADS * SETS,
        set_bytes=THREADS * SETS * SET,
    )


if __name__ == "__main__":
    main()
