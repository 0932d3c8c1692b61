"""Advice on threads beside the loop, which hold the interpreter or a lock."""

from __future__ import annotations

import ast

import pytest
from support.files.loop_rows import FILE, LOOP_NS, Time, found, loop_rows
from support.files.relation_rows import SECOND, Relations, process

from rlscope.analysis.findings import cheap_threads, many_threads, thread_handoffs, thread_wait
from rlscope.analysis.source_code import Source
from rlscope.analysis.thread_code import line_in_thread

GIL = {"kind": "gil", "function": "the interpreter"}
LOCK = {"kind": "lock", "function": "_thread.lock.__enter__"}
TARGET = """\
import threading

def watch():
    seen = []
    while True:
        seen.sort()

def train():
    threading.Thread(target=watch).start()
"""


def waits(
    *,
    text: str = "",
    reason: str = "thread",
    count: int = 500,
    runnable_ns: int = 0,
    cpu_ns: int | None = None,
    **wait,
):
    """3 s in two operations. The loop's thread runs for 2 s; `cpu_ns` is of the process."""
    operations = ("update", "inference")
    ns = 3 * SECOND // 2
    each = {"process_id": 0, "thread_id": 0, "count": count // 2, "duration_ns": ns, "self_ns": ns}
    state = {"process_id": 0, "stage": "loop", "layer": "wait", "duration_ns": ns}
    return loop_rows(
        *(Time(operation, "wait", ns, 9) for operation in operations),
        text=text,
        thread=[
            {"process_id": 0, "thread_id": 0, "start_ns": 0, "running_ns": 2 * SECOND}
            | {"runnable_ns": runnable_ns},
            {"process_id": 0, "thread_id": 1, "start_ns": 5},
        ],
        process=[process(0, 0, LOOP_NS, host_id=0, cpu_ns=cpu_ns)],
        blocked=[{"process_id": 0, "stage": "loop", "layer": "framework", "duration_ns": SECOND}],
        wait=[{**each, **wait, "operation": operation} for operation in operations],
        idle=[{**state, "reason": reason, "operation": operation} for operation in operations],
    )


@pytest.mark.parametrize(("wait", "part"), [(GIL, 1), (LOCK, 0.9)])
def test_a_thread_that_holds_what_the_loop_needs_is_named_where_it_works(wait, part):
    (finding,) = found(thread_wait.RULE, waits(text=TARGET, **wait))
    assert (finding.file, finding.line) == (FILE, 6)
    assert finding.price is not None
    assert finding.price.saving_ns == pytest.approx(part * 3 * SECOND)


@pytest.mark.parametrize(
    ("runnable_s", "cpu_s", "lacked_s"),
    [(2, 9, 2), (6, 9, 4), (2, 4, 0), (2, None, 0)],  # 3 of the others' seconds are the waits
)
def test_a_thread_that_works_on_keeps_the_loop_from_a_cpu_too(runnable_s, cpu_s, lacked_s):
    trace = waits(
        text=TARGET,
        runnable_ns=runnable_s * SECOND,
        cpu_ns=None if cpu_s is None else cpu_s * SECOND,
        **GIL,
    )
    (finding,) = found(thread_wait.RULE, trace)
    assert finding.price is not None
    assert finding.price.saving_ns == pytest.approx((3 + lacked_s) * SECOND)
    assert ("lack the CPU" in finding.evidence) == (lacked_s > 0)
    assert found(many_threads.RULE, trace) == []  # it is no thread of an operator


def test_a_thread_that_asks_again_and_again_could_wait():
    text = TARGET.replace("seen.sort()", "if rows.empty(): continue")
    (finding,) = found(thread_wait.RULE, waits(text=text, **GIL))
    assert "get() of its queue" in finding.fix


def test_where_the_text_says_nothing_of_threads_the_line_that_waits_is_named():
    (finding,) = found(thread_wait.RULE, waits(**GIL))
    assert (finding.file, finding.line) == (FILE, 9)


@pytest.mark.parametrize(
    "silent",
    [
        {**GIL, "count": 20_000},  # a thread that writes needs it briefly
        {**GIL, "thread_id": 1},  # the thread waits for the loop
        {**GIL, "reason": "disk"},  # a thread waits for it, and the loop for a disk
        {"kind": "lock", "function": "_thread.lock.acquire"},  # an event, or a queue
        {"kind": "queue", "function": "_queue.SimpleQueue.get"},
    ],
)
def test_other_waits_are_for_no_holder(silent):
    assert found(thread_wait.RULE, waits(text=TARGET, **silent)) == []


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (TARGET, 6),
        ("class Watch(threading.Thread):\n    def run(self):\n        self.work()\n", 3),
        ("def work():\n    pass\npool.submit(work, 1)\n", 2),
        ("from there import work\nThread(target=work).start()\n", 2),
        ("class Runner(Base):\n    def run(self):\n        self.work()\n", None),
        ("this is no Python", None),
    ],
)
def test_the_line_that_a_thread_runs_is_read_from_the_text(text, line):
    try:
        tree = ast.parse(text)
    except SyntaxError:
        tree = None
    assert line_in_thread(Source(tree)) == line


HANDS = "net(state)\nitem = hand.get()\n"


def handing(*, count: int = 20_000, threads: int = 2, idle_s: float = 2, **changes):
    """2 s in which nobody works, while threads hand items to each other."""
    ns = round(idle_s * SECOND)
    each = {"process_id": 0, "stage": "loop", "function": "_thread.lock.acquire", "count": count}
    times = {"kind": "lock", "duration_ns": SECOND, "self_ns": SECOND, **changes}
    state = {"process_id": 0, "stage": "loop", "layer": "wait", "reason": "thread"}
    return loop_rows(
        Time("inference", "wait", 2 * SECOND, 1),
        Time("(none)", "wait", SECOND, 2),
        text=HANDS,
        wait=[{**each, **times, "thread_id": number} for number in range(threads)],
        idle=[{**state, "operation": "(none)", "duration_ns": ns}],
    )


def test_threads_that_hand_over_one_by_one_are_named_where_they_take():
    (finding,) = found(thread_handoffs.RULE, handing())
    assert (finding.file, finding.line) == (FILE, 2)
    assert finding.price is not None
    assert finding.price.saving_ns == pytest.approx(1.5 * 2 * SECOND)


@pytest.mark.parametrize(
    "silent",
    [
        {"count": 500},  # a thread works for long
        {"threads": 1},  # nobody waits for the loop
        {"kind": "gil"},  # they only share the interpreter
        {"function": "_thread.lock.__enter__"},  # somebody holds it
        {"idle_s": 0.5},  # another one works meanwhile
    ],
)
def test_other_threads_hand_over_nothing(silent):
    assert found(thread_handoffs.RULE, handing(**silent)) == []


def stepping(*, stepped_ms: int = 100, waited_s: int = 2, threads: int = 4) -> Relations:
    """3 s in simulation, of which the loop's thread waits for some, while others make 20 steps."""
    step = {"process_id": 0, "operation_id": 0, "self_ns": stepped_ms * SECOND // 1000}
    own = {"process_id": 0, "operation_id": 0, "thread_id": 0, "self_ns": 3 * SECOND // 10}
    return loop_rows(
        Time("simulation", "wait", waited_s * SECOND, 9),
        Time("simulation", "python", (3 - waited_s) * SECOND, 9),
        operation_instance=[
            *(own for _ in range(10)),
            *({**step, "thread_id": 1 + number % threads} for number in range(20)),
        ],
    )


def test_threads_that_step_for_less_than_it_takes_to_wake_them():
    (finding,) = found(cheap_threads.RULE, stepping())
    # The steps take 2 s, where the operation takes 3 s.
    assert finding.price is not None
    assert finding.price.saving_ns == pytest.approx(SECOND)
    assert (finding.file, finding.line, finding.operation) == (FILE, 9, "simulation")
    assert finding.title.startswith("4 threads step environments for 2.00 s in all")


@pytest.mark.parametrize("other", [{"stepped_ms": 151}, {"waited_s": 0}])
def test_threads_that_step_at_one_time(other):
    assert found(cheap_threads.RULE, stepping(**other)) == []
