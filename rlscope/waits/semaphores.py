"""_multiprocessing: semaphores and locks that processes share, also those of its queues.

Releasing one takes no time, but says that this process uses it.
"""

from rlscope.capture.wait import SEMAPHORE, Wait

_METHODS = ("acquire", "__enter__", "release", "__exit__")

WAITS = (Wait("semaphore", [f"SemLock.{method}" for method in _METHODS], SEMAPHORE, opens=True),)
