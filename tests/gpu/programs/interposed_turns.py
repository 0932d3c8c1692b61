"""What it costs a loop to have the driver's functions stood in front of, and their calls timed.

    LD_PRELOAD=LIBRARY python interposed_turns.py LOOP SECONDS FILE LIMIT

LIBRARY is interposed_driver.c, compiled. Without CUPTI, by turns: `off` only looks at the switch,
`calls` times and keeps each call. Blocks have the number of calls that were timed.
"""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path

import loops
from blocks import OFF, Blocks, end_after
from driver import say
from waiting import wait_for_gpu


class Interposed:
    """The preloaded library's switch and counter."""

    def __init__(self) -> None:
        self._library = ctypes.CDLL(None)
        self._library.interposed_count.restype = ctypes.c_uint64

    def switch(self, mode: str) -> None:
        self._library.interposed_switch(int(mode != OFF))

    def read(self) -> dict[str, int]:
        return {"calls": self._library.interposed_count()}


def main(name: str, seconds: float, file: Path, limit: float) -> None:
    end_after(limit)
    interposed = Interposed()
    blocks = Blocks(loops.make(name), wait_for_gpu, file, seconds, interposed.read)
    blocks.take_turns(["calls"], interposed.switch)
    say(loop=name, iterations=blocks.iterations)


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]), Path(sys.argv[3]), float(sys.argv[4]))
