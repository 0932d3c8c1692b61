"""A program that lives through windows of CUPTI, each of which ends with cuptiFinalize().

    python cupti_windows.py threads|graphs WINDOWS LIMIT LIBRARY

    threads  four threads launch kernels all the time, also while a window begins and ends
    graphs   CUDA graphs made before the first window, in windows and between them are launched
             in all windows and between them

Prints what each window had: kernels that were launched, and calls and kernels by CUPTI.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable

from blocks import end_after
from cupti_client import Client, Setting, watched_ids
from driver import Driver, say

THREADS, WINDOW_SECONDS = 4, 0.05
KERNELS, LAUNCHES, SPIN_NS = 3, 10, 2000
SETTING = Setting(watched_ids())


def finalize(client: Client, meanwhile: Callable[[], object]) -> None:
    """At the exit of a call, which some thread makes meanwhile."""
    client.finalize_at_exit()
    meanwhile()
    client.finalized()


def threads(windows: int, client: Client) -> list[dict[str, int]]:
    driver, end = Driver(), threading.Event()
    launched = [0] * THREADS

    def launch(place: int) -> None:
        driver.enter_thread()
        stream = driver.stream()
        while not end.is_set():
            for _ in range(LAUNCHES):
                driver.spin(stream, SPIN_NS)
            driver.call("cuStreamSynchronize", stream)
            launched[place] += LAUNCHES

    workers = [threading.Thread(target=launch, args=(place,)) for place in range(THREADS)]
    for worker in workers:
        worker.start()
    found = []
    for _ in range(windows):
        time.sleep(WINDOW_SECONDS)
        before = sum(launched)
        client.attach(SETTING)
        time.sleep(WINDOW_SECONDS)
        finalize(client, lambda: time.sleep(WINDOW_SECONDS))
        found.append({"launched": sum(launched) - before, **client.read()})
    end.set()
    for worker in workers:
        worker.join()
    return found


def graphs(windows: int, client: Client) -> list[dict[str, int]]:
    driver = Driver()
    stream, made, found = driver.stream(), [driver.graph(KERNELS, SPIN_NS)], []

    def launch_all() -> int:
        for graph in made:
            driver.call("cuGraphLaunch", graph, stream)
        driver.call("cuStreamSynchronize", stream)
        return KERNELS * len(made)

    for _ in range(windows):
        made.append(driver.graph(KERNELS, SPIN_NS))
        launch_all()
        client.attach(SETTING)
        launched = launch_all()
        made.append(driver.graph(KERNELS, SPIN_NS))
        launched += launch_all()
        finalize(client, launch_all)
        found.append({"launched": launched, **client.read()})
        launch_all()
    return found


def main(kind: str, windows: int, limit: float, library: str) -> None:
    end_after(limit)
    client = Client(library)
    found = {"threads": threads, "graphs": graphs}[kind](windows, client)
    say(windows=found, refused=client.refused)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), sys.argv[4])
