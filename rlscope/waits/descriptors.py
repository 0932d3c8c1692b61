"""posix: reads and writes of pipes, sockets and files by descriptor, as multiprocessing's
connections do them; and waiting for children. select.poll() and the like are in polls.py.
"""

from rlscope.capture.wait import DESCRIPTOR, PROCESS, Wait

WAITS = (
    Wait("descriptor", ["read", "readv", "pread", "preadv"], DESCRIPTOR, opens=True),
    Wait("descriptor", ["write", "writev", "pwrite", "pwritev", "sendfile"], DESCRIPTOR),
    Wait("disk", ["fsync", "fdatasync", "sync"]),
    Wait("process", ["waitpid", "wait4"], PROCESS, opens=True),
    Wait("process", ["wait", "wait3", "waitid"], opens=True),
)
