"""Times an experiment in the interpreter that runs this file, which need not have rlscope.

    python runner.py EXPERIMENT.py < settings.json

Prints a line of JSON: {"pairs": [[program_s, advised_s], ...]}, or {"missing": "torch"} where a
library is not installed.
"""

from __future__ import annotations

import json
import runpy
import sys
import time
from collections.abc import Callable

_PAIRS = 15
# Long enough that a clock reading is nothing, and short enough that a pair sees the same machine.
_TURN_SECONDS = 0.02
_MOST_CALLS = 10_000
_SIZING_CALLS = 20

Way = Callable[[], object]


def main() -> int:
    settings = json.load(sys.stdin)
    try:
        ways = runpy.run_path(sys.argv[1])["make"](settings, largest)
    except ModuleNotFoundError as error:
        print(json.dumps({"missing": error.name}))
        return 0
    print(json.dumps({"pairs": list(_pairs(*ways))}))
    return 0


def largest(first: int, most: int, each_ns: float, made: Callable[[int], Way]) -> int:
    """The size of which a call takes the program's time: arithmetic counts only where the program
    has some.

    Args:
        first: the least size. It is doubled, up to `most`.
        each_ns: the program's time.
        made: a call on something of a size.
    """
    size = first
    while size < most and _least_ns(made(2 * size)) <= each_ns:
        size *= 2
    return size


def _least_ns(way: Way) -> float:
    return min(_each(way, 1) for _ in range(_SIZING_CALLS)) * 1e9


def _pairs(program: Way, advised: Way) -> list[tuple[float, float]]:
    """Both ways in turn, so that whatever slows the machine slows both."""
    calls = [_calls(way) for way in (program, advised)]
    pairs = []
    for turn in range(_PAIRS):
        order = (0, 1) if turn % 2 else (1, 0)
        took = [0.0, 0.0]
        for which in order:
            took[which] = _each((program, advised)[which], calls[which])
        pairs.append((took[0], took[1]))
    return pairs


def _calls(way: Way) -> int:
    """So many calls take a turn. The first ones warm up."""
    way()
    return max(1, min(_MOST_CALLS, int(_TURN_SECONDS / max(_each(way, 3), 1e-9))))


def _each(way: Way, calls: int) -> float:
    """Seconds that a call takes."""
    began = time.perf_counter()
    for _ in range(calls):
        way()
    return (time.perf_counter() - began) / calls


if __name__ == "__main__":
    sys.exit(main())
