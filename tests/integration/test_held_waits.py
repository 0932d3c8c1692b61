"""Waits that have not ended when their process does: killed, or in order beside other threads."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest
from support.process.traced_python import TracedPython

import rlscope as rls

pytestmark = pytest.mark.usefixtures("clean_environment")

# Threads block for ever, each in another way, and then the process ends. It prints when each of
# them was about to wait, and when the kernel had all of them asleep.
_BLOCKED = """
import _queue, json, multiprocessing, os, select, signal, socket, sys, threading, time
import rlscope as rls

pipe, pair = os.pipe(), socket.socketpair()
poll, semaphore, lock = select.poll(), multiprocessing.Semaphore(0), threading.Lock()
poll.register(pipe[0])
lock.acquire()
life = os.pipe()
child = os.fork()
if child == 0:
    os.close(life[1])
    os.read(life[0], 1)  # until the parent ends
    os._exit(0)
blocks = {
    "sleep": lambda: time.sleep(1000),
    "pipe": lambda: os.read(pipe[0], 1),
    "socket": lambda: pair[0].recv(1),
    "poll": lambda: select.select([pair[1]], [], []),
    "semaphore": semaphore.acquire,
    "process": lambda: os.waitpid(child, 0),
    "lock": lock.acquire,
    "queue": _queue.SimpleQueue().get,
}
began, threads = {}, {}

def wait(name):
    with rls.operation(name):
        threads[name] = threading.get_native_id()
        began[name] = time.monotonic_ns()
        blocks[name]()

for name in blocks:
    threading.Thread(target=wait, args=(name,), daemon=True).start()

def sleeps(thread):
    with open(f"/proc/self/task/{thread}/stat") as file:
        return file.read().rpartition(")")[2].split()[0] == "S"

while len(began) < len(blocks):
    os.sched_yield()
while not all(sleeps(thread) for thread in threads.values()):
    os.sched_yield()
asleep = time.monotonic_ns()
time.sleep(0.3)
with open(sys.argv[1], "w") as file:
    json.dump({"began": began, "asleep": asleep, "child": child}, file)
if sys.argv[2] == "killed":
    os.kill(os.getpid(), signal.SIGKILL)
"""

_FORKED = """
import _queue, os, signal, sys, threading, time
import rlscope as rls

def wait():
    with rls.operation("wait"):
        _queue.SimpleQueue().get()

threading.Thread(target=wait, daemon=True).start()
while open(f"/proc/self/task/{threading.enumerate()[-1].native_id}/stat").read().split()[2] != "S":
    os.sched_yield()
child = os.fork()
if child == 0:
    rls.process("child")
    with rls.operation("work"):
        pass
    os.kill(os.getpid(), signal.SIGKILL)
os.waitpid(child, 0)
"""


@pytest.mark.parametrize("end", ["killed", "exits"])
def test_a_wait_that_never_ends_lasts_until_its_process_does(
    traced: TracedPython, directory: str, tmp_path: Path, end: str
) -> None:
    (tmp_path / "program.py").write_text(_BLOCKED)
    said = tmp_path / "said"
    program = (str(tmp_path / "program.py"), str(said), end)
    result = traced.run("-o", directory, traced.python, *program)
    assert result.returncode == (-signal.SIGKILL if end == "killed" else 0), result.stderr
    times = json.loads(said.read_text())
    with rls.load(directory) as trace:
        (end_ns,) = next(iter(trace.sql("SELECT end_ns FROM process WHERE process_id = 0")))
        waits = {
            row["operation"]: row
            for row in trace.sql(
                "SELECT * FROM wait WHERE process_id = 0 AND operation != '(none)'"
                " AND kind != 'gil' ORDER BY duration_ns"
            ).to_dicts()
        }
        layers = trace.sql("""
            SELECT thread_id, SUM(self_ns) AS ns FROM wait GROUP BY ALL EXCEPT
            SELECT thread_id, SUM(duration_ns) FROM breakdown_by_thread
            WHERE layer = 'wait' GROUP BY ALL""")
        assert not list(layers)
    for name, began in times["began"].items():
        assert waits[name]["kind"] == name
        assert end_ns - times["asleep"] <= waits[name]["duration_ns"] <= end_ns - began, name
        assert waits[name]["self_ns"] == waits[name]["duration_ns"]


def test_a_fork_child_does_not_inherit_the_waits_of_threads(
    traced: TracedPython, directory: str, tmp_path: Path
) -> None:
    traced.record(directory, tmp_path / "program.py", _FORKED)
    with rls.load(directory) as trace:
        waits = trace.sql(
            "SELECT name, operation, kind FROM wait JOIN process USING (process_id)"
            " WHERE kind = 'queue' OR name = 'child'"
        ).to_dicts()
    assert [(row["name"] == "child", row["operation"], row["kind"]) for row in waits] == [
        (False, "wait", "queue")
    ]
