"""Worker processes that answer jobs, and whose end is noticed.

    class Adder:
        def __init__(self, args: Args, index: int) -> None: ...      # in the worker
        def __call__(self, job: tuple[int, int]) -> int:
            return sum(job)

    with Workers(2, Adder, args) as workers:
        workers.run([(1, 2), (3, 4)])    # [3, 7]

They are spawned, so that they inherit no thread and no lock of PyTorch.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import signal
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection, wait
from typing import Any

_Answer = Callable[[Any], Any]
_END = None


class WorkerDied(Exception):
    """A worker process ended before it had answered."""


class Workers:
    """A context: the processes end with it."""

    def __init__(self, count: int, kind: Callable[[Any, int], _Answer], args: Any) -> None:
        context = multiprocessing.get_context("spawn")
        self.processes = []
        self.connections: list[Connection] = []
        for index in range(count):
            ours, theirs = context.Pipe()
            # A daemon ends with this process, however that ends.
            process = context.Process(target=_work, args=(kind, args, index, theirs), daemon=True)
            process.start()
            # Only the worker has a copy of the pipe's other end: its end is the end of the pipe.
            theirs.close()
            self.processes.append(process)
            self.connections.append(ours)

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        for process, connection in zip(self.processes, self.connections, strict=True):
            if kind is None:
                with contextlib.suppress(OSError):  # its process has ended already
                    connection.send(_END)
            else:
                process.terminate()
        for process in self.processes:
            process.join()

    def run(self, jobs: Sequence[Any]) -> list[Any]:
        """The answers to jobs, at most one for each worker, in their order.

        Raises:
            WorkerDied: a worker ended instead.
        """
        busy: dict[Any, int] = {}
        answers: list[Any] = [None] * len(jobs)
        for index, job in enumerate(jobs):
            try:
                self.connections[index].send(job)
            except OSError:
                raise self._died(index) from None
            busy[self.connections[index]] = index
        while busy:
            for ready in wait(list(busy)):
                index = busy.pop(ready)
                try:
                    answers[index] = self.connections[index].recv()
                except (EOFError, OSError):
                    raise self._died(index) from None
        return answers

    def _died(self, index: int) -> WorkerDied:
        process = self.processes[index]
        process.join()
        code = process.exitcode or 0
        how = signal.Signals(-code).name if code < 0 else f"exit code {code}"
        return WorkerDied(f"worker process {index} (pid {process.pid}) ended by {how}")


def _work(kind: Callable[[Any, int], _Answer], args: Any, index: int, jobs: Connection) -> None:
    """Answers jobs until there are no more, or nobody to answer."""
    # Ctrl-C goes to the whole process group; the main process then ends its workers itself.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answer = kind(args, index)
    try:
        while (job := jobs.recv()) is not _END:
            jobs.send(answer(job))
    except (EOFError, BrokenPipeError, ConnectionResetError):
        pass
