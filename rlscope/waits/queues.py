"""_queue: queue.SimpleQueue, in which threads of a pool wait for work."""

from rlscope.capture.wait import Wait

WAITS = (Wait("queue", ["SimpleQueue.get"]),)
