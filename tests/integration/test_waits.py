"""Waits of programs that block for known times, under rls-prof: what is seen, and what for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.process.traced_python import TracedPython

import rlscope as rls

pytestmark = pytest.mark.usefixtures("clean_environment")

_CONNECTION = """
import json, multiprocessing, sys, time
import rlscope as rls

def serve(connection):
    rls.process("server")
    while (seconds := connection.recv()) is not None:
        time.sleep(seconds)
        connection.send(seconds)

if __name__ == "__main__":
    multiprocessing.set_start_method(sys.argv[1])
    here, there = multiprocessing.Pipe()
    server = multiprocessing.Process(target=serve, args=(there,))
    server.start()
    here.send(0)
    here.recv()
    took = 0
    for _ in range(20):
        with rls.operation("ask"):
            here.send(0.01)
            began = time.perf_counter_ns()
            here.recv()
            took += time.perf_counter_ns() - began
    here.send(None)
    server.join()
    print(json.dumps(took))
"""

_QUEUE = """
import json, multiprocessing, sys, time
import rlscope as rls

def work(tasks, results):
    rls.process("worker")
    while (seconds := tasks.get()) is not None:
        time.sleep(seconds)
        results.put(seconds)

if __name__ == "__main__":
    context = multiprocessing.get_context("fork")
    tasks, results = context.SimpleQueue(), context.SimpleQueue()
    worker = context.Process(target=work, args=(tasks, results))
    worker.start()
    with rls.operation("ask"):
        for _ in range(10):
            tasks.put(0.01)
            results.get()
    tasks.put(None)
    worker.join()
    print("null")
"""

_THREADS = """
import json, queue, sys, threading, time
import rlscope as rls

def measured(name, wait):
    with rls.operation(name):
        began = time.perf_counter_ns()
        wait()
        return time.perf_counter_ns() - began

stopwatch = {"sleep": measured("sleep", lambda: time.sleep(0.05))}

lock = threading.Lock()
lock.acquire()
threading.Timer(0.05, lock.release).start()
stopwatch["lock"] = measured("lock", lock.acquire)

simple = queue.SimpleQueue()
threading.Timer(0.05, simple.put, [1]).start()
stopwatch["queue"] = measured("queue", simple.get)

event = threading.Event()
threading.Timer(0.05, event.set).start()
stopwatch["event"] = measured("event", event.wait)
print(json.dumps(stopwatch))
"""

_GIL = """
import json, threading, time
import rlscope as rls

done = False
def spin():
    while not done:
        pass
other = threading.Thread(target=spin)
other.start()
with rls.operation("contend"):
    began, cpu = time.perf_counter_ns(), time.thread_time_ns()
    while time.perf_counter_ns() - began < 500_000_000:
        pass
    wall, cpu = time.perf_counter_ns() - began, time.thread_time_ns() - cpu
done = True
other.join()
print(json.dumps([wall, cpu]))
"""

# Each operation waits ten times for 10 ms or more. Nothing but time ends the waits of the first
# eight.
_TIMERS = """
import asyncio, multiprocessing, queue, select, socket, threading, time
import rlscope as rls

here, there = socket.socketpair()
here.settimeout(0.01)
event, simple, shared = threading.Event(), queue.SimpleQueue(), multiprocessing.Queue()
semaphore = multiprocessing.Semaphore(0)
poll = select.poll()
poll.register(here, select.POLLIN)

def receive():
    try:
        here.recv(1)
    except TimeoutError:
        pass

def take(some):
    try:
        some.get(timeout=0.01)
    except queue.Empty:
        pass

def send():
    time.sleep(0.01)
    there.send(b"x")

def is_sent(wait):
    threading.Thread(target=send).start()
    wait()
    here.recv(1)

async def step():
    with rls.operation("asyncio"):
        await asyncio.sleep(0.01)

for _ in range(10):
    with rls.operation("select"):
        select.select([], [], [], 0.01)
    with rls.operation("select a socket"):
        select.select([here], [], [], 0.01)
    with rls.operation("poll"):
        poll.poll(10)
    with rls.operation("event"):
        event.wait(0.01)
    with rls.operation("semaphore"):
        semaphore.acquire(timeout=0.01)
    with rls.operation("recv"):
        receive()
    with rls.operation("SimpleQueue"):
        take(simple)
    with rls.operation("shared queue"):
        take(shared)
    with rls.operation("ready socket"):
        is_sent(lambda: select.select([here], [], []))
    with rls.operation("ready number"):
        is_sent(lambda: select.select([], [], [here.fileno(), there], 0) and poll.poll())
asyncio.run(step())
print("null")
"""

# A second thread wants the GIL all the time, so each wait ends with one for the GIL.
_REPEATED = """
import json, time
from multiprocessing import Pipe, Process
import rlscope as rls

def send(connection):
    for number in range(3):
        time.sleep(0.1)
        connection.send(number)
    connection.recv()
    connection.send(3)

if __name__ == "__main__":
    ours, theirs = Pipe()
    process = Process(target=send, args=(theirs,), name="sender")
    process.start()
    for _ in range(3):
        with rls.operation("receive"):
            while not ours.poll(0.01):
                pass
            ours.recv()
    ours.send(None)
    for turn in range(6):
        with rls.operation("control"):
            if ours.poll(0.01):
                ours.recv()
            until = time.monotonic() + 0.005
            while time.monotonic() < until:
                pass
    process.join()
    print(json.dumps(None))
"""

_TIMER_BESIDE = """
import select, threading, time
import rlscope as rls

done = False
def spin():
    while not done:
        pass
other = threading.Thread(target=spin)
other.start()
for _ in range(20):
    with rls.operation("timer"):
        select.select([], [], [], 0.01)
done = True
other.join()
print("null")
"""

_SHORT = """
import threading
import rlscope as rls
lock = threading.Lock()
with rls.operation("free"):
    for _ in range(10_000):
        with lock:
            pass
print("null")
"""


def _run(
    traced: TracedPython, directory: str, folder: Path, program: str, *arguments: str
) -> tuple[Any, list[dict[str, Any]]]:
    """What the program printed, as JSON, and the rows of `wait` with the names of processes."""
    said = traced.record(directory, folder / "program.py", program, *arguments)
    with rls.load(directory) as trace:
        _check_sums(trace)
        rows = trace.sql("""
            SELECT wait.*, own.name AS process, peer.name AS peer FROM wait
            JOIN process AS own USING (process_id)
            LEFT JOIN process AS peer ON peer.process_id = wait.peer_process_id""").to_dicts()
    return json.loads(said), rows


def _check_sums(trace: Any) -> None:
    """For every thread waits add up to its time in the layer."""
    differences = trace.sql("""
        SELECT * FROM
            (SELECT thread_id, SUM(self_ns) AS ns FROM wait GROUP BY ALL) AS waits
        FULL JOIN (SELECT thread_id, SUM(duration_ns) AS ns FROM breakdown_by_thread
                   WHERE layer = 'wait' GROUP BY ALL) AS layers USING (thread_id)
        WHERE waits.ns IS DISTINCT FROM layers.ns""")
    assert not list(differences)


def _sum(rows: list[dict[str, Any]], operation: str, *kinds: str) -> int:
    found = [row for row in rows if row["operation"] == operation]
    return sum(row["self_ns"] for row in found if not kinds or row["kind"] in kinds)


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_a_process_that_is_asked_is_who_was_waited_for(
    traced: TracedPython, directory: str, tmp_path: Path, method: str
) -> None:
    took, rows = _run(traced, directory, tmp_path, _CONNECTION, method)
    asked = [row for row in rows if row["operation"] == "ask" and row["function"] == "posix.read"]
    assert [(row["kind"], row["peer"]) for row in asked] == [("socket", "server")]
    assert asked[0]["count"] >= 20
    # The server sleeps for 0.2 s in all while the parent waits, or is about to.
    assert took / 2 <= asked[0]["duration_ns"] <= took
    served = [row for row in rows if row["process"] == "server" and row["kind"] == "socket"]
    assert {row["peer_process_id"] for row in served} == {0}
    assert _sum([row for row in rows if row["process"] == "server"], "(none)", "sleep") >= 2e8


def test_a_reader_of_a_pipe_waits_for_its_writer(
    traced: TracedPython, directory: str, tmp_path: Path
) -> None:
    _, rows = _run(traced, directory, tmp_path, _QUEUE)
    read = [row for row in rows if row["operation"] == "ask" and row["kind"] == "pipe"]
    assert {row["peer"] for row in read} == {"worker"}
    of_worker = [row for row in rows if row["process"] == "worker" and row["kind"] == "pipe"]
    assert {row["peer_process_id"] for row in of_worker} == {0}


def test_waits_of_threads_are_as_long_as_a_stopwatch_says(
    traced: TracedPython, directory: str, tmp_path: Path
) -> None:
    stopwatch, rows = _run(traced, directory, tmp_path, _THREADS)
    for name, kind in [("sleep", "sleep"), ("lock", "lock"), ("queue", "queue"), ("event", "lock")]:
        waited = _sum(rows, name, kind, "gil")
        assert waited <= stopwatch[name]
        # A sleep is never shorter than it was asked to be; the others can begin late.
        assert waited >= (5e7 if name == "sleep" else stopwatch[name] / 2), name


def test_time_without_the_gil_is_the_time_without_cpu(
    traced: TracedPython, directory: str, tmp_path: Path
) -> None:
    (wall, cpu), rows = _run(traced, directory, tmp_path, _GIL)
    waited = _sum(rows, "contend", "gil")
    # Beside the GIL a thread can only lack a core, on a busy machine.
    assert 0 < waited <= (wall - cpu) * 1.02 + 1e6


def test_what_ends_by_its_time_out_waits_for_time(
    traced: TracedPython, directory: str, tmp_path: Path
) -> None:
    _, rows = _run(traced, directory, tmp_path, _TIMERS)
    long = [row for row in rows if row["self_ns"] >= 10_000_000]
    kinds: dict[str, set[tuple[str, int | None]]] = {}
    for row in long:
        kinds.setdefault(row["operation"], set()).add((row["kind"], row["peer_process_id"]))
    timers = ("select", "select a socket", "poll", "event", "semaphore", "recv", "SimpleQueue",
              "shared queue")  # fmt: skip
    for operation in timers:
        assert ("sleep", None) in kinds[operation], operation
    # The loop of asyncio waits while no task runs.
    asyncio = [row for row in rows if row["function"] == "select.epoll.poll"]
    assert _sum(asyncio, "(none)", "sleep") >= 9_000_000
    # Another thread of this process has the other end.
    assert ("socket", 0) in kinds["ready socket"]
    assert ("socket", 0) in kinds["ready number"]


def test_a_poll_that_is_repeated_until_data_comes_waits_for_the_sender(
    traced: TracedPython, directory: str, tmp_path: Path
) -> None:
    _, rows = _run(traced, directory, tmp_path, _REPEATED)
    mostly = {
        operation: max(
            (row for row in rows if row["operation"] == operation), key=lambda row: row["self_ns"]
        )
        for operation in ("receive", "control")
    }
    # A busy machine may take the core away between two turns, which ends a series.
    assert (mostly["receive"]["kind"], mostly["receive"]["peer"]) == ("socket", "sender")
    # The program works after each turn, and one of them finds a message.
    assert mostly["control"]["kind"] == "sleep"


def test_a_time_out_is_known_where_the_gil_is_waited_for_at_its_end(
    traced: TracedPython, directory: str, tmp_path: Path
) -> None:
    _, rows = _run(traced, directory, tmp_path, _TIMER_BESIDE)
    assert _sum(rows, "timer", "gil") > 0
    assert _sum(rows, "timer", "sleep") >= 20 * 9_000_000
    assert _sum(rows, "timer", "poll") == 0


def test_locks_that_are_free_are_no_waits(
    traced: TracedPython, directory: str, tmp_path: Path
) -> None:
    _, rows = _run(traced, directory, tmp_path, _SHORT)
    # The machine may take the core away in the middle of a few.
    assert sum(row["count"] for row in rows if row["operation"] == "free") < 1000


def test_a_process_that_only_waits_is_in_the_trace(
    traced: TracedPython, directory: str, tmp_path: Path
) -> None:
    program = (
        "import subprocess, sys\n"
        "child = 'import time; time.sleep(0.05)'\n"
        "subprocess.run([sys.executable, '-c', child], check=True)\nprint('null')\n"
    )
    _, rows = _run(traced, directory, tmp_path, program)
    sleeping = [row for row in rows if row["kind"] == "sleep"]
    assert [row["process_id"] for row in sleeping] == [1]
    assert sleeping[0]["self_ns"] >= 5e7
    waiting = [row for row in rows if row["kind"] == "process"]
    assert {row["peer_process_id"] for row in waiting} <= {1}


def test_no_waits_leaves_the_interpreter_alone(
    traced: TracedPython, directory: str, tmp_path: Path
) -> None:
    script = tmp_path / "program.py"
    script.write_text(
        "import time\nimport rlscope as rls\nwith rls.operation('a'): time.sleep(0.01)"
    )
    command = ("--no-waits", "-o", directory, traced.python, str(script))
    assert traced.run(*command).returncode == 0
    with rls.load(directory) as trace:
        assert not list(trace.sql("SELECT * FROM wait"))
        layers = trace.sql("SELECT DISTINCT layer FROM breakdown WHERE operation = 'a'")
        assert list(layers) == [("python",)]


_COUNTED = """
import threading, time
import rlscope as rls

lock, other = threading.Lock(), threading.Lock()

def take(lock, times):
    for _ in range(times):
        lock.acquire()
        lock.release()

def work():
    with rls.operation("beside"):
        take(other, 700)

take(lock, 1)  # the first wait of a thread makes its ring ready
with rls.operation("outer"):
    take(lock, 1000)
    for _ in range(50):
        with rls.operation("inner"):
            take(lock, 3)
    take(lock, 20)
with rls.operation("many"):
    take(lock, 500_000)
thread = threading.Thread(target=work)
thread.start()
thread.join()
with rls.operation("last"):
    take(lock, 400)
"""


def test_short_waits_are_counted_where_they_were(traced: TracedPython, directory: str) -> None:
    """They leave no record each; a long one is none of them."""
    traced.run("-o", directory, traced.python, "-c", _COUNTED).check_returncode()
    with rls.load(directory) as trace:
        short, long = (
            {
                row["operation"]: row["n"]
                for row in trace.sql(
                    "SELECT operation, CAST(SUM(count) AS BIGINT) AS n "
                    f"FROM {relation} WHERE kind = '{kind}' GROUP BY ALL"
                ).to_dicts()
            }
            for relation, kind in (("overhead", "short wait"), ("wait", "lock"))
        )
        expected = {"outer": 1020, "outer/inner": 150, "many": 500_000, "beside": 700, "last": 400}
        for operation, count in expected.items():
            # Where the machine was busy, one took longer than 5 us.
            assert short[operation] + long.get(operation, 0) == count, operation
            assert short[operation] >= 0.9 * count, operation
        (cost,) = trace.sql("FROM calibration WHERE kind = 'short wait'").to_dicts()
        assert cost["method"] == "probes in the run"
        assert 0 < cost["low_ns"] < cost["mean_ns"] < min(cost["high_ns"], 5_000)
