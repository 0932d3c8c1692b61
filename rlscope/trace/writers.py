"""Threads that write files of tables, each with a database of its own.

Encoding a file takes twice as long as the sweep that finds its rows, and DuckDB writes the rows of
one stream with one thread.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

from rlscope.trace.database import Database

# Each holds a group of rows in memory, up to the limit of its database.
_MOST = 4

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
            self._waiting.popleft().result()
        self._waiting.append(self._pool.submit(lambda: work(self._own.database)))

    def finish(self) -> None:
        """Returns when all work is done; raises what it raised."""
        while self._waiting:
            self._waiting.popleft().result()

    def close(self) -> None:
        """Ends the threads, and what they still do."""
        self._pool.shutdown(wait=False, cancel_futures=True)
        for database in self._databases:
            database.interrupt()
        self._pool.shutdown()
        for database in self._databases:
            database.close()

    def _begin(self) -> None:
        self._own.database = Database(frugal=True)
        self._databases.append(self._own.database)
