"""A loop whose iterations are timed, each with a mark: plain, or recorded in windows.

python share_loop.py LOOP SECONDS LIMIT     prints the time of each iteration after the first ones
"""

from __future__ import annotations

import sys
import time

import loops
from blocks import WARM_UP, end_after
from driver import say
from waiting import wait_for_gpu

import rlscope as rls


def main(name: str, seconds: float, limit: float) -> None:
    end_after(limit)
    iterate, times_ns = loops.make(name), []
    for _ in range(WARM_UP):
        rls.iteration()
        iterate()
    wait_for_gpu()
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        begin_ns = time.monotonic_ns()
        rls.iteration()
        iterate()
        wait_for_gpu()
        times_ns.append(time.monotonic_ns() - begin_ns)
    say(loop=name, times_ns=times_ns)


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]), float(sys.argv[3]))
