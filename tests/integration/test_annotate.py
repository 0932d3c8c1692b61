"""What annotations leave in the trace: each test is a program and what was recorded of it."""

from __future__ import annotations

import json

import pytest
from recorded_child import record

IMPORT = "import rlscope as rls\n"


def test_operations_nest(directory: str) -> None:
    trace = record(
        directory,
        """
        import rlscope as rls
        with rls.operation("train"):
            with rls.operation("inference"):
                pass
            with rls.operation("backprop"):
                pass
        """,
    )
    assert trace.operations() == [
        "+train", "+inference", "-inference", "+backprop", "-backprop", "-train",
    ]  # fmt: skip


def test_one_object_is_entered_again_inside_itself(directory: str) -> None:
    trace = record(
        directory,
        """
        import rlscope as rls
        search = rls.operation("search")

        @search
        def visit(depth):
            if depth:
                with search:
                    visit(depth - 1)

        visit(2)
        """,
    )
    assert trace.operations() == 5 * ["+search"] + 5 * ["-search"]


def test_an_exception_leaves_the_operation(directory: str) -> None:
    trace = record(
        directory,
        """
        import rlscope as rls

        @rls.operation("decorated")
        def fail():
            raise KeyError("mine")

        for attempt in range(2):
            try:
                with rls.operation("block"):
                    fail()
            except KeyError as error:
                assert error.args == ("mine",)
        """,
    )
    assert trace.operations() == 2 * ["+block", "+decorated", "-decorated", "-block"]


def test_an_exception_survives_an_exit_that_finds_a_new_window(directory: str) -> None:
    """The exit is recorded with the exception pending, under a name that is no UTF-8."""
    trace = record(
        directory,
        r"""
        import contextvars
        import rlscope as rls

        @rls.operation("late \udcff")
        def fail():
            rls.start()
            raise KeyError("mine")

        rls.stop()
        try:
            contextvars.copy_context().run(fail)
        except KeyError as error:
            assert error.args == ("mine",)
        else:
            raise AssertionError
        """,
    )
    assert trace.operations() == ["-late ?"]


def test_a_generator_leaves_operations_open_where_it_yields(directory: str) -> None:
    trace = record(
        directory,
        """
        import rlscope as rls

        def batches():
            with rls.operation("load"):
                yield 1
            with rls.operation("augment"):
                yield 2

        for batch in batches():
            with rls.operation(f"use {batch}"):
                pass
        """,
    )
    assert trace.operations() == [
        "+load", "+use 1", "-use 1", "-load", "+augment", "+use 2", "-use 2", "-augment",
    ]  # fmt: skip


def test_a_decorated_generator_is_open_from_its_first_step_to_its_end(directory: str) -> None:
    trace = record(
        directory,
        """
        import rlscope as rls

        @rls.operation("rollout")
        def rollout():
            got = yield 1
            assert got == "sent"
            try:
                yield 2
            except ValueError:
                yield 3
            return "done"

        def outer():
            result = yield from rollout()
            assert result == "done"

        generator = outer()
        with rls.operation("before"):
            pass
        assert next(generator) == 1
        assert generator.send("sent") == 2
        assert generator.throw(ValueError()) == 3
        with rls.operation("between"):
            pass
        assert list(generator) == []
        closed = rollout()
        next(closed)
        closed.close()
        """,
    )
    assert trace.operations() == [
        "+before", "-before", "+rollout", "+between", "-between", "-rollout",
        "+rollout", "-rollout",
    ]  # fmt: skip


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
    assert json.loads(metadata["asyncio"]) == "tasks are told apart at every Context.run"


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


def test_set_and_end_operation(directory: str) -> None:
    trace = record(
        directory,
        """
        import rlscope as rls
        rls.set_operation("outer")
        rls.set_operation("inner")
        rls.end_operation("outer")
        rls.end_operation("inner")
        """,
    )
    assert trace.operations() == ["+outer", "+inner", "-outer", "-inner"]


def test_a_phase_brings_back_the_one_before(directory: str) -> None:
    trace = record(
        directory,
        """
        import rlscope as rls
        training = rls.phase("training")
        with rls.phase("collection"):
            with training:
                with training:
                    pass
        """,
    )
    assert [subject for what, subject in trace.records() if what == "phase"] == [
        "collection", "training", "training", "training", "collection", None,
    ]  # fmt: skip


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


def test_iterations_of_a_second_thread_are_ignored_and_counted(directory: str) -> None:
    trace = record(
        directory,
        """
        import threading
        import rlscope as rls
        for _ in range(3):
            rls.iteration()
        thread = threading.Thread(target=rls.iteration)
        thread.start()
        thread.join()
        """,
    )
    assert trace.records().count(("iteration", 0)) == 3
    losses = {row["kind"]: row["count"] for row in trace.reader.losses(trace.process()["index"])}
    assert losses["iteration_of_other_thread"] == 1


def test_progress_and_metadata(directory: str) -> None:
    trace = record(
        directory,
        """
        import rlscope as rls

        class Odd:
            def __repr__(self):
                raise RuntimeError

        rls.progress(50, 200)
        rls.progress(0.5, total=1)
        rls.metadata(env="CartPole-v1", lr=3e-4, layers=[64, 64], nan=float("nan"), odd=Odd())
        rls.metadata(env="Pong")
        """,
    )
    assert trace.records() == [("total", 200.0), ("done", 50.0), ("total", 1.0), ("done", 0.5)]
    metadata = {key: json.loads(text) for key, text in trace.process()["metadata"].items()}
    assert metadata["env"] == "Pong"
    assert metadata["lr"] == 3e-4
    assert metadata["layers"] == [64, 64]
    assert metadata["nan"] == "nan"
    assert metadata["odd"] == "<Odd>"


def test_process_name(directory: str) -> None:
    trace = record(directory, IMPORT + "rls.process('learner')")
    assert trace.process()["name"] == "learner"


def test_stop_and_start_make_windows(directory: str) -> None:
    trace = record(
        directory,
        """
        import rlscope as rls
        with rls.phase("training"):
            rls.stop()
            with rls.operation("unseen"):
                pass
            rls.start()
            rls.start()
            with rls.operation("seen"):
                pass
        """,
    )
    assert trace.records() == [
        ("phase", "training"),
        ("stop", 0),
        ("start", 0),
        ("phase", "training"),
        ("enter", "seen"),
        ("exit", "seen"),
        ("phase", None),
    ]


def test_a_window_of_the_wrapper_knows_its_phase(directory: str) -> None:
    trace = record(
        directory,
        """
        import rlscope as rls
        with rls.phase("training"):
            for number in range(3):
                rls.iteration()
                with rls.operation(f"step {number}"):
                    pass
        """,
        recording=False,
        delay_iterations=1,
        iterations=1,
    )
    assert trace.operations() == ["+step 1", "-step 1"]
    assert ("phase", "training") in trace.records()


def test_exit_after_iterations_raises_in_the_main_thread(directory: str) -> None:
    trace = record(
        directory,
        """
        import sys
        import rlscope as rls
        try:
            for number in range(10):
                rls.iteration()
        except SystemExit as exit:
            print(number, exit.code)
        """,
        exit_after=4,
    )
    assert trace.output == "4 0\n"


def test_exit_after_iterations_of_a_worker_ends_the_program(directory: str) -> None:
    trace = record(
        directory,
        """
        import threading, time
        import rlscope as rls

        def loop():
            for number in range(1_000_000):
                print(number, flush=True)
                rls.iteration()

        worker = threading.Thread(target=loop)
        worker.start()
        worker.join()
        for _ in range(1000):
            time.sleep(0.01)
        print("never")
        """,
        exit_after=2,
    )
    assert trace.output == "0\n1\n2\n"


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


def test_names_are_cut_and_surrogates_replaced(directory: str) -> None:
    trace = record(
        directory,
        r"""
        import rlscope as rls
        for name in ("\udcff!", "é" * 600, "x" * 2000, ""):
            with rls.operation(name):
                pass
        """,
    )
    entered = [name[1:] for name in trace.operations()[::2]]
    assert entered == ["?!", "é" * 512, "x" * 1024, ""]


def test_methods_static_methods_and_class_methods(directory: str) -> None:
    trace = record(
        directory,
        """
        import rlscope as rls

        class Agent:
            @rls.operation("act")
            def act(self, observation):
                return self, observation

            @rls.operation("static")
            @staticmethod
            def static(value):
                return value

            @classmethod
            @rls.operation("class")
            def make(cls):
                return cls()

            @rls.operation("property")
            def _value(self):
                return 5

            value = property(_value)

        agent = Agent.make()
        assert agent.act(3) == (agent, 3)
        assert Agent.act(agent, observation=4) == (agent, 4)
        assert Agent.static(6) == agent.static(6) == 6
        assert agent.value == 5
        """,
    )
    assert trace.operations()[::2] == ["+class", "+act", "+act", "+static", "+static", "+property"]


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


@pytest.mark.parametrize("fork", [False, True])
def test_many_names_and_many_records_arrive(directory: str, fork: bool) -> None:
    trace = record(
        directory,
        f"""
        import os
        import rlscope as rls
        if {fork} and os.fork():
            os.wait()
            os._exit(0)
        for number in range(20_000):
            with rls.operation(f"name {{number % 3000}}"):
                pass
        """,
    )
    entered = trace.operations(int(fork))[::2]
    assert entered == [f"+name {number % 3000}" for number in range(20_000)]
