"""Rolls a trace up while the program runs: --rollup (docs/design/0009)."""

from __future__ import annotations

import os
import stat
import threading
import time
from collections.abc import Callable

from rlscope.record.iteration_keeper import KeptIterations
from rlscope.recorder import runtime

# A quarter of what is kept, so that at most a quarter more is there; with the longest period a roll
# of a day-long run reads the kept part again twice a minute.
_PERIODS = 4
_LONGEST_PERIOD = 30.0
_SIZE_PERIOD = 1.0
# A thread may be preempted between its reading of the clock and its record.
_STRAGGLER_NS = 1_000_000_000
_FLUSH_SECONDS = 10.0
_FLUSH_POLL = 0.02
# For less the state of a sweep would be written anew; but for lack of room.
_LEAST_SAVED = 64 << 10
_LEAST_SAVED_LARGE = 4 << 10
# Of what --max-size leaves to the run; from half of it on records go, but for kept iterations.
_LARGEST_PART = 0.75


class RollUp:
    """A thread that keeps single records for the last minutes only, and the sums of all."""

    def __init__(
        self,
        directory: str,
        drainer: runtime.Drainer,
        keep_seconds: float,
        max_size: int,
        say: Callable[[str], None],
        kept: KeptIterations,
    ) -> None:
        """`max_size`: of the trace; beyond half of it less is kept. 0: no limit. `kept`: the
        iterations whose records are kept all the same."""
        self._directory = directory
        self._drainer = drainer
        self._keep_ns = int(keep_seconds * 1e9)
        self._period = min(_LONGEST_PERIOD, keep_seconds / _PERIODS)
        self._max_size = max_size
        self._say = say
        self._kept = kept
        self._origin_ns: int | None = None
        self._said_whole = False
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="rlscope-rollup", daemon=True)

    def start(self) -> None:
        """Begins."""
        self._thread.start()

    def stop(self) -> None:
        """Ends the thread, once it has finished what it does."""
        self._stop.set()
        self._thread.join()

    def finish(self) -> None:
        """Keeps the iterations that are left, once no record can follow."""
        self._kept.finish(self._origin_ns)

    def _run(self) -> None:
        try:
            due = time.monotonic() + self._period
            while not self._stop.wait(self._wait_seconds(due)):
                is_large = self._is_large()
                if is_large or time.monotonic() >= due:
                    self._turn(is_large)
                    due = time.monotonic() + self._period
        except Exception as error:
            self._say(f"rolling up ended, all records are kept from here on: {error}")

    def _wait_seconds(self, due: float) -> float:
        left = max(0.0, due - time.monotonic())
        return min(left, _SIZE_PERIOD) if self._max_size else left

    def _is_large(self, part: float = 0.5) -> bool:
        """Whether the run takes more than this part of the bytes that are left to it."""
        if not self._max_size:
            return False
        kept = self._kept.kept_bytes()
        self._drainer.set_kept_bytes(kept)
        return run_bytes(self._directory) > part * (self._max_size - kept)

    def _turn(self, is_large: bool) -> None:
        """Rolls up what is older than was asked for, or all of it where there is no room."""
        if not _has_files(self._directory):
            return
        keep_ns, least_saved = self._keep_ns, _LEAST_SAVED
        if is_large:
            keep_ns, least_saved = 0, _LEAST_SAVED_LARGE
        flushed_ns = self._flush()
        if self._drainer.stats()["helped"]:
            raise RuntimeError("a process drains its records itself, since rls-prof was stopped")
        until_ns = min(time.monotonic_ns() - keep_ns, flushed_ns - _STRAGGLER_NS)
        if flushed_ns == 0:
            return
        until_ns = min(until_ns, self._kept.keep(flushed_ns - _STRAGGLER_NS, self._origin_ns))
        from rlscope import _trace  # 40 MB that no run without this option maps

        done = _trace.roll_up(
            self._directory, until_ns, origin_ns=self._origin_ns, least_saved=least_saved
        )
        self._origin_ns = done["origin_ns"]
        if done["kept_whole"] and not self._said_whole:
            self._said_whole = True
            self._say("--rollup: all records of processes that use CUDA are kept")
        if self._is_large(_LARGEST_PART):
            self._kept.give_up()

    def _flush(self) -> int:
        """Waits until the drainer has closed its files; since when. 0: it did not come to it."""
        began_ns = time.monotonic_ns()
        self._drainer.begin_next_files()
        deadline = time.monotonic() + _FLUSH_SECONDS
        while time.monotonic() < deadline and not self._stop.wait(_FLUSH_POLL):
            flushed_ns = self._drainer.stats()["flushed_ns"]
            if flushed_ns >= began_ns:
                return flushed_ns
        return 0


def _has_files(directory: str) -> bool:
    """Whether a process has recorded so far."""
    return any(name.endswith(".rls") for name in os.listdir(os.path.join(directory, "trace")))


def run_bytes(directory: str) -> int:
    """What the drainer compares with --max-size: csrc/trace/drain/run_bytes.h."""
    return sum(_folder_bytes(os.path.join(directory, part)) for part in ("", "trace", "rings"))


def _folder_bytes(folder: str) -> int:
    with os.scandir(folder) as entries:
        return sum(map(_size, entries))


def _size(entry: os.DirEntry[str]) -> int:
    try:
        status = entry.stat(follow_symlinks=False)
    except FileNotFoundError:  # rolled up, or renamed
        return 0
    return status.st_size if stat.S_ISREG(status.st_mode) else 0
