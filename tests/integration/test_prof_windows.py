"""Windows of rls-prof: which part of a program is recorded, while the program runs to its end."""

import json
from collections.abc import Iterator
from itertools import pairwise

import pytest
from traced_python import TracedPython

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
    instances = trace.operation_instances(process["index"])
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


def test_window_of_time(traced: TracedPython, directory: str) -> None:
    options = ["--delay-seconds", "0.5", "--seconds", "0.5"]
    result = traced.run("-o", directory, *options, traced.python, "-c", _BY_TIME)
    assert result.returncode == 0
    truth = json.loads(result.stdout)
    from rlscope._trace import Directory

    trace = Directory(directory)
    (window,) = _rows(trace.sweep(0)["window"])
    start, end = window["start_ns"], window["start_ns"] + window["duration_ns"]
    assert truth[0][0] < start < end < truth[-1][1], "the program ran before and after it"
    inside = [1 for entered, left in truth if start <= entered and left <= end]
    at_edges = 2  # one that began before the window, one that was open at its end
    assert 0 < len(inside) <= len(_operations(directory)) <= len(inside) + at_edges


def test_gaps_and_windows_add_up(traced: TracedPython, directory: str) -> None:
    options = ["--delay-iterations", "3", "--iterations", "4"]
    traced.run("-o", directory, *options, traced.python, "-c", _ITERATIONS)
    from rlscope._trace import Directory

    trace = Directory(directory)
    (process,) = trace.processes
    swept = trace.sweep(0)
    total = sum(row["duration_ns"] for row in _rows(swept["breakdown"]))
    windows = _rows(swept["window"])
    assert all(one["start_ns"] < two["start_ns"] for one, two in pairwise(windows))
    assert total == process["end_ns"] - process["start_ns"]


def _rows(columns: dict[str, list[int]]) -> list[dict[str, int]]:
    def rows() -> Iterator[dict[str, int]]:
        for values in zip(*columns.values(), strict=True):
            yield {name: int(value) for name, value in zip(columns, values, strict=True)}

    return list(rows())
