"""time: a thread that sleeps waits for nothing but time."""

from rlscope.capture.wait import Wait

WAITS = (Wait("sleep", ["sleep"], opens=True),)
