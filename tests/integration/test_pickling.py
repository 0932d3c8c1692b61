"""Serialization against the clock of the program that pickles, and what happens inside it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

import pytest
from support.files.exact_sums import check_directory
from support.process.traced_python import TracedPython

import rlscope as rls
from rlscope.opening import Trace

pytestmark = pytest.mark.usefixtures("clean_environment")

PROGRAM = """
import io, json, os, pickle, threading, time
import rlscope as rls
from multiprocessing.reduction import ForkingPickler

TIMES = 10
numbers = list(range(100_000))
said = {}

def timed(call, *arguments):
    start = time.monotonic_ns()
    result = call(*arguments)
    return result, time.monotonic_ns() - start

pickle.loads(pickle.dumps(numbers))  # before the first operation

with rls.operation("dumps"):
    content, said["dumps"] = zip(*(timed(pickle.dumps, numbers) for _ in range(TIMES)))
with rls.operation("loads"):
    _, said["loads"] = zip(*(timed(pickle.loads, content[0]) for _ in range(TIMES)))
with rls.operation("objects"):
    file = io.BytesIO()
    _, said["objects"] = zip(*(timed(pickle.Pickler(file).dump, numbers) for _ in range(TIMES)))

class Sleeps:
    def __reduce__(self):
        with rls.operation("in reduce"):
            time.sleep(0.02)
        pickle.dumps(numbers)  # inside another one
        return Sleeps, ()

with rls.operation("sleeps"):
    pickle.dumps([Sleeps(), Sleeps()])

with rls.operation("fails"):
    for _ in range(3):
        try:
            pickle.dumps([numbers, lambda: None])
        except (pickle.PicklingError, AttributeError):
            pass

def in_thread():
    with rls.operation("thread"):
        ForkingPickler.dumps(numbers)

thread = threading.Thread(target=in_thread)
thread.start()
thread.join()

with rls.operation("forks"):
    class Forks:
        def __reduce__(self):
            child = os.fork()
            if child == 0:
                return Forks, ()
            os.waitpid(child, 0)
            return Forks, ()
    parent = os.getpid()
    pickle.dumps(Forks())
    if os.getpid() != parent:
        pickle.dumps(numbers)
        os._exit(0)

with open("said.json", "w") as file:
    json.dump(said, file)
"""


@pytest.fixture(scope="module")
def recorded(
    tmp_path_factory: pytest.TempPathFactory, traced: TracedPython
) -> Iterator[tuple[Trace, Path]]:
    folder = tmp_path_factory.mktemp("pickling")
    program = folder / "program.py"
    program.write_text(PROGRAM)
    done = traced.run("-o", "run", traced.python, str(program), cwd=folder)
    assert done.returncode == 0, done.stderr
    with rls.load(folder / "run") as trace:
        yield trace, folder


def _rows(trace: Trace, relation: str, condition: str) -> list[dict[str, Any]]:
    return trace.sql(f"SELECT * FROM {relation} WHERE {condition}").to_dicts()


def test_calls_take_as_long_as_the_program_says(recorded: tuple[Trace, Path]) -> None:
    trace, folder = recorded
    for operation, taken in json.loads((folder / "said.json").read_text()).items():
        rows = _rows(
            trace,
            "event JOIN operation USING (operation_id)",
            f"kind = 'call' AND path = '{operation}' ORDER BY start_ns",
        )
        lengths = [row["duration_ns"] for row in rows]
        assert len(lengths) == len(taken), operation
        assert all(length <= own for length, own in zip(lengths, taken, strict=True))
        assert median(lengths) >= 0.98 * median(taken), operation


def test_they_have_names_and_stay_in_layer_python(recorded: tuple[Trace, Path]) -> None:
    trace, folder = recorded
    check_directory(folder / "run")
    rows = _rows(trace, "native_call", "process_id = 0 ORDER BY operation")
    assert {(row["operation"], row["function"], row["layer"], row["calls"]) for row in rows} == {
        ("dumps", "pickle:dumps", "python", 10),
        ("loads", "pickle:loads", "python", 10),
        ("objects", "pickle:Pickler.dump", "python", 10),
        ("sleeps", "pickle:dumps", "python", 1),
        ("fails", "pickle:dumps", "python", 3),
        ("thread", "pickle:Pickler.dump", "python", 1),
        ("forks", "pickle:dumps", "python", 1),
    }
    layers = _rows(trace, "breakdown", "process_id = 0 AND operation IN ('dumps', 'loads')")
    assert {row["layer"] for row in layers} <= {"python", "wait"}
    assert not _rows(trace, "transition", "process_id = 0 AND from_layer = to_layer")


def test_waits_and_operations_inside_are_the_programs(recorded: tuple[Trace, Path]) -> None:
    trace, _ = recorded
    (slept,) = _rows(trace, "wait", "kind = 'sleep' AND operation = 'sleeps/in reduce'")
    assert slept["count"] == 2
    assert slept["self_ns"] >= 2 * 20_000_000
    (call,) = _rows(trace, "native_call", "operation = 'sleeps'")
    assert call["duration_ns"] >= slept["duration_ns"]
    assert call["self_ns"] <= call["duration_ns"] - slept["duration_ns"]


def test_a_child_made_inside_goes_on(recorded: tuple[Trace, Path]) -> None:
    trace, _ = recorded
    rows = _rows(trace, "native_call", "process_id = 1")
    assert [(row["function"], row["layer"], row["calls"]) for row in rows] == [
        ("pickle:dumps", "python", 1)
    ]


@pytest.mark.parametrize("package", ["gymnasium", "email"])
def test_a_fork_counts_from_its_begin_if_the_program_may_learn(
    tmp_path: Path, traced: TracedPython, package: str
) -> None:
    """A worker of a program's own has no operation."""
    program = tmp_path / "program.py"
    program.write_text(
        f"""
import os, pickle
import {package}

numbers = list(range(100_000))
pickle.dumps(numbers)
if os.fork() == 0:
    pickle.dumps(numbers)
    os._exit(0)
os.wait()
"""
    )
    done = traced.run("-o", "run", traced.python, str(program), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    with rls.load(tmp_path / "run") as trace:
        rows = _rows(trace, "native_call", "function LIKE 'pickle:%'")
    processes = [row["process_id"] for row in rows]
    assert processes == ([1] if package == "gymnasium" else [])


def test_native_calls_inside_keep_their_layer(tmp_path: Path, traced: TracedPython) -> None:
    pytest.importorskip("torch")
    program = tmp_path / "program.py"
    program.write_text(
        """
import pickle, torch
import rlscope as rls

class Adds:
    def __reduce__(self):
        torch.ones(8).add_(1)
        return Adds, ()

torch.ones(8).add_(1)
with rls.operation("dumps"):
    for _ in range(5):
        pickle.dumps([Adds(), Adds()])
with rls.operation("after"):
    torch.ones(8).add_(1)
"""
    )
    done = traced.run("-o", "run", traced.python, str(program), cwd=tmp_path, timeout=120)
    assert done.returncode == 0, done.stderr
    check_directory(tmp_path / "run")
    with rls.load(tmp_path / "run") as trace:
        calls = {
            (row["operation"], row["function"]): row["calls"]
            for row in _rows(trace, "native_call", "operation IN ('dumps', 'after')")
        }
    assert calls.pop(("dumps", "pickle:dumps")) == 5
    once = {name: number for (operation, name), number in calls.items() if operation == "after"}
    assert sum(once.values()) >= 2
    inside = {name: number for (operation, name), number in calls.items() if operation == "dumps"}
    assert inside == {name: 10 * number for name, number in once.items()}


def test_other_interpreters_are_left_alone(tmp_path: Path, traced: TracedPython) -> None:
    """They share the functions with the main one, and their threads are not known to it."""
    program = tmp_path / "program.py"
    program.write_text(
        """
import pickle, threading
import rlscope as rls
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters

CODE = "import pickle\\npickle.loads(pickle.dumps(list(range(100_000))))"
number = interpreters.create()
with rls.operation("any"):
    pickle.dumps(list(range(100_000)))
    pickle.dumps(1)  # too short for a record
thread = threading.Thread(target=interpreters.run_string, args=(number, CODE))
thread.start()
thread.join()
interpreters.run_string(number, CODE)
interpreters.destroy(number)
"""
    )
    done = traced.run("-o", "run", traced.python, str(program), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    with rls.load(tmp_path / "run") as trace:
        rows = _rows(trace, "native_call", "layer = 'python'")
    (row,) = rows  # no pickle:loads: only the other interpreter calls that
    assert row["function"] == "pickle:dumps"
    # The main one's long call, and its short one where the machine was slow; no other.
    assert row["calls"] in (1, 2)


def test_without_waits_it_is_pythons_time(tmp_path: Path, traced: TracedPython) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    done = traced.run("--no-waits", "-o", "run", traced.python, str(program), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    with rls.load(tmp_path / "run") as trace:
        assert not _rows(trace, "native_call", "true")
