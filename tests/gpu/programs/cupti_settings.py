"""What CUPTI costs a loop in each way that a recorder could use it: by turns in one process.

    python cupti_settings.py LOOP SECONDS FILE LIMIT LIBRARY GROUP [CHANGE...]

    calls     callbacks alone: of one function, of those that rlscope records, of all
    records   activity records alone: of kernels, of all kinds; buffers of other sizes, and new ones
    flush     both, flushed by a thread never, each second, each 200 ms (as rlscope), each 100 ms
    process   both, in a process with CHANGEs that CUPTI takes only before CUDA begins

CHANGE is `latency`, or NUMBER=VALUE:BYTES of an attribute. LIBRARY is cupti_client.c, compiled.
"""

from __future__ import annotations

import sys
from pathlib import Path

import loops
from blocks import BLOCK_SECONDS, OFF, Blocks, end_after
from cupti_client import DRIVER, KERNEL, LAUNCHES, RUNTIME, Client, Setting, watched_ids
from driver import say
from waiting import wait_for_gpu

MILLISECOND = 1_000_000
FLUSH_SECONDS = 1.2
"""How long a block is in which a flush each second shows."""


def settings(group: str) -> dict[str, Setting]:
    return {"calls": calls, "records": records, "flush": flush, "process": process}[group]()


def calls() -> dict[str, Setting]:
    return {
        "driver-launch": Setting({DRIVER: LAUNCHES[DRIVER]}, kinds=()),
        "runtime-launch": Setting({RUNTIME: LAUNCHES[RUNTIME]}, kinds=()),
        "runtime-chosen": Setting({RUNTIME: watched_ids()[RUNTIME]}, kinds=()),
        "chosen": Setting(watched_ids(), kinds=()),
        "all": Setting(None, kinds=()),
    }


def records() -> dict[str, Setting]:
    return {
        "kernels": Setting({}, kinds=(KERNEL,)),
        "kinds": Setting({}),
        "buffers-64K": Setting({}, buffer_bytes=64 << 10),
        "buffers-8M": Setting({}, buffer_bytes=8 << 20),
        "buffers-new": Setting({}, reuses_buffers=False),
        "own-flush": Setting({}, flush_ns=0, own_flush_ms=100),
    }


def flush() -> dict[str, Setting]:
    ids = watched_ids()
    return {
        "flush-never": Setting(ids, flush_ns=0),
        "flush-1s": Setting(ids, flush_ns=1000 * MILLISECOND),
        "flush-200ms": Setting(ids),
        "flush-100ms": Setting(ids, flush_ns=100 * MILLISECOND),
    }


def process() -> dict[str, Setting]:
    return {"calls": Setting(watched_ids(), kinds=()), "both": Setting(watched_ids())}


def changed(library: str, changes: tuple[str, ...]) -> Client:
    """A client of a CUPTI that has these changes, before CUDA begins."""
    client = Client(library)
    for change in changes:
        if change == "latency":
            client.time_latency()
        else:
            attribute, _, rest = change.partition("=")
            value, _, size = rest.partition(":")
            client.set_attribute(int(attribute), int(value), int(size))
    return client


class Switch:
    """The setting that CUPTI is used with, if any."""

    def __init__(self, client: Client, chosen: dict[str, Setting]) -> None:
        self._client, self._chosen = client, chosen

    def to(self, mode: str) -> None:
        self._client.detach()
        if mode != OFF:
            self._client.attach(self._chosen[mode])


def main(
    name: str, seconds: float, file: Path, limit: float, library: str, group: str, *changes: str
) -> None:
    end_after(limit)
    early = changed(library, changes) if group == "process" else None
    iterate = loops.make(name)
    client = early or Client(library)  # that of the loop's libraries, if they have one
    chosen = settings(group)
    long = FLUSH_SECONDS if group == "flush" else BLOCK_SECONDS
    blocks = Blocks(iterate, wait_for_gpu, file, seconds, client.read, block_seconds=long)
    blocks.before()
    blocks.take_turns(list(chosen), Switch(client, chosen).to)
    say(loop=name, iterations=blocks.iterations, refused=client.refused)


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]), Path(sys.argv[3]), float(sys.argv[4]), *sys.argv[5:])
