"""Windows of rls-prof: which part of a program is recorded, while the program runs to its end."""

import json
from collections.abc import Iterator
from itertools import pairwise

import pytest
from support.files.streamed_rows import read_instances
from support.process.traced_python import TracedPython

from rlscope.rundir import process_log
from rlscope.rundir.process_log import Event

pytestmark = pytest.mark.usefixtures("clean_environment")

_ITERATIONS = """
import rlscope as rls
try:
    for number in range(10):
        rls.iteration()
        with rls.operation(f"number_{number}"):
            pass
        print(number, flush=True)
finally:
    print("cleaned up", flush=True)
print("end", flush=True)
"""
_FULL_RUN = "".join(f"{number}\n" for number in range(10)) + "cleaned up\nend\n"

# Runs until its own clock says that both edges of the window are behind it.
_BY_TIME = """
import json, time
import rlscope as rls
begun = time.monotonic()
truth = []
while time.monotonic() - begun < 1.6:
    entered = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    with rls.operation("tick"):
        time.sleep(0.01)
    truth.append((entered, time.clock_gettime_ns(time.CLOCK_MONOTONIC)))
print(json.dumps(truth))
"""


def _operations(directory: str) -> list[str]:
    """Names of the operations that were entered, in order of time."""
    from rlscope._trace import Directory

    trace = Directory(directory)
    (process,) = trace.processes
    names = trace.sweep(process["index"])["operation"]["name"]
    instances = read_instances(trace, process["index"])
    order = sorted(zip(instances["start_ns"], instances["operation"], strict=True))
    return [names[operation] for _, operation in order]


def _numbers(names: list[str]) -> list[int]:
    return [int(name.removeprefix("number_")) for name in names]


@pytest.mark.parametrize(
    ("options", "recorded"),
    [
        ([], range(10)),
        (["--delay-iterations", "7"], range(7, 10)),
        (["--iterations", "3"], range(3)),
        (["--delay-iterations", "3", "--iterations", "4"], range(3, 7)),
        (["--delay-iterations", "20"], range(0)),
    ],
)
def test_window_of_iterations(
    traced: TracedPython, directory: str, options: list[str], recorded: range
) -> None:
    result = traced.run("-o", directory, *options, traced.python, "-c", _ITERATIONS)
    assert (result.returncode, result.stdout) == (0, _FULL_RUN)
    assert _numbers(_operations(directory)) == list(recorded)


def test_exit_after_iterations_ends_the_program_cleanly(
    traced: TracedPython, directory: str
) -> None:
    options = ["--exit-after-iterations", "4"]
    result = traced.run("-o", directory, *options, traced.python, "-c", _ITERATIONS)
    assert (result.returncode, result.stdout) == (0, "0\n1\n2\n3\ncleaned up\n")
    assert _numbers(_operations(directory)) == [0, 1, 2, 3]


# Says in how many iterations, which last 10 ms each, it was recorded.
_ENDLESS = """
import atexit, itertools, time
import rlscope as rls
atexit.register(print, "cleaned up")
for number in itertools.count():
    rls.iteration()
    with rls.operation("x"):
        time.sleep(0.01)
"""


def test_exit_after_seconds_ends_the_program_at_an_iteration(
    traced: TracedPython, directory: str
) -> None:
    """The time begins with the first record: it has not begun while the program is delayed."""
    options = ["--delay-iterations", "100", "--exit-after-seconds", "0.2"]
    result = traced.run("-o", directory, *options, traced.python, "-c", _ENDLESS)
    assert (result.returncode, result.stdout) == (0, "cleaned up\n")
    from rlscope._trace import Directory

    (window,) = _rows(Directory(directory).sweep(0)["recording_window"])
    assert window["duration_ns"] >= 0.2e9
    assert _operations(directory)


def test_window_of_time(traced: TracedPython, directory: str) -> None:
    options = ["--delay-seconds", "0.5", "--seconds", "0.5"]
    result = traced.run("-o", directory, *options, traced.python, "-c", _BY_TIME)
    assert result.returncode == 0
    truth = json.loads(result.stdout)
    from rlscope._trace import Directory

    trace = Directory(directory)
    (window,) = _rows(trace.sweep(0)["recording_window"])
    start, end = window["start_ns"], window["start_ns"] + window["duration_ns"]
    assert truth[0][0] < start < end < truth[-1][1], "the program ran before and after it"
    inside = [1 for entered, left in truth if start <= entered and left <= end]
    at_edges = 2  # one that began before the window, one that was open at its end
    assert 0 < len(inside) <= len(_operations(directory)) <= len(inside) + at_edges


# Its child lives through the window and records nothing.
_SILENT_CHILD = """
import subprocess, sys
import rlscope as rls
child = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
child.stdin.write(b"x")
child.stdin.flush()
child.stdout.read(1)  # it has begun
for number in range(6):
    rls.iteration()
    with rls.operation("x"):
        pass
child.communicate()
"""


@pytest.mark.parametrize(
    "options",
    [
        ["--iterations", "2"],
        ["--delay-iterations", "2"],
        ["--delay-iterations", "2", "--iterations", "2"],
    ],
)
def test_a_process_without_records_counts_in_the_window_only(
    traced: TracedPython, directory: str, options: list[str]
) -> None:
    result = traced.run("-o", directory, *options, traced.python, "-c", _SILENT_CHILD)
    assert result.returncode == 0
    from rlscope._trace import Directory

    trace = Directory(directory)
    (child,) = (process for process in trace.processes if process["comm"] == "cat")
    log = process_log.read(directory)
    changes = {record.name: record.time_ns for record in log if record.event == Event.WINDOW}
    life = {record.event: record.time_ns for record in log if record.pid == child["os_pid"]}
    start_ns = changes.get(b"starts", child["began_ns"])
    end_ns = changes.get(b"stops", life[Event.ENDED])
    swept = trace.sweep(child["index"])
    assert _rows(swept["recording_window"]) == [
        {"start_ns": start_ns, "duration_ns": end_ns - start_ns}
    ]
    assert sum(swept["breakdown"]["duration_ns"]) == end_ns - start_ns


# Its worker does one operation in each iteration of the main process, and answers.
_WORKER = """
import sys
import rlscope as rls
for line in sys.stdin:
    with rls.operation(f"number_{line.strip()}"):
        pass
    print(line, end="", flush=True)
"""
_TWO_PROCESSES = f"""
import subprocess, sys
import rlscope as rls
pipe = subprocess.PIPE
command = [sys.executable, "-c", {_WORKER!r}]
with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as worker:
    for number in range(8):
        rls.iteration()
        with rls.operation(f"number_{{number}}"):
            worker.stdin.write(f"{{number}}\\n")
            worker.stdin.flush()
            worker.stdout.readline()
    worker.stdin.close()
"""


def test_a_window_of_iterations_is_that_of_every_process(
    traced: TracedPython, directory: str
) -> None:
    options = ["--delay-iterations", "3", "--iterations", "3"]
    result = traced.run("-o", directory, *options, traced.python, "-c", _TWO_PROCESSES)
    assert result.returncode == 0, result.stderr
    from rlscope._trace import Directory

    trace = Directory(directory)
    assert len(trace.processes) == 2
    for process in trace.processes:
        names = trace.sweep(process["index"])["operation"]["name"]
        assert _numbers([name for name in names if name != "(none)"]) == [3, 4, 5]


def test_gaps_and_windows_add_up(traced: TracedPython, directory: str) -> None:
    options = ["--delay-iterations", "3", "--iterations", "4"]
    traced.run("-o", directory, *options, traced.python, "-c", _ITERATIONS)
    from rlscope._trace import Directory

    trace = Directory(directory)
    (process,) = trace.processes
    swept = trace.sweep(0)
    total = sum(swept["breakdown"]["duration_ns"].tolist())
    windows = _rows(swept["recording_window"])
    assert all(one["start_ns"] < two["start_ns"] for one, two in pairwise(windows))
    assert total == process["end_ns"] - process["start_ns"]


def _rows(columns: dict[str, list[int]]) -> list[dict[str, int]]:
    def rows() -> Iterator[dict[str, int]]:
        for values in zip(*columns.values(), strict=True):
            yield {name: int(value) for name, value in zip(columns, values, strict=True)}

    return list(rows())
