"""Messages between processes: where environments step in others, they and their answers are steps.

What the messages of a thread are decides (csrc/python/runtime_module/exchange.h).
"""

from threading import Thread
from types import ModuleType

from rlscope.auto.calls import watch_method


def watch_connections(module: ModuleType) -> None:
    """multiprocessing.connection."""
    connection = module._ConnectionBase
    for event, names in (
        ("message out", ("send", "send_bytes")),
        ("message in", ("recv", "recv_bytes", "recv_bytes_into")),
    ):
        for name in names:
            watch_method(event, connection, name)


def watch_queues(module: ModuleType) -> None:
    """multiprocessing.queues."""
    for queue in (module.Queue, module.SimpleQueue):
        watch_method("message out", queue, "put")
        watch_method("message in", queue, "get")


def watch_pools(module: ModuleType) -> None:
    """multiprocessing.pool."""
    for name in ("map", "starmap", "apply"):
        watch_method("tasks", module.Pool, name)
    for name in ("map_async", "starmap_async", "apply_async", "imap", "imap_unordered"):
        watch_method("task out", module.Pool, name)
    watch_method("task in", module.ApplyResult, "get")
    watch_method("task in", module.IMapIterator, "next")


def watch_executors(module: ModuleType) -> None:
    """concurrent.futures.process."""
    watch_method("task out", module.ProcessPoolExecutor, "submit")
    watch_method("task in", module._base.Future, "result")


def watch_thread_executors(module: ModuleType) -> None:
    """concurrent.futures.thread."""
    watch_method("thread task out", module.ThreadPoolExecutor, "submit")
    watch_method("task in", module._base.Future, "result")


def watch_joblib(module: ModuleType) -> None:
    """joblib.parallel."""
    watch_method("tasks", module.Parallel, "__call__")


def watch_processes(module: ModuleType) -> None:
    """multiprocessing.process: who waits for the end of a process or a thread expects no answer."""
    for name in ("join", "terminate", "kill"):
        watch_method("messages end", module.BaseProcess, name)
    watch_method("messages end", Thread, "join")
