"""select: waiting for one of several descriptors. The one that was ready first says for what."""

from rlscope.capture.wait import READY, Wait

WAITS = (Wait("poll", ["poll.poll", "epoll.poll", "select"], READY, opens=True),)
