"""Threads that write files of tables, each with a database of its own.

Encoding a file takes twice as long as the sweep that finds its rows, and DuckDB writes the rows of
one stream with one thread.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait

from rlscope.relations.database import Database

# Each holds a group of rows in memory, up to the limit of its database.
_MOST = 4
_POLL_SECONDS = 0.05

Work = Callable[[Database], object]


class Writers:
    """Used by one thread."""

    def __init__(self) -> None:
        self._count = min(len(os.sched_getaffinity(0)), _MOST)
        self._pool = ThreadPoolExecutor(self._count, "rlscope-write", self._begin)
        self._own = threading.local()
        self._databases: list[Database] = []
        self._waiting: deque[Future[object]] = deque()

    def submit(self, work: Work) -> None:
        """Does the work in one of the threads, soon; raises what earlier work raised."""
        while len(self._waiting) >= 2 * self._count:
            self._take()
        self._waiting.append(self._pool.submit(lambda: work(self._own.database)))

    def finish(self) -> None:
        """Returns when all work is done; raises what it raised."""
        while self._waiting:
            self._take()

    def close(self) -> None:
        """Ends the threads, and what they still do."""
        self._pool.shutdown(wait=False, cancel_futures=True)
        # `wait` would wait for ever for one that was cancelled before it began.
        begun = [future for future in self._waiting if not future.cancelled()]
        while wait(begun, _POLL_SECONDS).not_done:
            for database in self._databases:  # again: it may have been between two statements
                database.interrupt()
        self._pool.shutdown()
        for database in self._databases:
            database.close()

    def _take(self) -> None:
        """Waits for the oldest work; where that is interrupted, `close` knows of it still."""
        wait([self._waiting[0]])
        self._waiting.popleft().result()

    def _begin(self) -> None:
        self._own.database = Database(frugal=True)
        self._databases.append(self._own.database)
