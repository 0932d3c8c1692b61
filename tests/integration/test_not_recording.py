"""A process that is attached and does not record pays for an annotation what one pays that never
recorded: counted in instructions, which no other program of the machine changes."""

from __future__ import annotations

import json
import platform
import sys
from pathlib import Path

import pytest
from support.process.recorded_child import run

EXTENSION = Path(__file__).resolve().parent.parent / "extension"
sys.path.insert(0, str(EXTENSION))

from sample_library import compile_extension  # noqa: E402

pytestmark = pytest.mark.skipif(platform.machine() != "x86_64", reason="steps x86-64 only")

# A test of the state and one of the window, for the enter and for the exit.
FEW = 24

PROGRAM = """
    import contextvars, gc, importlib.util, json, tempfile
    import rlscope as rls
    from rlscope import _runtime
    from rlscope.capture import native

    spec = importlib.util.spec_from_file_location("single_step", {library!r})
    single_step = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(single_step)

    def plain(): pass
    _runtime.watch_imports({{}}, plain)
    operation = rls.operation("inference")
    decorated = operation(plain)
    event = _runtime.watch("forward", plain)
    context = contextvars.Context()

    def cached(turns):
        for _ in turns:
            with operation: pass
    def by_name(turns):
        for _ in turns:
            with rls.operation("inference"): pass
    def set_and_end(turns):
        for _ in turns: rls.set_operation("x"); rls.end_operation("x")
    def decorator(turns):
        for _ in turns: decorated()
    def automatic(turns):
        for _ in turns: event()
    def task(turns):
        for _ in turns: context.run(plain)

    functions = [cached, by_name, set_and_end, decorator, automatic, task]
    gc.disable()

    def step(function, turns):
        return min(single_step.count(function, range(turns)) for _ in range(3))

    def per_turn(function):
        function(range(1000))
        return (step(function, 6) - step(function, 2)) / 4

    def count():
        return {{function.__name__: per_turn(function) for function in functions}}

    def record(before):
        directory = tempfile.mkdtemp()
        _runtime.profile_begin(directory)
        _runtime.intercept_scan()
        before()
        slots = _runtime.thread_slots()
        found = count()
        slots = _runtime.thread_slots() - slots
        _runtime.profile_end()
        return found, slots

    def stop_later():
        cached(range(10))
        rls.stop()

    _runtime.intercept_scan()  # Context.run is followed
    said = {{"bare": count()}}
    for state, before in [("stopped", stop_later), ("not started", rls.stop)]:
        said[state], slots = record(before)
        assert slots == 0
    said["recording"], slots = record(plain)
    assert slots > 0

    def time_operations():
        _runtime.hold(True)
        _runtime.time_operations(True)
        assert _runtime.state() == "timed"

    said["timed"], slots = record(time_operations)
    assert slots == 0
    print(json.dumps(said))
"""


@pytest.fixture(scope="module")
def counted(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, float]]:
    folder = tmp_path_factory.mktemp("single_step")
    library = compile_extension("single_step", [EXTENSION / "single_step.c"], folder)
    output = run(PROGRAM.format(library=str(library)))
    found: dict[str, dict[str, float]] = json.loads(output)
    return found


CASES = ["cached", "by_name", "set_and_end", "decorator", "automatic", "task"]


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("state", ["stopped", "not started"])
def test_an_annotation_takes_no_slow_path_while_nothing_is_recorded(
    counted: dict[str, dict[str, float]], state: str, case: str
) -> None:
    more = counted[state][case] - counted["bare"][case]
    assert more <= FEW, counted


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("state", ["bare", "stopped", "not started"])
def test_not_recording_takes_no_more_than_a_record(
    counted: dict[str, dict[str, float]], state: str, case: str
) -> None:
    assert counted[state][case] <= counted["recording"][case], counted


@pytest.mark.parametrize("case", ["automatic", "task"])
def test_the_stopwatch_is_that_of_annotations_alone(
    counted: dict[str, dict[str, float]], case: str
) -> None:
    assert counted["timed"][case] - counted["bare"][case] <= FEW, counted
    assert counted["timed"]["cached"] - counted["bare"]["cached"] > FEW, counted


def test_instructions_of_a_record_are_counted(counted: dict[str, dict[str, float]]) -> None:
    """The count can fail: a record takes more instructions than are allowed without one."""
    more = counted["recording"]["cached"] - counted["bare"]["cached"]
    assert more > FEW, counted
