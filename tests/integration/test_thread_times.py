"""Running, runnable and blocked: what the relation `thread` says the kernel counted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.process.traced_python import TracedPython

import rlscope as rls

pytestmark = [
    pytest.mark.usefixtures("clean_environment"),
    pytest.mark.skipif(
        not Path("/proc/thread-self/schedstat").exists(), reason="the kernel does not count"
    ),
]

# One thread computes, one sleeps. Each asks the kernel itself, around and inside of the time that
# is measured: from its first record to its end.
_THREADS = """
import json, os, signal, sys, threading, time
import rlscope as rls

said = {}

def ask():
    with open("/proc/thread-self/schedstat") as file:
        running, runnable, _ = map(int, file.read().split())
    return [running, runnable, time.monotonic_ns()]

def work(name, do):
    before = ask()
    with rls.operation(name):
        begun = ask()
        do()
    said[name] = [threading.get_native_id(), before, begun, ask()]

def compute():
    until = time.thread_time_ns() + 100_000_000
    while time.thread_time_ns() < until:
        pass

threads = [threading.Thread(target=work, args=pair)
           for pair in [("compute", compute), ("sleep", lambda: time.sleep(0.2))]]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
    while os.path.exists(f"/proc/self/task/{thread.native_id}"):  # Python is done with it first
        time.sleep(0.001)
said["gone"] = time.monotonic_ns()
work("main", compute)
with open(sys.argv[1], "w") as file:
    json.dump(said, file)
if sys.argv[2] == "killed":
    os.kill(os.getpid(), signal.SIGKILL)
"""


def _run(
    traced: TracedPython, directory: str, folder: Path, how: str
) -> tuple[dict[str, Any], dict[int, dict[str, Any]]]:
    """What the program said, and the rows of `thread` by os_tid."""
    (folder / "program.py").write_text(_THREADS)
    said = folder / "said"
    program = (str(folder / "program.py"), str(said), how)
    result = traced.run("-o", directory, traced.python, *program)
    assert result.returncode == (0 if how == "exits" else -9), result.stderr
    with rls.load(directory) as trace:
        rows = trace.table("thread").to_dicts()
    return json.loads(said.read_text()), {row["os_tid"]: row for row in rows}


@pytest.mark.parametrize("how", ["exits", "killed"])
def test_a_thread_that_ended_ran_and_waited_for_as_long_as_the_kernel_says(
    traced: TracedPython, directory: str, tmp_path: Path, how: str
) -> None:
    said, threads = _run(traced, directory, tmp_path, how)
    for name in ("compute", "sleep"):
        tid, before, begun, ended = said[name]
        thread = threads[tid]
        until_gone = said["gone"] - ended[2]
        for column, place in (("running_ns", 0), ("runnable_ns", 1), ("measured_ns", 2)):
            least, most = ended[place] - begun[place], ended[place] - before[place] + until_gone
            assert least <= thread[column] <= most, (name, column)
    assert threads[said["compute"][0]]["running_ns"] >= 1e8
    sleeper = threads[said["sleep"][0]]
    blocked = sleeper["measured_ns"] - sleeper["running_ns"] - sleeper["runnable_ns"]
    assert blocked >= 2e8


def test_the_main_thread_is_measured_until_the_process_exits(
    traced: TracedPython, directory: str, tmp_path: Path
) -> None:
    said, threads = _run(traced, directory, tmp_path, "exits")
    tid, _, begun, ended = said["main"]
    assert threads[tid]["running_ns"] >= ended[0] - begun[0] >= 1e8
    assert threads[tid]["measured_ns"] >= ended[2] - begun[2]


def test_of_a_killed_thread_nothing_is_claimed_beyond_the_last_reading(
    traced: TracedPython, directory: str, tmp_path: Path
) -> None:
    said, threads = _run(traced, directory, tmp_path, "killed")
    thread = threads[said["main"][0]]
    columns = [thread[name] for name in ("running_ns", "runnable_ns", "measured_ns")]
    if None in columns:
        assert columns == [None] * 3
    else:
        lived = thread["end_ns"] - thread["start_ns"]
        assert thread["running_ns"] + thread["runnable_ns"] <= thread["measured_ns"] * 1.01 + 1e7
        assert thread["measured_ns"] <= lived + 1e7
