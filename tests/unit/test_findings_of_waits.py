"""Advice on a disk, threads of operators, garbage, and environments as programs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from support.files.loop_rows import FILE, LOOP_NS, Time, found, loop_rows
from support.files.relation_rows import SECOND, process

from rlscope.analysis.findings import (
    disk_wait,
    garbage_collection,
    many_threads,
    outside_environment,
)

# ---- disk ----------------------------------------------------------------------------------------


def logging(in_loop_ns: int, *others: Time, reason: str = "disk", text: str = "", **changes: Any):
    """Waits of 3 s in all threads; the loop waits so long, for `reason`."""
    wait = {"process_id": 0, "thread_id": 0, "kind": "disk", "function": "posix.fsync"}
    times = {"count": 500, "duration_ns": 3 * SECOND, "self_ns": 3 * SECOND}
    state = {"process_id": 0, "stage": "loop", "operation": "(none)", "layer": "wait"}
    return loop_rows(
        Time("(none)", "wait", in_loop_ns, 4),
        *others,
        text=text,
        wait=[{**wait, **times, "operation": "(none)", **changes}],
        idle=[{**state, "reason": reason, "duration_ns": in_loop_ns}],
    )


def test_a_loop_that_waits_for_the_disk_is_named():
    (finding,) = found(disk_wait.RULE, logging(3 * SECOND))
    assert (finding.file, finding.line) == (FILE, 4)
    assert finding.price is not None
    assert finding.price.saving_ns == 3 * SECOND + 500 * 25_000


def test_what_takes_longer_to_make_than_to_write_is_named_so():
    beside = Time("(none)", "python", 4 * SECOND, 2)
    text = "def save(rows):\n    pickle.dump(rows, file)\n\n    os.fsync(file)\n"
    (finding,) = found(disk_wait.RULE, logging(3 * SECOND, beside, text=text))
    assert finding.title.startswith("making what is written to a file takes")


def test_a_loop_that_waits_for_what_a_file_holds_does_not_write():
    beside = Time("(none)", "python", SECOND, 2)
    text = "def load(path):\n    file = open(path)\n\n    return file.read()\n"
    reading = logging(3 * SECOND, beside, text=text, function="_io.FileIO.readall")
    (finding,) = found(disk_wait.RULE, reading)
    assert finding.title.startswith("reading from the disk takes")
    assert finding.price is not None
    assert finding.price.saving_ns == 3 * SECOND + 500 * 25_000


def test_code_after_shorter_waits_is_slowed_down_less():
    (finding,) = found(disk_wait.RULE, logging(3 * SECOND, count=30_000))
    assert finding.price is not None
    assert finding.price.saving_ns == 3 * SECOND + 30_000 * 10_000  # 100 of 250 us


def test_a_finding_takes_no_more_than_the_loop():
    beside = Time("(none)", "python", SECOND, 2)
    text = "def note(row):\n    file.write(row)\n\n    os.fsync(file)\n"
    (finding,) = found(disk_wait.RULE, logging(9 * SECOND, beside, text=text))
    assert finding.title == "writing to the disk takes 100.0 % of the loop"


def test_code_after_brief_waits_finds_its_caches():
    (finding,) = found(disk_wait.RULE, logging(3 * SECOND, count=100_000))
    assert finding.price is not None
    assert finding.price.saving_ns == 3 * SECOND


def test_waits_of_a_thread_beside_the_loop_are_worth_nothing():
    """The loop waits for something else, as for a lock that the writing thread gives up."""
    assert found(disk_wait.RULE, logging(3 * SECOND, reason="thread")) == []
    (finding,) = found(disk_wait.RULE, logging(1_000_000))
    assert finding.price is not None
    assert finding.price.saving_ns == pytest.approx(1_000_000, rel=0.01)


def test_what_else_the_function_does_with_files_is_a_part():
    text = "def note(row):\n    file.write(row)\n    row.sort()\n    os.fsync(file)\nos.remove(a)\n"
    beside = (Time("(none)", "python", SECOND, line) for line in (2, 3, 5))
    (finding,) = found(disk_wait.RULE, logging(3 * SECOND, *beside, text=text))
    assert finding.price is not None
    assert finding.price.saving_ns == 4 * SECOND + 500 * 25_000


@pytest.mark.parametrize("silent", [{"count": 2}, {"kind": "pipe"}])
def test_a_few_waits_or_others_are_no_logging(silent):
    assert found(disk_wait.RULE, logging(3 * SECOND, **silent)) == []


# ---- threads -------------------------------------------------------------------------------------


def threads(
    *,
    others_ns: int | None,
    blocked_ns: int | None,
    text: str = "torch.set_num_threads(16)\n",
    library: str = "torch._C",
    file: str = FILE,
):
    cpu_ns = None if others_ns is None else 8 * SECOND + others_ns
    state = {"process_id": 0, "stage": "loop", "operation": "update", "layer": "framework"}
    blocked = {"readings": 400, "blocked_low_ns": 0, "blocked_high_ns": LOOP_NS // 2}
    return loop_rows(
        Time("update", "framework", 8 * SECOND, 3),
        source_text=[{"file": file, "line": 1, "text": text}],
        process=[process(0, 0, LOOP_NS, host_id=0, cpu_ns=cpu_ns)],
        thread=[{"process_id": 0, "thread_id": 0, "running_ns": 8 * SECOND}],
        blocked=[{**state, **blocked, "duration_ns": 8 * SECOND, "blocked_ns": blocked_ns}],
        native_call=[
            {"process_id": 0, "function": f"{name}:run", "layer": "framework", "self_ns": ns}
            for name, ns in ((library, 2 * SECOND), ("torch._C", SECOND))
        ],
    )


def test_operators_that_wait_for_their_threads_are_named():
    (finding,) = found(many_threads.RULE, threads(others_ns=5 * SECOND, blocked_ns=2 * SECOND))
    assert (finding.file, finding.line) == (FILE, 1)
    price = finding.price
    assert price is not None
    # One thread does the work of all: half of the waits, and at most all that the others take.
    assert (price.saving_ns, price.high_ns) == (SECOND, 5 * SECOND)


def test_a_file_that_only_sets_up_says_how_many_threads_there_are():
    trace = threads(others_ns=5 * SECOND, blocked_ns=2 * SECOND, file="/me/set_up.py")
    (finding,) = found(many_threads.RULE, trace)
    assert (finding.file, finding.line) == ("/me/set_up.py", 1)


def test_without_a_line_that_sets_threads_the_longest_line_is_named():
    trace = threads(others_ns=5 * SECOND, blocked_ns=2 * SECOND, text="")
    (finding,) = found(many_threads.RULE, trace)
    assert (finding.file, finding.line) == (FILE, 3)


@pytest.mark.parametrize(
    "silent",
    [
        {"others_ns": 5 * SECOND, "blocked_ns": 0},  # they work for the operators
        {"others_ns": SECOND // 10, "blocked_ns": 2 * SECOND},  # there are none
        {"others_ns": 5 * SECOND, "blocked_ns": None},  # nobody asked the kernel
        {"others_ns": None, "blocked_ns": 2 * SECOND},  # the process was killed
        # These compute in threads of their own only.
        {"others_ns": 5 * SECOND, "blocked_ns": 2 * SECOND, "library": "tensorflow.python._tfe"},
        {"others_ns": 5 * SECOND, "blocked_ns": 2 * SECOND, "library": "jaxlib._jax"},
    ],
)
def test_threads_that_work_are_not(silent: dict[str, Any]):
    assert found(many_threads.RULE, threads(**silent)) == []


def crowded(
    *,
    others_ns: int = 2 * SECOND,
    runnable_ns: int = 6 * SECOND,
    iterations: int = 40,
    quick_entries: int = 1,
    cpu: str = "cpu_ns",
    text: str = "",
):
    """A thread runs for 2 s. Each iteration is in operators for 200 ms, and two of them for 5 ms.
    They enter one operation, those two as often as `quick_entries` says."""
    times = [200_000_000] * (iterations - 2) + [5_000_000] * 2
    of_process = {"process_id": 0, "iteration": 0, "complete": True, "source": "automatic"}
    state = {"operation": "update", "layer": "framework", "iteration_source": "automatic"}
    counts = [1] * (iterations - 2) + [quick_entries] * 2
    load = {"host_id": 0, "process_id": 0, "metric": "cpu_percent", "start_ns": 0}
    all_ns = 2 * SECOND + others_ns
    return loop_rows(
        Time("update", "framework", 8 * SECOND, 3),
        text=text,
        process=[process(0, 0, LOOP_NS, host_id=0, cpu_ns=all_ns if cpu == "cpu_ns" else None)],
        machine_sample=[{**load, "value": 100 * all_ns / LOOP_NS}] if cpu == "load" else [],
        thread=[
            {"process_id": 0, "thread_id": 0, "running_ns": 2 * SECOND, "runnable_ns": runnable_ns}
        ],
        blocked=[
            {"process_id": 0, "stage": "loop", "layer": "framework", "duration_ns": 8 * SECOND}
        ],
        iteration=[
            {**of_process, "iteration": number, "start_ns": 0, "duration_ns": ns}
            for number, ns in enumerate(times)
        ],
        iteration_breakdown=[
            {**of_process, **state, "iteration": number, "duration_ns": ns}
            for number, ns in enumerate(times)
        ],
        operation_instance=[
            {"process_id": 0, "operation_id": 0, "iteration": number}
            for number, count in enumerate(counts)
            for _ in range(count)
        ],
    )


@pytest.mark.parametrize("cpu", ["cpu_ns", "load"])
def test_threads_of_operators_on_busy_cpus_are_named(cpu: str):
    (finding,) = found(many_threads.RULE, crowded(cpu=cpu))
    assert "lacks a CPU for 75.0 %" in finding.title
    price = finding.price
    assert price is not None
    # Its quickest iterations take 5 of 190.25 ms; with a quarter of a CPU, which the program gets,
    # they might take four times as long.
    quick = 5 / 190.25
    expected = [8 * SECOND * (1 - part * quick) for part in (4, 2.5, 1)]
    assert [price.low_ns, price.saving_ns, price.high_ns] == pytest.approx(expected)


def test_quick_iterations_that_do_something_else_show_nothing():
    (finding,) = found(many_threads.RULE, crowded(quick_entries=9))
    assert finding.price is not None
    assert finding.price.high_ns == 0


@pytest.mark.parametrize(
    ("text", "won"),
    [
        ("torch.set_num_threads(16)\n", 0.6),
        ("torch.set_num_threads(2)\n", 0),
        ("THREADS = 16\ntorch.set_num_threads(THREADS)\n", 0.6),
        ("def set_up(threads=16):\n    torch.set_num_threads(threads)\n", 0.6),
    ],
)
def test_more_threads_than_cpus_disturb_each_other_in_all_iterations(text, won):
    (finding,) = found(many_threads.RULE, crowded(quick_entries=9, text=text))
    assert finding.price is not None
    assert finding.price.saving_ns == pytest.approx(won * 8 * SECOND)


@pytest.mark.parametrize(
    "silent",
    [
        {"runnable_ns": SECOND // 10},  # the CPUs have nothing else to do
        {"others_ns": SECOND // 10},  # one thread does all the work
        {"iterations": 19},
        {"cpu": "unknown"},
    ],
)
def test_busy_cpus_alone_say_nothing_about_threads(silent: dict[str, Any]):
    assert found(many_threads.RULE, crowded(**silent)) == []


# ---- garbage -------------------------------------------------------------------------------------


def collecting(*, text: str = "", reason: str = "collection", young_ns: int = 0):
    state = {"process_id": 0, "stage": "loop", "operation": "update", "layer": "python"}
    call = {"process_id": 0, "operation": "update", "calls": 1}
    return loop_rows(
        Time("update", "python", 6 * SECOND, 4),
        text=text,
        idle=[{**state, "reason": reason, "duration_ns": 3 * SECOND}],
        native_call=[
            {**call, "function": "gc:generation 2", "self_ns": SECOND},
            {**call, "function": "gc:generation 1", "self_ns": young_ns},
        ],
    )


def test_collections_are_named_at_the_line_of_the_operation_with_most_of_them():
    (finding,) = found(garbage_collection.RULE, collecting())
    assert (finding.operation, finding.line) == ("update", 4)
    assert "gc.collect" not in finding.fix
    assert finding.price is not None
    assert finding.price.saving_ns == pytest.approx(0.95 * 3 * SECOND)


def test_collections_of_new_objects_become_rarer():
    """By how much the run does not say."""
    (finding,) = found(garbage_collection.RULE, collecting(young_ns=2 * SECOND))
    assert finding.price is not None
    assert finding.price.saving_ns == pytest.approx((0.95 + 0.5 * 2) * SECOND)


def test_collections_that_the_program_asks_for_are_named_where_it_does():
    text = "batch = rollout.collect()\nupdate(batch)\ngc.collect()\n"
    (finding,) = found(garbage_collection.RULE, collecting(text=text))
    assert (finding.file, finding.line) == (FILE, 3)
    assert "gc.collect" in finding.fix


def test_a_loop_that_collects_nothing_gets_no_advice():
    assert found(garbage_collection.RULE, collecting(reason="python")) == []


# ---- programs ------------------------------------------------------------------------------------


def outside(
    *,
    role: str = "program",
    wait_ns: int = SECOND,
    steps: int = 20_000,
    more: Iterable[Time] = (),
    text: str = "",
):
    wait = {"process_id": 0, "kind": "pipe", "operation": "simulation", "peer_process_id": 1}
    return loop_rows(
        Time("simulation", "wait", wait_ns, 4),
        *more,
        text=text,
        process=[process(0, 0, LOOP_NS, host_id=0, role="main"), process(1, 0, LOOP_NS, role=role)],
        wait=[{**wait, "count": steps, "duration_ns": wait_ns, "self_ns": wait_ns}],
    )


def test_the_function_that_waits_makes_the_messages():
    text = (
        "def ask(self, command):\n    words = dumps(command)\n    self.out.write(words)\n"
        "    return self.answer.readline()\n\n\nseen = compute(ask(1))\n"
    )
    plain, talking = (
        found(outside_environment.RULE, outside(more=more, text=text))[0].price
        for more in ((), [Time("simulation", "python", SECOND, line) for line in (2, 7)])
    )
    assert plain is not None
    assert talking is not None
    assert talking.saving_ns == pytest.approx(plain.saving_ns + 0.9 * SECOND)


def test_steps_that_are_messages_to_a_program_are_worth_the_messages():
    (finding,) = found(outside_environment.RULE, outside(wait_ns=3 * SECOND))
    assert (finding.file, finding.line, finding.operation) == (FILE, 4, "simulation")
    assert finding.price is not None
    assert finding.price.saving_ns == 20_000 * 100_000


def test_what_the_program_works_itself_cannot_be_won():
    (finding,) = found(outside_environment.RULE, outside(wait_ns=5 * SECOND, steps=100))
    assert finding.price is not None
    assert finding.price.high_ns <= 100 * 200_000


@pytest.mark.parametrize("silent", [{"role": "environment worker"}, {"steps": 3}])
def test_workers_and_a_few_messages_are_not(silent):
    assert found(outside_environment.RULE, outside(**silent)) == []
