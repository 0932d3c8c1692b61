"""What remains of CUPTI's cost after each way to turn it off, and what turning it off takes.

    python cupti_stages.py LOOP SECONDS FILE LIMIT LIBRARY     LIBRARY: cupti_client.c, compiled

Cycles go from attaching it through the steps back, with a block after each step:

    before | on  kinds-off  callbacks-off  unsubscribed            | on  kinds-off ...
           | on  kinds-off  callbacks-off  unsubscribed  finalized | on ...
           | on  finalized-in-call                                 | on ...

`on` in the second cycle and later is a late attach. Each block says what CUPTI gave in it: calls,
and records. The first cycles leave out cuptiFinalize(), so that they are measured in any case.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable
from pathlib import Path

import loops
from blocks import Blocks, end_after
from cupti_client import Client, Setting, watched_ids
from driver import say
from waiting import wait_for_gpu

STEPS_BACK = ("kinds-off", "callbacks-off", "unsubscribed")
CYCLES = {
    "unsubscribed": STEPS_BACK,
    "finalized": (*STEPS_BACK, "finalized"),
    "finalized-in-call": ("finalized-in-call",),
}


class Stages:
    """The steps, by the names of their blocks."""

    def __init__(self, client: Client, iterate: loops.Iterate) -> None:
        self._client, self._iterate = client, iterate
        self._setting = Setting(ids=watched_ids())
        self.steps: dict[str, Callable[[], object]] = {
            "on": lambda: client.attach(self._setting),
            "kinds-off": client.disable_kinds,
            "callbacks-off": client.disable_callbacks,
            "unsubscribed": client.unsubscribe,
            "finalized": client.finalize,
            "finalized-in-call": self._finalize_in_call,
        }

    def _finalize_in_call(self) -> None:
        self._client.finalize_at_exit()
        self._iterate()
        wait_for_gpu()
        self._client.finalized()


def main(name: str, seconds: float, file: Path, limit: float, library: str) -> None:
    end_after(limit)
    iterate = loops.make(name)
    client = Client(library)
    stages = Stages(client, iterate)
    blocks = Blocks(iterate, wait_for_gpu, file, seconds, client.read)
    blocks.before()
    order = itertools.chain([CYCLES["unsubscribed"]], itertools.cycle(CYCLES.values()))
    for cycle in blocks.rounds(order):
        for stage in ("on", *cycle):
            blocks.measure(stage, stages.steps[stage])
    say(loop=name, iterations=blocks.iterations, refused=client.refused)


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]), Path(sys.argv[3]), float(sys.argv[4]), sys.argv[5])
