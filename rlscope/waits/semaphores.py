"""_multiprocessing: semaphores and locks that processes share, also those of its queues."""

from rlscope.capture.wait import Wait

WAITS = (Wait("semaphore", ["SemLock.acquire", "SemLock.__enter__"], opens=True),)
