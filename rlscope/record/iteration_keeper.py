"""Keeps all records of chosen iterations of a run that is rolled up: --keep-iterations.

records   |----------|==A====B==|--
edge      ------->   ^ waits here until B has ended
then      DIR/iterations-A-B gets the files, all before A is rolled up there, and in the run
          the edge goes on
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress

from rlscope.record.iteration_spans import IterationSpans, Span
from rlscope.record.trace_copies import copy_trace, share_source_text
from rlscope.rundir import process_log
from rlscope.rundir.kept_iterations import IterationRange, describe

# What is kept apart gets at most half of --max-size: sums and rings need the rest.
_PART_OF_SIZE = 2
_NO_ROOM = "--max-size leaves no room"
# As of a roll of the run: rlscope/record/rollup.py.
_LEAST_SAVED = 64 << 10


class KeptIterations:
    """The ranges of iterations whose records are wanted, until each is kept or cannot be."""

    def __init__(
        self,
        directory: str,
        wanted: Sequence[IterationRange],
        *,
        max_size: int,
        min_free: int,
        say: Callable[[str], None],
    ) -> None:
        """`max_size`: of the whole trace, 0: no limit. `min_free`: bytes of the disk that copies
        leave, where files cannot be linked."""
        self._directory = directory
        self._waiting = list(wanted)
        self._running: list[IterationRange] = []
        self._kept: list[IterationRange] = []
        self._max_size = max_size
        self._min_free = min_free
        self._say = say

    def keep(self, until_ns: int, origin_ns: int | None) -> int:
        """Keeps the ranges that are over by `until_ns`: all records of before lie in files.

        Returns the time up to which the run can be rolled up: the begin of the first range that is
        not over, or `until_ns`. origin_ns: as of _trace.roll_up.
        """
        self._running = []
        if not self._waiting:
            return until_ns
        log = process_log.without_rings(self._directory)  # first: it knows no more than the files
        spans = IterationSpans(self._directory)
        begun_ns = []
        for wanted in tuple(self._waiting):
            span = spans.find(wanted)
            if span is None:
                continue
            if span.is_over and span.end_ns < until_ns:
                self._keep(wanted, span, spans.files(), log, origin_ns)
            else:
                self._running.append(wanted)
                begun_ns.append(span.start_ns)
        return min([until_ns, *begun_ns])

    def give_up(self) -> None:
        """Gives up the ranges that have begun and are not over: their records have no room."""
        for wanted in self._running:
            self._refuse(wanted, _NO_ROOM)
        self._running = []

    def finish(self, origin_ns: int | None) -> None:
        """The run has ended: keeps what has begun, and says what has not."""
        if self._waiting:
            self._keep_begun(origin_ns)
        for kept in self._kept:
            folder = os.path.join(self._directory, kept.folder)
            share_source_text(self._directory, folder, self._min_free)

    def kept_bytes(self) -> int:
        """Bytes of the files that the run itself no longer holds."""
        if not self._kept:
            return 0
        of_run = self._sizes([""])
        kept = self._sizes(wanted.folder for wanted in self._kept)
        return sum(size for inode, size in kept.items() if inode not in of_run)

    def _keep_begun(self, origin_ns: int | None) -> None:
        log = process_log.without_rings(self._directory)
        spans = IterationSpans(self._directory)
        had = f"only {spans.count:,}" if spans.count else "none"
        for wanted in tuple(self._waiting):
            span = spans.find(wanted)
            if span is None:
                self._say(f"{wanted} never began: the run had {had}")
                continue
            if span.last < wanted.last:
                self._say(f"{wanted}: kept up to {span.last}, where the run ended")
            self._keep(wanted, span, spans.files(), log, origin_ns)

    def _keep(
        self,
        wanted: IterationRange,
        span: Span,
        files: Sequence[str],
        log: bytes,
        origin_ns: int | None,
    ) -> None:
        """Makes the folder of a range, or says why not."""
        from rlscope import _trace

        try:
            with _made(os.path.join(self._directory, wanted.unfinished)) as unfinished:
                describe(self._directory, wanted.unfinished, wanted)
                copy_trace(files, unfinished, log, self._min_free)
                share_source_text(self._directory, unfinished, self._min_free)
                _trace.roll_up(
                    unfinished, span.start_ns, origin_ns=origin_ns, least_saved=_LEAST_SAVED
                )
                if self._lacks_room(wanted):
                    self._refuse(wanted, _NO_ROOM)
                    return
                os.rename(unfinished, os.path.join(self._directory, wanted.folder))
        except (OSError, _trace.TraceError) as error:
            self._refuse(wanted, getattr(error, "strerror", None) or str(error))
            return
        self._waiting.remove(wanted)
        self._kept.append(wanted)

    def _refuse(self, wanted: IterationRange, why: str) -> None:
        self._waiting.remove(wanted)
        self._say(f"cannot keep {wanted}: {why}")

    def _lacks_room(self, wanted: IterationRange) -> bool:
        held = self._sizes([wanted.unfinished, *(each.folder for each in self._kept)])
        return self._max_size > 0 and sum(held.values()) > self._max_size // _PART_OF_SIZE

    def _sizes(self, names: Iterable[str]) -> dict[int, int]:
        """Bytes of the files in folders of traces, by inode."""
        found: dict[int, int] = {}
        for name in names:
            for part in ("", "trace"):
                found.update(_sizes(os.path.join(self._directory, name, part)))
        return found


@contextmanager
def _made(folder: str) -> Iterator[str]:
    """A new folder, which is removed again unless it is renamed. Raises OSError."""
    os.mkdir(folder)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _sizes(folder: str) -> dict[int, int]:
    """Bytes of the files in a folder, by inode."""
    found = {}
    with suppress(FileNotFoundError), os.scandir(folder) as entries:
        for entry in entries:
            with suppress(FileNotFoundError):
                if not entry.is_file(follow_symlinks=False):
                    continue
                status = entry.stat(follow_symlinks=False)
                found[status.st_ino] = status.st_size
    return found
