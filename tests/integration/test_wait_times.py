"""Waits against the clock of the program that waits: as long as the program itself measured."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import pytest
from support.files.exact_sums import check_directory
from support.process.traced_python import TracedPython

import rlscope as rls

pytestmark = [
    pytest.mark.usefixtures("clean_environment"),
    pytest.mark.skipif(
        not Path("/proc/thread-self/schedstat").exists(), reason="the kernel does not count"
    ),
]

# Every kind has ten waits. Most take about 20 ms, and another process or thread ends them; the disk
# takes as long as it takes. Around each one the program reads its clock, and asks the kernel how
# long it had no core.
_WAITS = """
import _queue, json, multiprocessing, os, pty, select, sys, threading, time, tty
import rlscope as rls

TIMES, SECONDS = 10, 0.02
asked, answer = os.pipe(), os.pipe()
semaphore, lock, simple = multiprocessing.Semaphore(0), threading.Lock(), _queue.SimpleQueue()
lock.acquire()
answers = {"pipe": lambda: os.write(answer[1], b"x"),
           "select": lambda: os.write(answer[1], b"x"),
           "semaphore": semaphore.release}
if os.fork() == 0:
    for name in answers:
        for _ in range(TIMES):
            os.read(asked[0], 1)
            time.sleep(SECONDS)
            answers[name]()
    os._exit(0)

def end_soon(end):
    thread = threading.Thread(target=lambda: (time.sleep(SECONDS), end()))
    thread.start()
    return thread

def child():
    found = os.fork()
    if found == 0:
        time.sleep(SECONDS)
        os._exit(0)
    return found

event = os.eventfd(0)
far, near = pty.openpty()
tty.setraw(near)
content = os.urandom(8 << 20)
path = sys.argv[1] + ".content"
synced = os.open(path, os.O_RDWR | os.O_CREAT | os.O_DSYNC)  # a write waits for the disk
plain = os.open(path, os.O_RDWR)

def dirty():
    os.pwrite(plain, content, 0)

def forget():
    dirty()
    os.fsync(plain)
    os.posix_fadvise(plain, 0, 0, os.POSIX_FADV_DONTNEED)  # the next read has to ask the disk

def opened():
    forget()
    return open(path, "rb", buffering=0)

ask = lambda: os.write(asked[1], b"x")
# Name: what begins before the wait, the wait with what that returned, and what follows.
waits = {
    "pipe": (ask, lambda _: os.read(answer[0], 1), None),
    "select": (ask, lambda _: select.select([answer[0]], [], []), lambda _: os.read(answer[0], 1)),
    "semaphore": (ask, lambda _: semaphore.acquire(), None),
    "sleep": (lambda: None, lambda _: time.sleep(SECONDS), None),
    "process": (child, lambda pid: os.waitpid(pid, 0), None),
    "lock": (lambda: end_soon(lock.release), lambda _: lock.acquire(), threading.Thread.join),
    "queue": (lambda: end_soon(lambda: simple.put(1)), lambda _: simple.get(),
              threading.Thread.join),
    "device": (lambda: end_soon(lambda: os.write(far, b"x")), lambda _: os.read(near, 1),
               threading.Thread.join),
    "descriptor": (lambda: end_soon(lambda: os.eventfd_write(event, 1)),
                   lambda _: os.read(event, 8), threading.Thread.join),
    "write to disk": (lambda: None, lambda _: os.pwrite(synced, content, 0), None),
    "fsync": (dirty, lambda _: os.fsync(plain), None),
    "fdatasync": (dirty, lambda _: os.fdatasync(plain), None),
    "read from disk": (forget, lambda _: os.pread(plain, len(content), 0), None),
    "read of a file object": (opened, lambda file: file.read(len(content)),
                              lambda file: file.close()),
}

def runnable():
    with open("/proc/thread-self/schedstat") as file:
        return int(file.read().split()[1])

said = {}
for name, (begin, wait, end) in waits.items():
    said[name] = []
    for _ in range(TIMES):
        without_core, begun = runnable(), begin()
        with rls.operation(name):
            start = time.monotonic_ns()
            wait(begun)
            stop = time.monotonic_ns()
        said[name].append([start, stop, runnable() - without_core])
        if end is not None:
            end(begun)
os.wait()

done = False
def spin():
    while not done:
        pass
other = threading.Thread(target=spin)
other.start()
with rls.operation("gil"):
    without_core, start, cpu = runnable(), time.monotonic_ns(), time.thread_time_ns()
    while time.monotonic_ns() - start < 500_000_000:
        pass
    cpu, stop = time.thread_time_ns() - cpu, time.monotonic_ns()
said["gil"] = [stop - start, cpu, runnable() - without_core]
done = True
other.join()
with open(sys.argv[1], "w") as file:
    json.dump(said, file)
"""

# What the trace says that they wait for, and in which function.
_KINDS = {
    "pipe": ("pipe", "posix.read"),
    "select": ("pipe", "select.select"),
    "semaphore": ("semaphore", "_multiprocessing.SemLock.acquire"),
    "sleep": ("sleep", "time.sleep"),
    "process": ("process", "posix.waitpid"),
    "lock": ("lock", "_thread.lock.acquire"),
    "queue": ("queue", "_queue.SimpleQueue.get"),
    "device": ("device", "posix.read"),
    "descriptor": ("descriptor", "posix.read"),
    "write to disk": ("disk", "posix.pwrite"),
    "fsync": ("disk", "posix.fsync"),
    "fdatasync": ("disk", "posix.fdatasync"),
    "read from disk": ("disk", "posix.pread"),
    "read of a file object": ("disk", "_io.FileIO.read"),
}
_ALLOWED_NS = 5000  # of one wait; a wait that is shorter leaves no record
_ALLOWED_SHARE = 0.02


class Recorded(NamedTuple):
    """What one run says."""

    said: dict[str, Any]
    """What the program measured."""
    waits: list[dict[str, Any]]
    """Those of its main thread, one by one."""
    longest: dict[str, Any]
    """The kind and function for which each operation waited longest."""


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory, traced: TracedPython) -> Recorded:
    folder = tmp_path_factory.mktemp("waits")
    (folder / "program.py").write_text(_WAITS)
    program = (str(folder / "program.py"), str(folder / "said"))
    result = traced.run("-o", str(folder / "run"), traced.python, *program)
    assert result.returncode == 0, result.stderr
    check_directory(folder / "run")
    with rls.load(str(folder / "run")) as trace:
        waits = trace.sql("""
            SELECT path AS operation, start_ns, duration_ns
            FROM event JOIN operation USING (operation_id)
            WHERE event.kind = 'wait' AND event.process_id = 0
              AND thread_id = (SELECT MIN(thread_id) FROM thread WHERE process_id = 0)
            """).to_dicts()
        longest = trace.sql("""
            SELECT operation, ARG_MAX((kind, function), duration_ns)
            FROM wait WHERE process_id = 0 GROUP BY ALL""")
    return Recorded(json.loads((folder / "said").read_text()), waits, dict(longest))


@pytest.mark.parametrize("name", _KINDS)
def test_a_wait_is_as_long_as_the_program_measured(recorded: Recorded, name: str) -> None:
    assert recorded.longest[name] == _KINDS[name]
    missing = []
    for start, stop, without_core in recorded.said[name]:
        inside = [
            wait["duration_ns"]
            for wait in recorded.waits
            if wait["operation"] == name
            and start - _ALLOWED_NS <= wait["start_ns"]
            and wait["start_ns"] + wait["duration_ns"] <= stop + _ALLOWED_NS
        ]
        assert inside, "a wait of the program is not in the trace"
        assert max(inside) <= stop - start + _ALLOWED_NS
        allowed = max(_ALLOWED_NS, _ALLOWED_SHARE * (stop - start)) + without_core
        missing.append(stop - start - max(inside) - allowed)
    assert median(missing) <= 0  # an interrupt may come between the clock and any of them


def test_waits_for_the_gil_are_the_time_in_which_the_kernel_had_the_thread_blocked(
    recorded: Recorded,
) -> None:
    wall, cpu, without_core = recorded.said["gil"]
    waited = sum(wait["duration_ns"] for wait in recorded.waits if wait["operation"] == "gil")
    allowed = _ALLOWED_SHARE * wall
    # A thread that got the GIL may wait for a core before it knows.
    assert wall - cpu - without_core - allowed <= waited <= wall - cpu + allowed
