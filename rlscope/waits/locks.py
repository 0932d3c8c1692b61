"""_thread: locks between threads. Conditions, events, barriers, semaphores, queue.Queue and, before
Python 3.13, Thread.join() wait in one of these.
"""

from rlscope.capture.wait import Wait

_METHODS = ("acquire", "acquire_lock", "__enter__")

WAITS = (
    Wait("lock", [f"{name}.{method}" for name in ("lock", "RLock") for method in _METHODS]),
    Wait("thread", ["_ThreadHandle.join"]),
)
