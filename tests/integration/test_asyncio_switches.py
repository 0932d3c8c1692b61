"""Where a thread begins and ends to run a task is in the trace, to the step of the event loop."""

from __future__ import annotations

import json

from support.process.native_calls import PRELUDE
from support.process.recorded_child import TASK, Recorded, record

FOLLOW = PRELUDE + "_runtime.intercept_at_import(None, None, True)\n"

TWO_TASKS = """
import asyncio, json, time
steps = []
waits = []

def step(name):
    # A step of a task that annotates nothing while it runs.
    start = time.monotonic_ns()
    while time.monotonic_ns() - start < 3_000_000:
        pass
    steps.append((name, start, time.monotonic_ns()))

async def act(name):
    with rls.operation(name):
        for _ in range(3):
            step(name)
            await asyncio.sleep(0.02)

def watch_waits(selector):
    # Inside select() no task runs, however late this thread is scheduled.
    select = selector.select
    def timed(timeout):
        start = time.monotonic_ns()
        ready = select(timeout)
        waits.append((start, time.monotonic_ns()))
        return ready
    selector.select = timed

async def main():
    watch_waits(asyncio.get_running_loop()._selector)
    await asyncio.gather(act("a"), act("b"))

asyncio.run(main())
print(json.dumps([steps, waits]))
"""


def task_at(trace: Recorded, time_ns: int) -> int:
    """The task that the first thread's records say it ran at that time."""
    items = trace.reader.items(trace.process()["index"], trace.threads()[0])
    task = 0
    for kind, number, start_ns in zip(items["kind"], items["id"], items["time_ns"], strict=True):
        if start_ns > time_ns:
            break
        if kind == TASK:
            task = int(number)
    return task


def test_each_step_is_its_task_and_nothing_else_is(directory: str) -> None:
    """The steps themselves record nothing: without Context.run only annotations could tell."""
    trace = record(directory, FOLLOW + TWO_TASKS)
    steps, waits = json.loads(trace.output)
    tasks = {"a": set[int](), "b": set[int]()}
    for name, start_ns, end_ns in steps:
        tasks[name] |= {task_at(trace, (start_ns + end_ns) // 2)}
    assert all(len(numbers) == 1 and 0 not in numbers for numbers in tasks.values()), tasks
    assert tasks["a"] != tasks["b"]
    assert waits, "the loop never waited"
    assert {task_at(trace, time_ns) for wait in waits for time_ns in wait} == {0}


def test_the_trace_says_how_tasks_were_told_apart(directory: str) -> None:
    trace = record(directory, FOLLOW + TWO_TASKS)
    process = trace.process()
    said = [value for key, value in process["metadata"].items() if key == "asyncio"]
    (note,) = (json.loads(value) for value in said)
    assert note.endswith("every Context.run")


def test_tasks_without_annotations_leave_no_records(directory: str) -> None:
    trace = record(
        directory,
        FOLLOW
        + """
import asyncio

async def idle():
    await asyncio.sleep(0)

async def main():
    await asyncio.gather(*(idle() for _ in range(100)))

with rls.operation("loop"):
    asyncio.run(main())
""",
    )
    assert [what for what, _ in trace.records()] == ["enter", "exit"]


def test_an_exception_passes_through_context_run(directory: str) -> None:
    """Each Context was annotated before, so that both switches are recorded with it pending."""
    trace = record(
        directory,
        FOLLOW
        + """
import contextvars

def fail():
    with rls.operation("inside"):
        pass
    raise KeyError("mine")

context = contextvars.copy_context()
for _ in range(2):
    try:
        context.run(fail)
    except KeyError as error:
        assert error.args == ("mine",)
    else:
        raise AssertionError
try:
    context.run()
except TypeError:
    pass
""",
    )
    tasks = [subject for what, subject in trace.records() if what == "task"]
    assert tasks[0] != 0
    assert tasks[:4] == [tasks[0], 0, tasks[0], 0]
    assert tasks.count(0) * 2 == len(tasks)


def test_context_run_stays_what_it_is(directory: str) -> None:
    trace = record(
        directory,
        FOLLOW
        + """
import contextvars, inspect, pickle
variable = contextvars.ContextVar("variable", default=0)

def set_and_get(value, *, twice=False):
    variable.set(value)
    return variable.get() * (2 if twice else 1)

context = contextvars.copy_context()
assert context.run(set_and_get, 3, twice=True) == 6
assert variable.get() == 0 and context[variable] == 3
assert contextvars.Context.run.__name__ == "run"
assert repr(contextvars.Context.run) == "<method 'run' of '_contextvars.Context' objects>" or (
    repr(contextvars.Context.run) == "<method 'run' of 'Context' objects>"
), repr(contextvars.Context.run)
try:
    context.run(lambda: context.run(print))
except RuntimeError as error:
    assert "already entered" in str(error)
else:
    raise AssertionError
_runtime.intercept_unpatch()
assert context.run(set_and_get, 4) == 4
print("done")
""",
    )
    assert trace.output == "done\n"
