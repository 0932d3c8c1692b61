"""What annotations of threads, asyncio tasks, fork children and subinterpreters leave in the trace.

Each has a stack of its own.
"""

from __future__ import annotations

import json

from support.process.recorded_child import record


def test_threads_have_operations_of_their_own(directory: str) -> None:
    trace = record(
        directory,
        """
        import threading
        import rlscope as rls

        inside = threading.Barrier(2)

        def work(name):
            with rls.operation(name):
                inside.wait()
                inside.wait()

        threads = [threading.Thread(target=work, args=(f"work {i}",), name=f"actor-{i}")
                   for i in range(2)]
        with rls.operation("main"):
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        """,
    )
    main, *others = trace.threads()
    assert trace.operations(thread=main) == ["+main", "-main"]
    assert sorted(trace.operations(thread=other) for other in others) == [
        ["+work 0", "-work 0"],
        ["+work 1", "-work 1"],
    ]
    names = trace.reader.threads(trace.process()["index"])["name"]
    assert sorted(names)[-2:] == ["actor-0", "actor-1"] or set(names) >= {"actor-0", "actor-1"}


def test_asyncio_tasks_are_told_apart(directory: str) -> None:
    trace = record(
        directory,
        """
        import asyncio
        import rlscope as rls

        async def act(name):
            with rls.operation(name):
                await asyncio.sleep(0)
                with rls.operation(f"{name} inner"):
                    await asyncio.sleep(0)

        async def main():
            await asyncio.gather(act("a"), act("b"))

        with rls.operation("loop"):
            asyncio.run(main())
        """,
    )
    by_task: dict[int, list[str]] = {}
    task = 0
    for what, subject in trace.records():
        if what == "task":
            task = subject
        else:
            by_task.setdefault(task, []).append(f"{what} {subject}")
    assert by_task.pop(0) == ["enter loop", "exit loop"]
    assert sorted(by_task.values()) == [
        [f"enter {name}", f"enter {name} inner", f"exit {name} inner", f"exit {name}"]
        for name in "ab"
    ]
    metadata = trace.process()["metadata"]
    assert json.loads(metadata["asyncio"]).endswith("every Context.run")


def test_a_context_at_the_address_of_a_dead_one_is_a_new_task(directory: str) -> None:
    trace = record(
        directory,
        """
        import contextvars
        import rlscope as rls

        operation = rls.operation("step")

        def step():
            with operation:
                pass

        addresses = set()
        for _ in range(200):
            context = contextvars.copy_context()
            addresses.add(id(context))
            context.run(step)
            del context
        assert len(addresses) < 200  # else nothing was tested
        """,
    )
    tasks = [subject for what, subject in trace.records() if what == "task"]
    assert len(set(tasks) - {0}) == 200


def test_a_task_keeps_its_number_across_switches(directory: str) -> None:
    trace = record(
        directory,
        """
        import contextvars
        import rlscope as rls

        def step():
            with rls.operation("step"):
                pass

        first, second = contextvars.copy_context(), contextvars.copy_context()
        for context in (first, second, first, second):
            context.run(step)
        step()
        """,
    )
    tasks = [subject for what, subject in trace.records() if what == "task"]
    first, second = tasks[0], tasks[2]
    assert first != second
    assert tasks == [first, 0, second, 0, first, 0, second, 0]


def test_a_decorated_coroutine_is_open_while_it_waits(directory: str) -> None:
    trace = record(
        directory,
        """
        import asyncio, inspect
        import rlscope as rls

        @rls.operation("request")
        async def request():
            await asyncio.sleep(0)
            return 7

        @rls.operation("stream")
        async def stream():
            yield 1
            yield 2

        async def main():
            assert await request() == 7
            assert [item async for item in stream()] == [1, 2]

        assert inspect.iscoroutinefunction(request)
        assert inspect.isasyncgenfunction(stream)
        asyncio.run(main())
        """,
    )
    assert trace.operations() == ["+request", "-request", "+stream", "-stream"]


def test_naming_a_thread_runs_no_python(directory: str) -> None:
    """A Ctrl-C that is pending would be raised in it, and lost."""
    trace = record(
        directory,
        """
        import rlscope as rls
        import threading

        class Actor(threading.Thread):
            name = property(lambda self: print("asked for the name"), threading.Thread.name.fset)
            def run(self):
                with rls.operation("act"):
                    pass

        actor = Actor(name="actor")
        actor.start()
        actor.join()
        """,
    )
    assert "asked" not in trace.output
    assert "actor" in trace.reader.threads(trace.process()["index"])["name"]


def test_a_fork_child_begins_outside_operations_phases_and_tasks(directory: str) -> None:
    trace = record(
        directory,
        """
        import contextvars, os
        import rlscope as rls

        def body():
            with rls.phase("training"), rls.operation("parent"):
                child = os.fork()
                with rls.operation("child" if child == 0 else "after"):
                    pass
            if child:
                os.waitpid(child, 0)

        contextvars.copy_context().run(body)
        """,
    )
    assert trace.operations(0) == ["+parent", "+after", "-after", "-parent"]
    child = trace.records(1)
    task, outside = [subject for what, subject in child if what == "task"]
    assert (task != 0, outside) == (True, 0)
    assert [record for record in child if record[0] != "task"] == [
        ("enter", "child"),
        ("exit", "child"),
        ("exit", "parent"),
    ]


def test_subinterpreters_have_annotations_of_their_own(directory: str) -> None:
    trace = record(
        directory,
        """
        import rlscope as rls
        try:
            import _interpreters as interpreters
        except ImportError:
            import _xxsubinterpreters as interpreters
        code = (
            "import rlscope as rls\\n"
            "@rls.operation('decorated')\\n"
            "def function(): pass\\n"
            "with rls.operation('inside'): function()\\n"
        )
        for _ in range(2):
            with rls.operation("main"):
                number = interpreters.create()
                interpreters.run_string(number, code)
                interpreters.destroy(number)
        """,
    )
    inside = ["+inside", "+decorated", "-decorated", "-inside"]
    assert trace.operations() == 2 * ["+main", *inside, "-main"]
    assert trace.process()["python_end_ns"] is not None
