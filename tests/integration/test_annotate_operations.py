"""What operations leave in the trace: each test is a program and what was recorded of it."""

from __future__ import annotations

import pytest
from support.process.recorded_child import record


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
