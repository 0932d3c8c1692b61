"""Advice on what a loop tells people, and on processes that it starts again and again."""

from __future__ import annotations

import pytest
from support.files.loop_rows import FILE, LOOP_NS, Time, found, loop_rows
from support.files.relation_rows import SECOND, process

from rlscope import registry

LIBRARY = "/lib/python3/site-packages"
TORCH = f"{LIBRARY}/torch"


def rule(name: str):
    return registry.load(registry.FINDINGS, name)


LOGGED = """for step in steps:
    norm = grad.norm()
    if step % 1 == 0:
        for name, value in named:
            board.add_scalar(name, value.norm())
            board.add_scalar("again", value)
    train(board.add_scalar("loss", norm))
"""


def test_what_lines_compute_that_only_log_is_a_part_of_it():
    """A loop or an `if` around such calls, too, but no line that does something else."""
    own = (FILE, "Board.add_scalar")
    trace = loop_rows(
        *(Time("(none)", "python", SECOND // 2, line, (own,)) for line in (5, 6, 7)),
        *(Time("(none)", "framework", SECOND // 2, line) for line in (2, 4, 5, 7)),
        Time("(none)", "wait", SECOND, 5, (own,)),
        text=LOGGED,
    )
    (finding,) = found(rule("logging_calls"), trace)
    assert (finding.line, finding.operation) == (5, "(none)")
    assert finding.price is not None
    assert finding.price.saving_ns == pytest.approx(0.9 * 2.5 * SECOND)


@pytest.mark.parametrize("name", ["Policy.log_prob", "log_alpha", "login", "Logger.__init__"])
def test_names_that_look_like_logging_are_none(name):
    time = Time("(none)", "python", 2 * SECOND, 5, ((FILE, name),))
    assert found(rule("logging_calls"), loop_rows(time, text=LOGGED)) == []


@pytest.mark.parametrize(("started", "is_found"), [(40, True), (4, False)])
def test_a_loop_that_starts_processes_again_and_again(started, is_found):
    """Waits for their beginning and end count; a few processes are those that it needs."""
    inside = (("/lib/python3.11/multiprocessing/pool.py", "Pool.__init__"),)
    children = [
        process(1 + n, (n + 1) * SECOND // 10, LOOP_NS, parent_process_id=0) for n in range(started)
    ]
    instances = [{"process_id": 0, "operation_id": 0, "start_ns": ns} for ns in (0, LOOP_NS)]
    trace = loop_rows(
        Time("simulation", "wait", SECOND, 3, inside),
        Time("simulation", "python", SECOND, 3, inside),
        process=[process(0, 0, LOOP_NS, host_id=0), *children],
        operation_instance=instances,
    )
    findings = found(rule("process_starts"), trace)
    assert [finding.line for finding in findings] == ([3] if is_found else [])
    if is_found:
        assert findings[0].price is not None
        assert findings[0].price.saving_ns == pytest.approx(1.4 * 2 * SECOND)


@pytest.mark.parametrize(
    ("inside", "read", "began_ns", "saving_ns"),
    [
        (("/lib/python3.11/x.py", "play"), 40, SECOND, SECOND + 0.9 * 5 * SECOND),  # two work
        (("<frozen importlib._bootstrap>", "_find"), 20, SECOND, SECOND + 0.9 * 6 * SECOND),
        (("/lib/python3.11/multiprocessing/queues.py", "get"), 20, SECOND, SECOND * 6.4),
        (("/lib/python3.11/x.py", "play"), 19, SECOND, 1.4 * SECOND),  # of most nothing is known
        (("/lib/python3.11/x.py", "play"), 40, SECOND // 1000, 1.4 * SECOND),  # waits for messages
    ],
)
def test_what_the_loop_waits_for_processes_that_begin_counts(inside, read, began_ns, saving_ns):
    work = "/lib/python3.11/multiprocessing"
    pool, spawn = f"{work}/pool.py", (f"{work}/spawn.py", "prepare")
    run = (f"{work}/process.py", "BaseProcess.run")
    children = [process(1 + n, 1 + n, LOOP_NS, parent_process_id=0, host_id=0) for n in range(40)]
    instances = [{"process_id": 0, "operation_id": 0, "start_ns": ns} for ns in (0, LOOP_NS)]
    times = [
        Time("(none)", "python", SECOND // 20, 3, (run, inside)),
        Time("(none)", "python", began_ns, 3, (spawn,)),
    ]
    trace = loop_rows(
        Time("simulation", "python", SECOND, 3, ((pool, "Pool.__init__"),)),
        Time("simulation", "wait", 6 * SECOND, 4, ((pool, "Pool.map"),)),
        process=[process(0, 0, LOOP_NS, host_id=0), *children],
        operation_instance=instances,
        more_times=dict.fromkeys(range(1, 1 + read), times),
    )
    (finding,) = found(rule("process_starts"), trace)
    assert finding.price is not None
    assert finding.price.saving_ns == pytest.approx(saving_ns)


def test_programs_that_the_loop_waits_for_are_named_with_these_waits():
    """The wait for the end of a program lies in its run, and not in its start."""
    run = ("/lib/python3.11/subprocess.py", "run")
    start = ("/lib/python3.11/subprocess.py", "Popen.__init__")
    children = [process(1 + n, n * SECOND // 10, LOOP_NS, parent_process_id=0) for n in range(40)]
    trace = loop_rows(
        Time("simulation", "wait", 3 * SECOND, 3, (run,)),
        Time("simulation", "python", SECOND, 3, (run, start)),
        process=[process(0, 0, LOOP_NS, host_id=0), *children],
        operation_instance=[
            {"process_id": 0, "operation_id": 0, "start_ns": ns} for ns in (0, LOOP_NS)
        ],
    )
    (finding,) = found(rule("process_starts"), trace)
    assert "other programs" in finding.title
    assert finding.price is not None
    assert finding.price.saving_ns == pytest.approx(4 * SECOND)
