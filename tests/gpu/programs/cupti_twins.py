"""What is left of CUPTI's cost after each way to turn it off, beside a process that never had it.

    python cupti_twins.py LOOP SECONDS FILE LIMIT LIBRARY     LIBRARY: cupti_client.c, compiled

A twin runs the same loop in a process without CUPTI. Blocks of both take turns, so each block lies
between two of the twin's, which are called `off`:

    never         before CUPTI was attached: how far the two processes differ by themselves
    on            callbacks, and records of all kinds
    unsubscribed  all of them disabled, and the subscription given back
    on-again      as on, to be finalized
    finalized     CUPTI ended at the exit of a call
    calls         callbacks alone, after that
    window        a block that has a window: attached, on for a third of it, and finalized
    after-window  nothing more than what the window left
"""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import loops
from blocks import LEAST_BEFORE, OFF, UNMEASURED, Blocks, end_after
from cupti_client import Client, Setting, watched_ids
from driver import say
from waiting import wait_for_gpu

TWIN = "--twin"
NEVER, WINDOW = "never", "window"
WINDOW_SHARE = 1 / 3


class Twin:
    """The process without CUPTI: it runs a block when it is asked to."""

    def __init__(self, name: str, limit: float) -> None:
        command = [sys.executable, __file__, TWIN, name, str(limit)]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self._answer()

    def block(self) -> dict[str, object]:
        assert self._process.stdin is not None
        self._process.stdin.write("block\n")
        self._process.stdin.flush()
        return self._answer()

    def _answer(self) -> dict[str, object]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit(f"the twin ended with {self._process.wait()}")
        found: dict[str, object] = json.loads(line)
        return found

    def end(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def be_twin(name: str, limit: float) -> None:
    end_after(limit)
    blocks = Blocks(loops.make(name), wait_for_gpu, Path(os.devnull), limit)
    say(ready=True)
    for _ in sys.stdin:
        say(**asdict(blocks.measure(OFF)))


class Windowed:
    """A loop, some iterations of which are recorded if a window has been planned."""

    def __init__(self, iterate: loops.Iterate, client: Client, setting: Setting) -> None:
        self._iterate, self._client, self._setting = iterate, client, setting
        self._count, self._first, self._last = 0, 0, 0

    def plan(self, iterations: int) -> None:
        """A window in the next block, behind its iterations that do not count."""
        self._count = 0
        self._first = 1 + max(1, round(UNMEASURED * iterations))
        self._last = self._first + max(1, round(WINDOW_SHARE * iterations)) - 1

    def __call__(self) -> None:
        self._count += 1
        if self._count == self._first:
            self._client.attach(self._setting)
        self._iterate()
        if self._count == self._last:
            self._first = self._last = 0
            finalize(self._client, self._iterate)


def finalize(client: Client, iterate: loops.Iterate) -> None:
    """CUPTI ends in one more iteration, at the exit of its first call."""
    client.finalize_at_exit()
    iterate()
    client.finalized()


def main(name: str, seconds: float, file: Path, limit: float, library: str) -> None:
    end_after(limit)
    twin = Twin(name, limit)
    iterate, client = loops.make(name), Client(library)
    everything, calls = Setting(watched_ids()), Setting(watched_ids(), kinds=())
    loop = Windowed(iterate, client, everything)
    blocks = Blocks(loop, wait_for_gpu, file, seconds, client.read)

    def attach(setting: Setting) -> None:
        client.detach()
        client.attach(setting)

    def plan() -> None:
        client.detach()
        loop.plan(blocks.iterations)

    steps: dict[str, Callable[[], object]] = {
        "on": lambda: attach(everything),
        "unsubscribed": client.detach,
        "on-again": lambda: attach(everything),
        "finalized": lambda: finalize(client, iterate),
        "calls": lambda: attach(calls),
        WINDOW: plan,
        "after-window": lambda: None,
    }

    def measure(mode: str, switch: Callable[[], object] = lambda: None) -> None:
        blocks.measure(mode, switch)
        blocks.write(**twin.block())

    blocks.write(**twin.block())
    for _ in range(2 * LEAST_BEFORE):
        measure(NEVER)
    for cycle in blocks.rounds(itertools.repeat(list(steps))):
        for step in cycle:
            measure(step, steps[step])
    twin.end()
    say(loop=name, iterations=blocks.iterations, refused=client.refused)


if __name__ == "__main__":
    if sys.argv[1] == TWIN:
        be_twin(sys.argv[2], float(sys.argv[3]))
    else:
        main(sys.argv[1], float(sys.argv[2]), Path(sys.argv[3]), float(sys.argv[4]), sys.argv[5])
