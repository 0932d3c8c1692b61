"""Operations as Python objects; the test process itself is not recorded."""

from __future__ import annotations

import contextlib
import copy
import gc
import inspect
import pickle
import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from support.process.recorded_child import run

import rlscope as rls
from rlscope import _runtime
from rlscope.recorder import stand_in


def documented(first: int, second: str = "x", *, third: float = 0.5) -> str:
    """What it does."""
    return f"{first}{second}{third}"


decorated = rls.operation("unit")(documented)


@rls.operation("module level")
def at_module_level() -> int:
    return 1


def test_one_object_per_name() -> None:
    class Name(str):
        pass

    operation = rls.operation("one")
    assert rls.operation("on" + "e"[:1]) is operation
    assert rls.operation(Name("one")) is operation
    assert type(operation.name) is str
    assert operation.name == "one"
    assert repr(operation) == "rlscope.operation('one')"


def test_with_returns_the_operation_and_lets_exceptions_through() -> None:
    operation = rls.operation("one")
    with operation as entered:
        assert entered is operation
    with pytest.raises(KeyError), operation:
        raise KeyError


def test_it_works_with_exit_stack_and_through_its_class() -> None:
    operation = rls.operation("one")
    with contextlib.ExitStack() as stack:
        assert stack.enter_context(operation) is operation
    assert type(operation).__enter__(operation) is operation
    assert type(operation).__exit__(operation, None, None, None) is None


@pytest.mark.parametrize("function", [rls.operation, rls.set_operation, rls.end_operation])
def test_names_are_str(function: Callable[[Any], object]) -> None:
    with pytest.raises(TypeError, match="name of an operation must be str, not int"):
        function(3)


def test_other_arguments_are_checked_whether_recorded_or_not() -> None:
    with pytest.raises(TypeError, match="name of a phase must be str, not NoneType"):
        rls.phase(None)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="name of a process must be str, not bytes"):
        rls.process(b"x")  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        rls.progress("half", 1)  # type: ignore[arg-type]


def test_a_decorated_function_looks_like_the_function() -> None:
    assert decorated(1, third=2.0) == "1x2.0"
    assert decorated.__name__ == "documented"
    assert decorated.__doc__ == "What it does."
    assert decorated.__module__ == __name__
    assert inspect.signature(decorated) == inspect.signature(documented)
    assert inspect.unwrap(decorated) is documented
    decorated.note = "kept"  # type: ignore[attr-defined]
    assert vars(decorated)["note"] == "kept"
    assert weakref.ref(decorated)() is decorated


def test_decorated_functions_and_operations_are_pickled_by_name() -> None:
    assert pickle.loads(pickle.dumps(at_module_level)) is at_module_level
    operation = rls.operation("one")
    assert pickle.loads(pickle.dumps(operation)) is operation
    assert copy.deepcopy([operation, at_module_level]) == [operation, at_module_level]


def test_only_functions_are_decorated() -> None:
    operation = rls.operation("one")
    with pytest.raises(TypeError, match="decorate a method of <class 'int'>"):
        operation(int)
    with pytest.raises(TypeError, match="an operation decorates functions, not int"):
        operation(3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="an operation decorates one function"):
        operation()  # type: ignore[call-arg]


def test_a_decorated_function_is_collected() -> None:
    class Marker:
        pass

    def make() -> weakref.ref[Marker]:
        marker = Marker()

        @rls.operation("cycle")
        def function() -> tuple[Marker, object]:
            return marker, function

        function()
        return weakref.ref(marker)

    reference = make()
    gc.collect()
    assert reference() is None


def test_a_name_of_any_kind_costs_no_references() -> None:
    def use() -> None:
        for number in range(300):
            name = f"name {number}"
            with rls.operation(name):
                pass
            rls.set_operation(name)
            rls.end_operation(name)

    use()
    operation = rls.operation("name 0")
    before = sys.getrefcount(operation), sys.getrefcount(operation.name), sys.getrefcount(None)
    use()
    after = sys.getrefcount(operation), sys.getrefcount(operation.name), sys.getrefcount(None)
    assert abs(after[2] - before[2]) < 100 or sys.version_info >= (3, 12)
    assert after[:2] == before[:2]


def test_names_without_end_are_not_kept() -> None:
    run(
        """
        import rlscope as rls
        first = rls.operation("unbounded 0")
        for number in range(66_000):
            rls.operation(f"unbounded {number}")
        assert rls.operation("unbounded 0") is first
        late = rls.operation("unbounded 65999")
        assert late is not rls.operation("unbounded 65999")
        with late:
            pass
        """
    )


def test_threads_may_share_everything() -> None:
    start = threading.Barrier(4)

    def work() -> None:
        start.wait()
        for number in range(2000):
            with rls.operation(f"shared {number % 700}"):
                at_module_level()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({id(rls.operation(f"shared {number}")) for number in range(700)}) == 700


def test_generators_keep_their_protocol() -> None:
    @rls.operation("generator")
    def generate() -> Iterator[Any]:
        received = yield 1
        try:
            yield received
        except ValueError as error:
            yield str(error)

    generator: Any = generate()
    assert inspect.isgeneratorfunction(generate)
    assert next(generator) == 1
    assert generator.send("sent") == "sent"
    assert generator.throw(ValueError("thrown")) == "thrown"
    generator.close()


def test_asynchronous_generators_keep_their_protocol() -> None:
    import asyncio

    closed = []

    @rls.operation("stream")
    async def stream() -> Any:
        try:
            received = yield 1
            try:
                yield received
            except ValueError as error:
                yield str(error)
        finally:
            closed.append(True)

    async def drive() -> None:
        generator = stream()
        assert await generator.__anext__() == 1
        assert await generator.asend("sent") == "sent"
        assert await generator.athrow(ValueError("thrown")) == "thrown"
        await generator.aclose()
        assert closed == [True]

    asyncio.run(drive())


def test_nothing_is_recorded_here() -> None:
    assert _runtime.state() == "off"
    assert not _runtime.is_recording()
    before = _runtime.thread_slots()
    with rls.operation("one"), rls.phase("p"):
        at_module_level()
        rls.progress(1, 2)
        rls.metadata(value=object())
    rls.iteration()
    assert _runtime.thread_slots() == before == 0


def test_the_stand_in_has_what_the_annotations_use() -> None:
    used = "operation set_operation end_operation annotate_calls begin_phase iteration"
    others = "process_name metadata progress start stop is_recording state python_begin"
    for name in f"{used} {others} raise_in_thread".split():
        assert callable(getattr(stand_in, name)), name
        assert callable(getattr(_runtime, name)), name
