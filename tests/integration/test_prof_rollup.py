"""--rollup: sums of the whole run, single records of its last part, on a disk that stays small."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.process.traced_python import TracedPython

from rlscope import _trace
from rlscope.opening import load
from rlscope.report import contents
from rlscope.report.renderers.terminal import render_summary

# Records a burst and waits until most of it is rolled up, again and again: however slow the machine
# is, there are as many rolls as bursts. Samples the memory of rls-prof, without mapped files, and
# the size of the trace.
_BURSTS = """
import json, os, sys, time
import rlscope as rls

BURSTS, OPERATIONS, MOST = map(int, sys.argv[1:4])
trace = os.path.join(os.environ["RLSCOPE_DIR"], "trace")

def size():
    total = 0
    for name in os.listdir(trace):
        try:
            total += os.stat(os.path.join(trace, name)).st_size
        except FileNotFoundError:
            pass
    return total

def resident():
    with open(f"/proc/{os.getppid()}/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("RssAnon"))

def burst():
    for _ in range(20):
        rls.iteration()
        for _ in range(OPERATIONS):
            with rls.operation("outer"):
                with rls.operation("inner"):
                    pass

samples = []
for number in range(BURSTS):
    burst()
    deadline = time.monotonic() + 60
    held = size()  # once: the drainer may write more at any time
    while held > MOST and time.monotonic() < deadline:
        with rls.operation("wait"):
            time.sleep(0.02)
        held = size()
    samples.append((held, resident()))
with rls.operation("last"):
    pass
if len(sys.argv) > 4:
    os.kill(os.getpid(), 9)
print(json.dumps(samples))
"""
_KEPT = ("--rollup", "0.01")


# A burst has 80,000 records of a byte or more, and a state of sums some 15 kB: below this, most of
# the burst is rolled up on any machine.
_MOST_BYTES = 50_000


def _small(bursts: int) -> list[str]:
    return [str(bursts), "1000", str(_MOST_BYTES)]


def check_count(directory: str, path: str, entries: int) -> None:
    """The one process has them, less those that a drainer on a busy machine was too slow for."""
    operation = _trace.Directory(directory).sweep(0)["operation"]
    counted = dict(zip(operation["path"], operation["instances"].tolist(), strict=True))[path]
    assert 0 <= entries - counted <= contents.read(directory).lost.get("ring_full", 0)


def check_rolled_up(directory: str, bursts: int) -> None:
    """All is counted; single records of the first burst are gone, those of the end are there."""
    check_count(directory, "outer", 20_000 * bursts)
    check_count(directory, "outer/inner", 20_000 * bursts)
    check_count(directory, "last", 1)
    with load(directory) as trace:
        ((iterations, complete),) = trace.sql("SELECT count(*), sum(complete) FROM iteration")
        assert iterations == 20 * bursts
        assert complete == iterations - 1
        ((left,),) = trace.sql(
            "SELECT count(*) FROM operation_instance JOIN operation USING (operation_id) "
            "WHERE path = 'outer'"
        )
        assert left <= 20_000 * (bursts - 1)  # of the last one the rings may hold all
        ((last,),) = trace.sql(
            "SELECT count(*) FROM operation_instance JOIN operation USING (operation_id) "
            "WHERE path = 'last'"
        )
        assert last == 1
        ((count, until_ns, detail),) = trace.sql(
            "SELECT count, start_ns + duration_ns, detail"
            " FROM loss JOIN process USING (process_id) WHERE kind = 'rolled_up'"
        )
        assert count > 20_000 * (bursts - 1)
        assert detail == f"rlscope kept single records only from {until_ns} ns on"
        relations = [name for (name,) in trace.sql("SELECT relation FROM absent")]
        assert {"operation_instance", "event"} <= set(relations)
        assert "Not everything was recorded" not in render_summary(trace, width=100)


@pytest.mark.usefixtures("without_waits")
def test_sums_are_of_the_whole_run_and_single_records_of_its_end(
    traced: TracedPython, directory: str
) -> None:
    result = traced.run(
        *_KEPT, "-o", directory, traced.python, "-c", _BURSTS, *_small(4), timeout=300
    )
    assert result.returncode == 0, result.stderr
    samples = json.loads(result.stdout)
    assert all(size <= _MOST_BYTES for size, _ in samples), samples
    check_rolled_up(directory, 4)
    with load(directory) as trace:
        ((measured_ns,),) = trace.sql("SELECT max(measured_ns) FROM thread")
        assert measured_ns > 0
    assert contents.read(directory).lost.keys() <= {"ring_full"}


@pytest.mark.usefixtures("without_waits")
def test_what_came_before_a_crash_is_there(traced: TracedPython, directory: str) -> None:
    result = traced.run(
        *_KEPT, "-o", directory, traced.python, "-c", _BURSTS, *_small(2), "killed", timeout=300
    )
    assert result.returncode == -9, result.stderr
    check_rolled_up(directory, 2)


@pytest.mark.usefixtures("without_waits")
def test_disk_and_memory_stay_as_they_are(traced: TracedPython, directory: str) -> None:
    """More is recorded than the size allows; it is rolled up from half of it on. A burst is 4 MB,
    and rings are 8 MB: what is left of the size holds some more."""
    program = (traced.python, "-c", _BURSTS, "18", "40000", "34000000")
    limits = ("--rollup", "5", "--max-size", "64M")
    result = traced.run(*limits, "-o", directory, *program, timeout=600)
    assert result.returncode == 0, result.stderr
    samples = json.loads(result.stdout)
    assert all(size <= 34_000_000 for size, _ in samples), samples
    # A sweep that is under way takes some MB; 19 million events follow the middle.
    middle, last = samples[6:12], samples[12:]
    most = 16 << 20
    assert max(resident for _, resident in last) < most + max(resident for _, resident in middle)
    check_count(directory, "outer", 20 * 40_000 * 18)
    check_count(directory, "outer/inner", 20 * 40_000 * 18)
    assert contents.read(directory).cuts == []


@pytest.mark.usefixtures("without_waits")
def test_force_removes_what_was_rolled_up(traced: TracedPython, directory: str) -> None:
    traced.run(*_KEPT, "-o", directory, traced.python, "-c", _BURSTS, *_small(1), timeout=300)
    result = traced.run("--force", "-o", directory, "true")
    assert result.returncode == 0, result.stderr
    assert len(list(Path(directory, "trace").iterdir())) == 0


# The main thread waits for a lock while another one records so much that the trace is rolled up
# three times, with the wait open at the edge.
_WAITING = """
import os, threading, time
import rlscope as rls

trace = os.path.join(os.environ["RLSCOPE_DIR"], "trace")
lock = threading.Lock()

def rolled_up():  # the file of sums, which each roll replaces
    for name in os.listdir(trace):
        if len(name.split(".")[3]) > 6:
            status = os.stat(os.path.join(trace, name))
            return status.st_ino, status.st_mtime_ns

def burst():
    for _ in range(20_000):
        with rls.operation("worker"):
            pass

def work():
    time.sleep(0.2)  # the other thread waits by then, or its wait is shorter
    for _ in range(3):
        before, deadline = rolled_up(), time.monotonic() + 60
        while rolled_up() == before and time.monotonic() < deadline:
            burst()
            time.sleep(0.1)
        print(rolled_up() != before)
    lock.release()

lock.acquire()
worker = threading.Thread(target=work)
worker.start()
with rls.operation("waiting"):
    start = time.monotonic_ns()
    lock.acquire()
    print(time.monotonic_ns() - start)
worker.join()
"""


def test_a_wait_is_one_wait_however_often_its_begin_is_rolled_up(
    traced: TracedPython, directory: str
) -> None:
    result = traced.run(
        "--rollup", "0.01", "-o", directory, traced.python, "-c", _WAITING, timeout=300
    )
    assert result.returncode == 0, result.stderr
    *rolled, lasted = result.stdout.split()
    assert rolled == ["True"] * 3
    with load(directory) as trace:
        ((operation_ns,),) = trace.sql(
            "SELECT sum(duration_ns) FROM breakdown_by_thread WHERE operation = 'waiting'"
        )
        ((count, waited_ns),) = trace.sql(
            "SELECT sum(count), sum(self_ns) FROM wait"
            " WHERE operation = 'waiting' AND kind = 'lock'"
        )
        ((shown_ns,),) = trace.sql(
            "SELECT sum(duration_ns) FROM breakdown_by_thread"
            " WHERE operation = 'waiting' AND layer = 'wait'"
        )
    assert count == 1
    assert operation_ns == pytest.approx(int(lasted), rel=0.02)
    assert 0.98 * operation_ns < waited_ns <= shown_ns <= operation_ns
