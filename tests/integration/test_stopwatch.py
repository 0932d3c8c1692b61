"""The stopwatch of the annotations, in a process that records nothing: against clocks of the
program that lie just inside and just outside of each operation."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path
from typing import Any

import pytest
from support.process.known_costs import check_counted, counted_loop, script
from support.process.recorded_child import run
from support.process.traced_python import TracedPython, untraced_environment

from rlscope.rundir import stopwatch_file, turns_file
from rlscope.rundir.stopwatch_file import RecordedBlock, TimedBlock
from rlscope.rundir.turns_file import Block

BEGIN = """
import asyncio, contextlib, json, tempfile, threading, time
import rlscope as rls
from rlscope.recorder import runtime

runtime.profile_begin(tempfile.mkdtemp())
with rls.operation("before"):
    runtime.hold(True)
    runtime.time_operations(True)
slots, windows = runtime.thread_slots(), runtime.windows()

inside, outside = {}, {}
def spin(path, ns=300_000):
    # Part of the time of an operation: no less than this.
    start = end = time.monotonic_ns()
    while end - start < ns:
        end = time.monotonic_ns()
    inside[path] = inside.get(path, 0) + end - start

@contextlib.contextmanager
def around(path):
    # No less than the operations of this path inside.
    start = time.monotonic_ns()
    yield
    outside[path] = outside.get(path, 0) + time.monotonic_ns() - start
"""
END = """
taken = runtime.take_operation_times()
assert (runtime.thread_slots(), runtime.windows()) == (slots, windows)
print(json.dumps([taken, inside, outside]))
"""


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def timed(text: str) -> dict[str, tuple[bool, int, int]]:
    """What the stopwatch says of a program, by path: of the calling thread, entries, half events.
    Its times lie between those of the program's clocks."""
    taken, inside, outside = json.loads(run(BEGIN + textwrap.dedent(text) + END))
    own_ns, rows = taken
    assert own_ns > 0
    found = {"/".join(names): (own, entries, halves) for own, names, _, entries, halves in rows}
    times = {"/".join(names): ns for _, names, ns, _, _ in rows}
    assert len(found) == len(rows)
    for path, ns in inside.items():
        assert ns * 0.999 <= times[path], (path, times, inside)
    for path, ns in outside.items():
        assert times[path] <= ns * 1.001, (path, times, outside)
    return found


def test_the_innermost_operation_owns_the_time() -> None:
    found = timed(
        """
        with around("a"):
            with rls.operation("a"):
                spin("a")
        with rls.operation("outer"), around("outer/b"), rls.operation("b"):
            spin("outer/b")
        with rls.operation("c"):
            pass
        """
    )
    assert found == {
        "a": (True, 1, 2),
        "outer": (True, 1, 4),
        "outer/b": (True, 1, 2),
        "c": (True, 1, 2),
    }


def test_an_operation_inside_itself_keeps_its_path() -> None:
    found = timed(
        """
        with around("a"), rls.operation("a"):
            spin("a")
            with rls.operation("a"):
                spin("a")
        """
    )
    assert found == {"a": (True, 2, 6)}


def test_an_exception_ends_an_operation() -> None:
    found = timed(
        """
        @rls.operation("decorated")
        def fail():
            spin("decorated")
            raise ValueError("of the program")
        try:
            with around("decorated"):
                fail()
        except ValueError as error:
            assert str(error) == "of the program"
        with contextlib.suppress(KeyError), rls.operation("with"):
            raise KeyError
        with rls.operation("next"):
            pass
        """
    )
    assert found == {"decorated": (True, 1, 2), "with": (True, 1, 2), "next": (True, 1, 2)}


def test_every_way_to_annotate_is_timed() -> None:
    found = timed(
        """
        rls.set_operation("set")
        spin("set")
        rls.end_operation("set")
        @rls.operation("function")
        def function():
            spin("function")
        @rls.operation("generator")
        def generator():
            spin("generator")
            yield
        function()
        list(generator())
        """
    )
    assert found == dict.fromkeys(("set", "function", "generator"), (True, 1, 2))


def test_an_exit_closes_the_innermost_of_its_name() -> None:
    found = timed(
        """
        rls.end_operation("never entered")
        rls.set_operation("a")
        rls.set_operation("b")
        rls.end_operation("a")
        spin("a/b")
        with rls.operation("c"):
            spin("a/b/c")
        rls.end_operation("b")
        rls.end_operation("before")
        """
    )
    assert found == {"a": (True, 1, 2), "a/b": (True, 1, 6), "a/b/c": (True, 1, 2)}


def test_each_thread_has_its_own_stack() -> None:
    found = timed(
        """
        def work():
            with rls.operation("work"):
                spin("work")
        with around("main"), rls.operation("main"):
            thread = threading.Thread(target=work)
            thread.start()
            thread.join()
            spin("main")
        """
    )
    assert found == {"main": (True, 1, 2), "work": (False, 1, 2)}


def test_names_that_are_not_interned_are_compared_by_value() -> None:
    """As behind the cap of the table of operations."""
    found = timed(
        """
        for number in range(70_000):
            rls.operation(f"name {number}")
        runtime.take_operation_times()
        for _ in range(3):
            with rls.operation("".join(["be", "hind"])), rls.operation("".join(["be", "hind"])):
                pass
        """
    )
    assert found == {"behind": (True, 6, 18)}


def test_what_is_open_goes_on_in_the_next_sums() -> None:
    found = timed(
        """
        with rls.operation("a"), around("a"):
            spin("not counted")
            del inside["not counted"], outside
            outside = {}
            runtime.take_operation_times()
            spin("a")
        """
    )
    assert found == {"a": (True, 0, 1)}


def test_asyncio_tasks_are_not_timed() -> None:
    text = """
        async def task():
            with rls.operation("task"):
                await asyncio.sleep(0)
        asyncio.run(task())
        assert runtime.take_operation_times() is None
        runtime.time_operations(True)
        with rls.operation("again"):
            pass
        windows = runtime.windows()
    """
    assert timed(text) == {"again": (True, 1, 2)}


def test_a_program_that_stops_recording_stops_the_stopwatch() -> None:
    text = """
        assert runtime.state() == "timed"
        with rls.operation("a"):
            rls.stop()
        assert runtime.state() == "paused"
        with rls.operation("stopped"):
            pass
        rls.start()
        assert (runtime.state(), runtime.windows()) == ("timed", windows + 1)
        windows += 1
        with rls.operation("b"):
            pass
        runtime.time_operations(False)
        assert runtime.state() == "paused"
        runtime.time_operations(True)
        windows += 1
        with rls.operation("c"):
            pass
    """
    assert timed(text) == {"c": (True, 1, 2)}


def blocks(
    traced: TracedPython, folder: Path, text: str
) -> tuple[list[Block], list[TimedBlock], list[RecordedBlock]]:
    """The blocks of a program that has all three modes; its trace is folder/run."""
    file = folder / "turns"
    result = traced.run(
        *("--no-probes", "--no-waits", "-o", str(folder / "run")),
        *(traced.python, script(folder, text)),
        env={**untraced_environment(), "RLSCOPE_TURNS": f"bare,recorded,timed:{file}"},
    )
    assert result.returncode == 0, result.stderr
    return turns_file.read(file), *stopwatch_file.read(stopwatch_file.beside(str(file)))


def iterations(found: list[Block], mode: str) -> int:
    return sum(block.iterations for block in found if block.mode == mode)


def test_a_timed_block_records_nothing_and_passes_no_stub(
    traced: TracedPython, tmp_path: Path, library: str
) -> None:
    found, timed, recorded = blocks(traced, tmp_path, counted_loop(library))
    check_counted(tmp_path)
    lengths = {
        (block.process, block.round): block.iterations
        for block in found
        if block.mode == turns_file.TIMED and block.measured
    }
    assert {(block.process, block.round) for block in timed} == lengths.keys()
    for block in timed:
        assert block.times is not None
        (work,) = block.times
        assert (work.path, work.of_loop) == ("work", True)
        assert work.entries == lengths[block.process, block.round]
        assert 0 < work.ns <= block.wall_ns
    measured = [each for each in found if each.mode == turns_file.RECORDED and each.measured]
    assert [each.iterations for each in recorded] == [each.iterations for each in measured]


def test_a_stop_of_the_program_spoils_its_timed_block(traced: TracedPython, tmp_path: Path) -> None:
    found, timed, _ = blocks(
        traced,
        tmp_path,
        """
import rlscope as rls
for number in range(600):
    rls.iteration()
    if number == 100: rls.stop()
    if number == 500: rls.start()
    with rls.operation("work"):
        sum(range(20_000))
""",
    )
    assert 0 < iterations(found, turns_file.TIMED) < iterations(found, turns_file.BARE)
    assert len(timed) == len([e for e in found if e.mode == turns_file.TIMED and e.measured])


def test_fork_children_have_a_stopwatch_of_their_own(traced: TracedPython, tmp_path: Path) -> None:
    _, timed, _ = blocks(
        traced,
        tmp_path,
        """
import os
import rlscope as rls
def loop(iterations):
    for _ in range(iterations):
        rls.iteration()
        with rls.operation("work"):
            sum(range(20_000))
loop(100)
with rls.operation("open in the parent"):
    child = os.fork()
    if child == 0:
        loop(200)
        os._exit(0)
with open("child", "w") as file:
    print(child, file=file)
loop(200)
os.waitpid(child, 0)
""",
    )
    paths: dict[int, set[Any]] = {}
    for block in timed:
        for each in block.times or ():
            paths.setdefault(block.process, set()).add(each.path)
    assert len(paths) == 2
    assert paths[int((tmp_path / "child").read_text())] == {"work"}


@pytest.mark.parametrize("turns", [1, 3])
def test_the_cost_of_a_half_event_is_measured_where_it_runs(turns: int) -> None:
    """A difference of loops may be below zero on a busy machine; the process is as before."""
    text = f"""
        from rlscope.capture import stopwatch
        runtime.time_operations(False)
        for _ in range({turns}):
            assert isinstance(stopwatch.half_event_ns(), float)
            assert runtime.state() == "paused"
        runtime.time_operations(True)
        windows = runtime.windows()
        with rls.operation("a"):
            pass
    """
    assert timed(text) == {"a": (True, 1, 2)}
