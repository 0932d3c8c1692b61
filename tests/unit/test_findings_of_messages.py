"""Advice on messages of processes, which they pickle for each other."""

from __future__ import annotations

import pytest
from support.files.loop_rows import FILE, LOOP_NS, Time, found, found_by, loop_rows
from support.files.relation_rows import SECOND, process, share

from rlscope.analysis.findings import serialization


def messages(
    *others: Time,
    pickled_ns: int = SECOND,
    wait_ns: int = 4 * SECOND,
    work_ns: int = SECOND,
    work: str = "simulation",
    slept_ns: int = 0,
    receives_ns: int = 0,
    reason: str = "process",
    text: str = "",
    read_ns: tuple[int, ...] = (),
    role: str = "worker",
):
    """A worker pickles 1,000 messages, for which the loop waits. `read_ns`: how long the loop
    unpickles each, and the worker each that it gets."""
    pickling = {"layer": "python", "operation": "(none)", "calls": 1000, "self_ns": pickled_ns}
    reading = {**pickling, "function": "pickle:loads"}
    wait = {"process_id": 0, "thread_id": 0, "kind": "pipe", "function": "posix.read"}
    state = {"process_id": 0, "stage": "loop", "operation": "(none)", "layer": "wait"}
    return loop_rows(
        Time("(none)", "wait", wait_ns - receives_ns, 4),
        Time("(none)", "wait", receives_ns, 3),
        *others,
        text=text,
        process=[process(0, 0, LOOP_NS, host_id=0, role="main"), process(1, 0, LOOP_NS, role=role)],
        idle=[{**state, "reason": reason, "duration_ns": wait_ns}],
        more_breakdown=[share(1, work, "python", work_ns, stage="whole")],
        wait=[
            {"process_id": 1, "kind": "sleep", "self_ns": slept_ns},
            {
                **wait,
                "operation": "(none)",
                "peer_process_id": 1,
                "count": 1000,
                "duration_ns": wait_ns,
                "self_ns": wait_ns,
            },
        ],
        native_call=[
            {**pickling, "process_id": 1, "function": "pickle:Pickler.dump"}
            | {"duration_ns": pickled_ns},
            {**pickling, "process_id": 1, "function": "gc:generation 2"}
            | {"duration_ns": 9 * SECOND},
            *(
                {**reading, "process_id": place, "duration_ns": 1000 * each}
                for place, each in enumerate(read_ns)
            ),
        ],
        operation=[
            {"operation_id": 0, "path": "update", "source": "automatic"},
            {"operation_id": 1, "path": "simulation", "source": "automatic"},
        ],
    )


def test_large_messages_are_worth_what_the_loop_waits_beside_the_steps():
    (finding,) = found(serialization.RULE, messages())
    assert (finding.file, finding.line) == (FILE, 4)
    assert "shared_memory" in finding.fix
    assert finding.price is not None
    assert finding.price.saving_ns == pytest.approx(4 * SECOND - SECOND - 1000 * 100_000)


def test_workers_of_a_loader_share_their_memory_already():
    (finding,) = found(serialization.RULE, messages(role="data loader worker"))
    assert "num_workers=0" in finding.fix


def test_the_line_is_the_one_that_takes_messages():
    """The one that sends waits longer."""
    text = "\n\npipe.recv()\npipe.send(1)\n"
    (finding,) = found(serialization.RULE, messages(receives_ns=SECOND, text=text))
    assert finding.line == 3


def test_reading_a_message_takes_longer_than_pickling_it():
    text = "\n\npipe.recv()\npipe.send(1)\n"
    reading = Time("(none)", "python", SECOND, 3)
    sending = Time("(none)", "python", SECOND, 4)
    trace = messages(reading, sending, receives_ns=SECOND, text=text)
    (finding,) = found(serialization.RULE, trace)
    assert finding.price is not None
    assert finding.price.saving_ns == pytest.approx(5 * SECOND - SECOND - 1000 * 100_000)


@pytest.mark.parametrize(("operation", "waits_ns"), [("saving", SECOND), ("(none)", 1000)])
def test_what_a_program_pickles_for_its_files_is_no_message(operation: str, waits_ns: int):
    """Whoever has its output reads a pipe, too."""
    trace = loop_rows(
        Time(operation, "python", 4 * SECOND, 3),
        Time("(none)", "wait", waits_ns, 4),
        wait=[
            {"process_id": 0, "thread_id": 0, "kind": "pipe", "function": "posix.write"}
            | {"operation": "(none)", "count": 9, "self_ns": waits_ns}
        ],
        idle=[
            {"process_id": 0, "stage": "loop", "operation": "(none)", "layer": "wait"}
            | {"reason": "process", "duration_ns": waits_ns}
        ],
        native_call=[
            {"process_id": 0, "layer": "python", "operation": operation}
            | {"function": "pickle:dump", "calls": 99, "duration_ns": 4 * SECOND}
        ],
    )
    assert found(serialization.RULE, trace) == []


def test_large_tasks_of_a_pool_are_worth_the_waits_for_its_threads():
    """The pool's threads pickle the tasks, and take the results."""
    pipe = {"thread_id": 1, "kind": "pipe", "function": "posix.write", "operation": "(none)"}
    pickled = {"layer": "python", "function": "pickle:Pickler.dump", "calls": 100}
    trace = loop_rows(
        Time("simulation", "wait", 4 * SECOND, 3),
        process=[process(0, 0, LOOP_NS, host_id=0, role="main"), process(1, 0, LOOP_NS)],
        idle=[
            {"process_id": 0, "stage": "loop", "operation": "simulation", "layer": "wait"}
            | {"reason": "thread", "duration_ns": 4 * SECOND}
        ],
        wait=[{**pipe, "process_id": 0, "peer_process_id": 1, "count": 9, "self_ns": SECOND}],
        more_breakdown=[share(1, "simulation", "python", SECOND, stage="whole")],
        native_call=[
            {**pickled, "process_id": 0, "operation": "simulation", "duration_ns": 3 * SECOND},
            {**pickled, "process_id": 1, "operation": "(none)", "duration_ns": SECOND // 10},
        ],
    )
    (finding,) = found(serialization.RULE, trace)
    assert "initializer" in finding.fix
    assert finding.price is not None
    assert finding.price.saving_ns == pytest.approx((3 + 4 - 1) * SECOND - 100 * 100_000)


def test_small_messages_are_not():
    assert found(serialization.RULE, messages(pickled_ns=SECOND // 10)) == []


@pytest.mark.parametrize(
    ("read_ns", "are_brief"),
    [
        ((20_000, 20_000), True),
        ((20_000, 13_000), False),  # longer than a command
        ((100_000, 100_000), False),  # commands are large, too
        ((20_000,), False),  # nobody asks
    ],
)
def test_messages_that_take_as_long_as_commands_are_not_worth_shared_memory(read_ns, are_brief):
    assert (found(serialization.RULE, messages(read_ns=read_ns)) == []) == are_brief


@pytest.mark.parametrize(
    "sender",
    [
        {"work_ns": 4 * SECOND},
        {"work_ns": SECOND, "slept_ns": 3 * SECOND},  # a device that takes its time
        {"work_ns": 5 * SECOND, "work": "(none)"},  # a loader: its pickling is no work
        {"reason": "thread"},  # a thread beside the loop takes the messages
    ],
)
def test_a_loop_that_waits_for_the_work_itself_wins_nothing(sender):
    assert found(serialization.RULE, messages(**sender)) == []


def test_the_pickling_of_a_loader_is_none_of_its_work():
    (finding,) = found(serialization.RULE, messages(work_ns=2 * SECOND, work="(none)"))
    assert finding.price is not None
    assert finding.price.saving_ns == pytest.approx(4 * SECOND - SECOND - 1000 * 100_000)


def pooled(*worked_s: float, lived_ns: int = LOOP_NS):
    """6 s in which the loop waits for a pool, whose workers work for so long."""
    workers = [
        process(number, 0, lived_ns, parent_process_id=0, name=f"pool worker {number}")
        for number, _ in enumerate(worked_s, 1)
    ]
    return loop_rows(
        Time("simulation", "wait", 6 * SECOND, 5),
        process=[process(0, 0, LOOP_NS, host_id=0), *workers],
        more_breakdown=[
            share(number, "(none)", "wait", 7 * SECOND, stage="whole")
            for number, _ in enumerate(worked_s, 1)
        ],
        wait=[
            {"process_id": number, "kind": kind, "peer_process_id": peer, "self_ns": ns}
            for number, each in enumerate(worked_s, 1)
            for kind, peer, ns in (
                ("pipe", 0, round((7 - each) * SECOND) - 1),
                ("semaphore", None, 1),
                ("sleep", None, round(each * SECOND)),  # a simulator's
            )
        ],
    )


def test_a_pool_that_gives_one_worker_most_of_the_work():
    (finding,) = found_by("uneven_pool", pooled(6, 3, 3))
    assert (finding.file, finding.line, finding.operation) == (FILE, 5, "simulation")
    assert finding.price is not None
    assert finding.price.saving_ns == pytest.approx(0.95 * 6 * (1 - 4 / 6) * SECOND)


def test_workers_of_one_round_are_no_pool():
    assert found_by("uneven_pool", pooled(6, 3, 3, lived_ns=LOOP_NS // 3)) == []


@pytest.mark.parametrize("worked_s", [(5, 4, 4, 4), (6,), ()])
def test_pools_whose_workers_work_alike(worked_s):
    assert found_by("uneven_pool", pooled(*worked_s)) == []
