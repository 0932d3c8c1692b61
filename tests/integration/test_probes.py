"""Probes of the recorder's cost in programs that run: where they are, and that nothing else shows.

A program records until so many of its turns took more slots than its own records do, so no test
depends on how fast the machine is.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.process.recorded_child import ENTER, EXIT, Recorded, record
from support.process.traced_python import TracedPython

# Kinds of csrc/trace/layout/record.h, and what a probe measures.
AUTO_SEGMENT, PROBE, PROBE_RECORD = 20, 24, 25
EMPTY, PLAIN_CALL, RECORDED_CALL, IDLE_OPERATION, RECORDED_OPERATION, WAIT = range(6)

PROBED = {"RLSCOPE_PROBES": "1"}

# until_probed(turn): calls turn() until so many turns took more slots of the ring than their own.
COMMON = """
import rlscope as rls
from rlscope import _runtime

def until_probed(turn, probed=100, own=2):
    turn()
    turns = 1
    while probed > 0:
        before = _runtime.thread_slots()
        turn()
        turns += 1
        probed -= _runtime.thread_slots() - before > own
    return turns

def step():
    with rls.operation("step"):
        pass
"""


def items_of(recorded: Recorded, process: int = 0, thread: int = 0) -> dict[str, Any]:
    row = recorded.process(process)
    number = recorded.threads(process)[thread]
    return {name: np.asarray(column) for name, column in
            recorded.reader.items(row["index"], number).items()}  # fmt: skip


def probes_of(items: dict[str, Any]) -> Counter[int]:
    return Counter(items["id"][items["kind"] == PROBE].tolist())


def record_probed(directory: str, script: str, **variables: str) -> Recorded:
    return record(directory, COMMON + script, variables={**PROBED, **variables})


@pytest.fixture(scope="module")
def stepped(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    """A program with operations and native calls, recorded once. It says how many turns it took."""
    script = "_runtime.intercept_scan()\nprint(until_probed(step))"
    return record_probed(str(tmp_path_factory.mktemp("stepped") / "run"), script)


def test_a_program_with_operations_has_probes_of_each_kind(stepped: Recorded) -> None:
    items = items_of(stepped)
    assert set(probes_of(items)) == set(range(5))
    assert np.all(items["value"][items["kind"] == PROBE] < 1 << 32)


def test_what_probes_record_is_not_among_the_programs_records(stepped: Recorded) -> None:
    turns = int(stepped.output)
    items = items_of(stepped)
    kinds = Counter(items["kind"].tolist())
    assert kinds[ENTER] == kinds[EXIT] == turns
    assert not {15, 16, 17} & kinds.keys(), "native calls"
    probes = probes_of(items)
    assert kinds[PROBE_RECORD] == probes[RECORDED_CALL] + probes[RECORDED_OPERATION]
    assert probes[RECORDED_CALL] > 0 and probes[RECORDED_OPERATION] > 0
    assert set(stepped.names().values()) == {"step"}
    row = stepped.process()
    swept = stepped.reader.sweep(row["index"])
    assert swept["native_call"]["calls"].sum() == 0
    assert swept["transition"]["count"].sum() == 0


def test_what_a_probe_records_lies_within_the_probe(stepped: Recorded) -> None:
    items = items_of(stepped)
    (inside,) = np.nonzero(items["kind"] == PROBE_RECORD)
    assert np.all(items["kind"][inside + 1] == PROBE)
    assert set(items["id"][inside + 1].tolist()) == {RECORDED_CALL, RECORDED_OPERATION}
    assert np.all(items["value"][inside] <= items["value"][inside + 1])


def test_a_probe_tells_the_cost_inside_an_operation_from_that_around_it(directory: str) -> None:
    """A delay lies before an enter and before an exit: half of it is inside."""
    delay = {"RLSCOPE_TEST_DELAY": "operation=20000"}
    recorded = record_probed(directory, "until_probed(step, 40)", **delay)
    probes = recorded.reader.sweep(recorded.process()["index"])["probe"]
    inside_ns = np.array(probes["inside_ps"], np.float64) / 1000
    measured = (np.array(probes["kind"]) == "annotation") & ~np.isnan(inside_ns)
    assert np.count_nonzero(measured) > 0
    around_ns = np.array(probes["duration_ps"], np.float64)[measured] / 1000 - inside_ns[measured]
    assert min(inside_ns[measured].min(), around_ns.min()) >= 20_000 * 0.99


def test_waits_say_what_their_records_take(directory: str) -> None:
    script = """
import time
from rlscope.capture import named_functions
named_functions.begin()
def turn():
    time.sleep(1e-4)
until_probed(turn, 40, own=1)
"""
    recorded = record_probed(directory, script, RLSCOPE_TEST_DELAY="wait=20000")
    items = items_of(recorded)
    waits = (items["kind"] == PROBE) & (items["id"] == WAIT)
    assert np.count_nonzero(waits) > 0
    probes = recorded.reader.sweep(recorded.process()["index"])["probe"]
    of_wait = np.array(probes["kind"]) == "wait"
    taken_ns = np.array(probes["duration_ps"], np.float64)[of_wait] / 1000
    assert taken_ns.min() >= 20_000 * 0.99


def test_a_program_with_automatic_operations_only_has_probes_of_calls(directory: str) -> None:
    script = """
def plain(): pass
_runtime.watch_imports({}, plain)
_runtime.intercept_scan()
event = _runtime.watch("forward", plain)
print(until_probed(event))
"""
    items = items_of(record_probed(directory, script))
    assert set(probes_of(items)) == {EMPTY, PLAIN_CALL, RECORDED_CALL}
    assert np.count_nonzero(items["kind"] == AUTO_SEGMENT) > 0
    assert np.count_nonzero(items["kind"] == ENTER) == 0


def test_native_calls_that_are_not_intercepted_are_not_probed(directory: str) -> None:
    items = items_of(record_probed(directory, "until_probed(step)", RLSCOPE_INTERCEPT="off"))
    assert set(probes_of(items)) == {EMPTY, IDLE_OPERATION, RECORDED_OPERATION}
    of_operations = probes_of(items)[RECORDED_OPERATION]
    assert np.count_nonzero(items["kind"] == PROBE_RECORD) == of_operations


def test_native_calls_are_not_probed_once_patches_are_taken_out(directory: str) -> None:
    script = """
_runtime.intercept_scan()
until_probed(step)
_runtime.intercept_unpatch()
with rls.operation("behind"): pass
until_probed(step)
"""
    recorded = record_probed(directory, script)
    items = items_of(recorded)
    behind = next(id_ for id_, name in recorded.names().items() if name == "behind")
    (edge,) = np.nonzero((items["kind"] == ENTER) & (items["id"] == behind))
    late = {name: column[edge[0] :] for name, column in items.items()}
    assert set(probes_of(late)) == {EMPTY, IDLE_OPERATION, RECORDED_OPERATION}


MANY = """
_runtime.intercept_scan()
for _ in range(300_000): step()
"""


def test_probes_can_be_switched_off(directory: str) -> None:
    recorded = record_probed(directory, MANY, RLSCOPE_PROBES="0")
    assert not probes_of(items_of(recorded))


def test_probes_take_a_small_part_of_the_slots(directory: str) -> None:
    recorded = record_probed(directory, MANY)
    items = items_of(recorded)
    assert 0 < sum(probes_of(items).values()) < 30_000


def test_nothing_is_probed_while_nothing_is_recorded(directory: str) -> None:
    script = """
_runtime.intercept_scan()
until_probed(step)
rls.stop()
stopped = _runtime.thread_slots()
for _ in range(300_000): step()
print(_runtime.thread_slots() - stopped)
rls.start()
until_probed(step)
"""
    recorded = record_probed(directory, script)
    assert recorded.output == "0\n"
    items = items_of(recorded)
    assert sum(probes_of(items).values()) > 0


def test_each_thread_is_probed(directory: str) -> None:
    script = """
import threading
_runtime.intercept_scan()
threads = [threading.Thread(target=until_probed, args=(step,)) for _ in range(3)]
until_probed(step)
for thread in threads: thread.start()
for thread in threads: thread.join()
"""
    recorded = record_probed(directory, script)
    assert len(recorded.threads()) == 4
    for thread in range(4):
        assert set(probes_of(items_of(recorded, thread=thread))) == set(range(5))


def test_a_fork_child_is_probed_like_its_parent(directory: str) -> None:
    script = """
import os
_runtime.intercept_scan()
until_probed(step)
child = os.fork()
until_probed(step)
if child: assert os.waitpid(child, 0)[1] == 0
"""
    recorded = record_probed(directory, script)
    for process in range(2):
        items = items_of(recorded, process)
        assert set(probes_of(items)) == set(range(5))
        kinds = Counter(items["kind"].tolist())
        assert kinds[ENTER] == kinds[EXIT]


def test_tasks_are_probed_and_stay_apart(directory: str) -> None:
    script = """
import asyncio

async def act(name):
    with rls.operation(name):
        for _ in range(20):
            with rls.operation("inner"): await asyncio.sleep(0)

async def main():
    await asyncio.gather(act("a"), act("b"))

turns = 0
def turn():
    global turns
    turns += 1
    step()

asyncio.run(main())
until_probed(turn)
asyncio.run(main())
"""
    recorded = record_probed(directory, script)
    counts = Counter(recorded.operations())
    entered = Counter({name: count for name, count in counts.items() if name.startswith("+")})
    left = Counter({name: count for name, count in counts.items() if name.startswith("-")})
    assert (entered["+a"], entered["+b"], entered["+inner"]) == (2, 2, 80)
    assert {name[1:]: count for name, count in left.items()} == {
        name[1:]: count for name, count in entered.items()
    }
    losses = recorded.reader.losses(recorded.process()["index"])
    assert not [loss for loss in losses if loss["kind"] == "clamped"]


def test_what_follows_a_probe_keeps_its_time(directory: str) -> None:
    """Probes are due by time: each turn lets some pass, before another one of its records."""
    script = """
import itertools, time
places = itertools.cycle(range(5))

def turn():
    place = next(places)
    def pass_time(here):
        end = time.perf_counter_ns() + 50_000 * (here == place)
        while time.perf_counter_ns() < end:
            pass
    pass_time(0)
    with rls.operation("step"):
        pass_time(1)
    pass_time(2)
    rls.iteration()
    pass_time(3)
    with rls.operation("step"):
        pass_time(4)

until_probed(turn, 1500, own=5)
"""
    recorded = record_probed(directory, script)
    losses = recorded.reader.losses(recorded.process()["index"])
    assert not [loss for loss in losses if loss["kind"] == "clamped"]


def test_subinterpreters_are_probed(directory: str) -> None:
    pytest.importorskip("_xxsubinterpreters")
    script = f"""
import _xxsubinterpreters as interpreters
until_probed(step)
other = interpreters.create()
interpreters.run_string(other, {COMMON!r} + "until_probed(step)")
interpreters.destroy(other)
until_probed(step)
"""
    items = items_of(record_probed(directory, script, RLSCOPE_INTERCEPT="off"))
    kinds = Counter(items["kind"].tolist())
    assert kinds[ENTER] == kinds[EXIT]
    assert set(probes_of(items)) == {EMPTY, IDLE_OPERATION, RECORDED_OPERATION}


def test_a_probe_leaves_a_pending_exception_alone(directory: str) -> None:
    script = """
_runtime.intercept_scan()

@rls.operation("failing")
def fail():
    raise KeyError("mine")

def turn():
    try:
        fail()
    except KeyError as error:
        assert error.args == ("mine",)
    else:
        raise SystemExit(1)

until_probed(turn)
"""
    assert set(probes_of(items_of(record_probed(directory, script)))) == set(range(5))


PROGRAM = (
    COMMON
    + """
import os
for _ in range(300_000): step()
print(os.environ.get("RLSCOPE_PROBES"))
"""
)


@pytest.mark.usefixtures("without_waits")
@pytest.mark.parametrize("options", [(), ("--no-probes",)])
def test_rls_prof_probes_by_default(
    traced: TracedPython, tmp_path: Path, options: tuple[str, ...]
) -> None:
    script = tmp_path / "program.py"
    script.write_text(PROGRAM)
    directory = str(tmp_path / "run")
    result = traced.run(*options, "-o", directory, traced.python, str(script))
    assert result.returncode == 0, result.stderr
    assert result.stdout == ("0\n" if options else "None\n")
    from support.process.recorded_child import read

    assert bool(probes_of(items_of(read(directory)))) == (not options)
