"""Programs that call a native library in every way, while its functions are patched: each call is
recorded once, at the right depth, and the sweep of what they wrote equals brute force.
"""

from __future__ import annotations

import importlib.util
import json
import sys
from collections import Counter
from pathlib import Path

import pytest
from native_calls import Call, calls_of, record_calls, thread_callback
from recorded_child import Recorded
from recorded_process import difference

sys.path.append(str(Path(__file__).resolve().parent.parent / "extension"))
from sample_library import build_sample

SETUP = """
import importlib.util, os, signal, sys, threading, time
def load(path):
    spec = importlib.util.spec_from_file_location("sample", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
sample = load({library!r})
_runtime.intercept_watch({library!r}, "simulator")
_runtime.intercept_scan()
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(build_sample(tmp_path_factory.mktemp("sample")))


def run(directory: str, library: str, script: str) -> Recorded:
    import textwrap

    return record_calls(directory, SETUP.format(library=library) + textwrap.dedent(script))


def counts(trace: Recorded, thread: int | None = None) -> Counter[str]:
    return Counter(call.name.removeprefix("sample:") for call in calls_of(trace, thread))


def outermost(trace: Recorded) -> list[Call]:
    """Of the first thread, those that no callback is around."""
    return thread_callback(trace, trace.threads()[0]).calls


def names(calls: list[Call]) -> list[str]:
    return [call.name.removeprefix("sample:") for call in calls]


KINDS = {
    "noargs": "sample.noargs()",
    "one": "sample.one(1)",
    "varargs": "sample.varargs(1, 2)",
    "keywords": "sample.keywords(1, k=2)",
    "fast": "sample.fast(1, 2)",
    "fast_keywords": "sample.fast_keywords(1, k=2)",
    "constant": "sample.constant()",
    "Thing.method": "thing.method()",
    "Thing.class_method": "thing.class_method()",
    "Thing.static_method": "thing.static_method(1)",
    "Thing.defining_class": "thing.defining_class(1, k=2)",
    "Thing.value": "thing.value",
    "Thing.__add__": "thing + 1",
    "Thing.__getitem__": "thing[1]",
    "Thing.__setitem__": "thing.__setitem__(1, 2)",
    "Thing.__len__": "len(thing)",
    "Thing.__bool__": "not thing",
    "Thing.__hash__": "hash(thing)",
    "Thing.__eq__": "thing == 1",
    "Thing.__repr__": "repr(thing)",
    "Thing.__call__": "thing(1)",
    "Thing.__iter__": "iter(thing)",
    "Thing.__new__": "sample.Thing.__new__(sample.Thing)",
}


def call_each(directory: str, library: str, times: int) -> Recorded:
    body = "\n".join(f"for _ in range({times}): {statement}" for statement in KINDS.values())
    begin = "thing = sample.Thing(3)\nrls.set_operation('all')\n"
    return run(directory, library, f"{begin}{body}\nrls.end_operation('all')\n")


# 64 calls make a stub hot: its pointers then go to another one.
@pytest.mark.parametrize("times", [1, 150])
def test_every_kind_of_call_is_counted_exactly(directory: str, library: str, times: int) -> None:
    trace = call_each(directory, library, times)
    inside = [call for call in calls_of(trace) if call.operation == "all"]
    assert Counter(names(inside)) == Counter(dict.fromkeys(KINDS, times))
    assert {str(call.layer) for call in inside} == {"2"}  # simulator


def test_every_kind_of_call_is_swept_as_by_brute_force(directory: str, library: str) -> None:
    assert difference(call_each(directory, library, 2)) is None


def test_hot_stubs_are_moved_and_the_old_ones_work(directory: str, library: str) -> None:
    trace = run(
        directory,
        library,
        """
        bound = sample.Thing(3).method
        for _ in range(200):
            bound()
            sample.one(1)
        assert _runtime.intercept_counts()["hot"] >= 1
        """,
    )
    assert counts(trace)["Thing.method"] == counts(trace)["one"] == 200


def test_calls_inside_calls_belong_to_the_outer_one(directory: str, library: str) -> None:
    trace = run(
        directory,
        library,
        """
        for _ in range(20):
            sample.call(sample.call, sample.noargs)
        """,
    )
    assert len(outermost(trace)) == 20
    assert difference(trace) is None


def test_calls_of_callbacks_are_calls_of_their_own(directory: str, library: str) -> None:
    trace = run(
        directory,
        library,
        """
        def callback(*args):
            with rls.operation("callback"):
                sample.noargs()
                sample.call_no_arguments(lambda: sample.one(1))
        class Object:
            method = callback
        for call in (sample.call, sample.call_object, sample.call_no_arguments,
                     sample.call_function, sample.call_function_objects, sample.call_vector):
            call(callback)
        sample.call_method(Object())
        sample.call_method_objects(Object())
        sample.repeat(callback, 3)
        """,
    )
    calls = outermost(trace)
    assert len(calls) == 9
    callbacks = [callback for call in calls for callback in call.callbacks]
    assert len(callbacks) == 11
    for callback in callbacks:
        assert names(callback.calls) == ["noargs", "call_no_arguments"]
        assert {call.operation for call in callback.calls} == {"callback"}
        (inner,) = callback.calls[1].callbacks
        assert names(inner.calls) == ["one"]
    assert difference(trace) is None


def test_python_time_in_a_callback_is_python(directory: str, library: str) -> None:
    trace = run(
        directory,
        library,
        """
        def busy():
            end = time.monotonic_ns() + 20_000_000
            while time.monotonic_ns() < end:
                pass
        def both():
            busy()
            sample.spin(0.01)
        with rls.operation("outer"):
            sample.call_no_arguments(both)
        """,
    )
    (call,) = [call for call in outermost(trace) if call.operation == "outer"]
    (callback,) = call.callbacks
    (spin,) = callback.calls
    assert callback.end_ns - callback.start_ns >= 30_000_000
    assert spin.end_ns - spin.start_ns >= 10_000_000
    assert difference(trace) is None


def test_exceptions_end_calls(directory: str, library: str) -> None:
    trace = run(
        directory,
        library,
        """
        def fail():
            sample.fail()
        for _ in range(30):
            try:
                sample.fail()
            except ValueError:
                pass
            try:
                sample.call(fail)
            except ValueError:
                pass
            sample.call_and_forgive(fail)
        sample.noargs()
        """,
    )
    assert names(outermost(trace)) == ["fail", "call", "call_and_forgive"] * 30 + ["noargs"]
    assert counts(trace)["fail"] == 90
    assert difference(trace) is None


def test_an_interrupt_ends_the_call(directory: str, library: str) -> None:
    trace = run(
        directory,
        library,
        """
        signal.signal(signal.SIGALRM, signal.default_int_handler)
        for _ in range(5):
            signal.setitimer(signal.ITIMER_REAL, 0.01)
            try:
                sample.wait_for_signal()
            except KeyboardInterrupt:
                sample.noargs()
        """,
    )
    assert names(outermost(trace)) == ["wait_for_signal", "noargs"] * 5
    assert difference(trace) is None


def test_signal_handlers_inside_calls_are_annotated(directory: str, library: str) -> None:
    """A handler is Python that nothing announces: what it records begins the call before."""
    trace = run(
        directory,
        library,
        """
        def handle(*args):
            with rls.operation("handler"):
                sample.noargs()
            raise TimeoutError
        signal.signal(signal.SIGALRM, handle)
        for _ in range(3):
            signal.setitimer(signal.ITIMER_REAL, 0.1)
            try:
                sample.wait_for_signal()
            except TimeoutError:
                pass
        sample.noargs()
        """,
    )
    assert names(outermost(trace)) == ["wait_for_signal"] * 3 + ["noargs"]
    assert trace.operations() == ["+handler", "-handler"] * 3
    assert difference(trace) is None


def test_threads_have_their_own_calls(directory: str, library: str) -> None:
    trace = run(
        directory,
        library,
        """
        def work():
            for i in range(3000):
                sample.fast(i)
                if i % 10 == 0:
                    sample.call_no_arguments(sample.Thing)
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        """,
    )
    found = [counts(trace, thread) for thread in trace.threads()]
    assert sum((each for each in found), Counter())["fast"] == 12_000
    assert sorted(each["fast"] for each in found)[-4:] == [3000] * 4
    assert sorted(each["call_no_arguments"] for each in found)[-4:] == [300] * 4


def test_a_thread_that_ends_inside_a_call_leaves_a_sound_trace(
    directory: str, library: str
) -> None:
    trace = run(
        directory,
        library,
        """
        import _thread
        def work():
            sample.noargs()
            sample.end_thread()
        _thread.start_new_thread(work, ())
        time.sleep(0.3)
        sample.one(1)
        sys.stdout.flush()
        os._exit(0)
        """,
    )
    by_thread = [counts(trace, thread) for thread in trace.threads()]
    assert Counter({"noargs": 1, "end_thread": 1}) in by_thread
    assert Counter({"one": 1}) in by_thread
    assert difference(trace) is None


def test_daemon_threads_in_calls_when_the_interpreter_exits(directory: str, library: str) -> None:
    trace = run(
        directory,
        library,
        """
        def work():
            while True:
                sample.call(sample.wait, 0.01)
                sample.wait(0.01)
        for _ in range(4):
            threading.Thread(target=work, daemon=True).start()
        time.sleep(0.2)
        """,
    )
    assert not trace.reader.problems
    total = sum((counts(trace, thread) for thread in trace.threads()), Counter())
    assert total["wait"] > 20
    assert difference(trace) is None


def test_generators_suspend_between_calls(directory: str, library: str) -> None:
    trace = run(
        directory,
        library,
        """
        def numbers():
            for i in range(10):
                sample.noargs()
                yield i
        def pull(generator):
            return lambda: next(generator)
        first, second = numbers(), numbers()
        for _ in range(10):
            sample.call_no_arguments(pull(first))
            next(second)
        """,
    )
    assert names(outermost(trace)) == ["call_no_arguments", "noargs"] * 10
    assert counts(trace)["noargs"] == 20
    assert difference(trace) is None


@pytest.mark.skipif(importlib.util.find_spec("greenlet") is None, reason="greenlet is missing")
def test_greenlets_that_switch_in_callbacks(directory: str, library: str) -> None:
    trace = run(
        directory,
        library,
        """
        import greenlet
        main = greenlet.getcurrent()
        def inside():
            main.switch()
            sample.one(1)
        other = greenlet.greenlet(lambda: sample.call_no_arguments(inside))
        for _ in range(2):
            other.switch()
            sample.noargs()
        sample.fast()
        """,
    )
    assert counts(trace) == Counter(call_no_arguments=1, noargs=2, one=1, fast=1)
    assert names(outermost(trace))[-1] == "fast"


def test_recording_that_stops_and_starts_inside_calls(directory: str, library: str) -> None:
    trace = run(
        directory,
        library,
        """
        def stop():
            rls.stop()
            sample.noargs()
        def start():
            rls.start()
            sample.one(1)
        def both():
            rls.stop()
            rls.start()
            sample.fast()
        sample.call_no_arguments(stop)
        sample.noargs()
        sample.call_object(start)
        sample.varargs()
        sample.call_vector(both)
        sample.keywords()
        """,
    )
    index = trace.process()["index"]
    rows = trace.reader.sweep(index)["native_call"]
    found = dict(zip(map(str, rows["function"]), map(int, rows["calls"]), strict=True))
    assert found == {
        f"sample:{name}": 1
        for name in ("call_no_arguments", "one", "varargs", "call_vector", "fast", "keywords")
    }
    assert difference(trace) is None
    assert not trace.reader.losses(index)


@pytest.mark.parametrize("how", ["sample.fork_here()", "os.fork()"])
def test_fork_inside_a_call(directory: str, library: str, how: str) -> None:
    trace = run(
        directory,
        library,
        f"""
        child = None
        def fork():
            global child
            child = {how}
            sample.noargs()
        sample.call_no_arguments(fork)
        sample.one(1)
        if child == 0:
            os._exit(0)
        os.waitpid(child, 0)
        """,
    )
    parent, child = (counts_of_process(trace, number) for number in range(2))
    assert (parent["noargs"], parent["one"], parent["call_no_arguments"]) == (1, 1, 1)
    assert (child["noargs"], child["one"], child["call_no_arguments"]) == (1, 1, 0)
    assert difference(trace, 0) is None
    assert difference(trace, 1) is None


def counts_of_process(trace: Recorded, number: int) -> Counter[str]:
    rows = trace.reader.sweep(trace.process(number)["index"])["native_call"]
    texts = (str(text).removeprefix("sample:") for text in rows["function"])
    return Counter(dict(zip(texts, map(int, rows["calls"]), strict=True)))


def test_builtins_stay_the_same_keys(directory: str, library: str) -> None:
    trace = run(
        directory,
        library,
        """
        import copy, inspect, json, pickle
        _runtime.intercept_unpatch()
        functions = [sample.noargs, sample.one, sample.constant, len, sample.Thing(1).method]
        def facts():
            thing = sample.Thing(1)
            return [
                [hash(f) for f in functions],
                [f == g for f in functions for g in functions],
                [f != g for f in functions for g in functions],
                [repr(f).split(" at 0x")[0] for f in functions],
                [f.__doc__ for f in functions], [f.__name__ for f in functions],
                [inspect.isbuiltin(f) for f in functions],
                thing.method == thing.method, hash(thing.method) == hash(thing.method),
                thing.method == functions[-1], sample.noargs == sample.constant,
            ]
        before = facts()
        table = {f: repr(f.__self__) for f in functions}
        _runtime.intercept_scan()
        assert facts() == before
        assert [table[f] for f in functions] == [repr(f.__self__) for f in functions]
        assert copy.copy(sample.one) is sample.one
        _runtime.intercept_unpatch()
        assert facts() == before
        """,
    )
    assert not trace.reader.problems


def test_unpatched_functions_record_nothing_and_what_is_left_passes_through(
    directory: str, library: str
) -> None:
    trace = run(
        directory,
        library,
        """
        import json
        thing = sample.Thing(3)
        def use():
            for _ in range(100):
                sample.noargs(); sample.constant(); thing.value; thing[1]; thing.method()
        for _ in range(3):
            use()
            counts = _runtime.intercept_unpatch()
            use()
            _runtime.intercept_scan()
        assert _runtime.intercept_counts()["stubs"] < 200  # a stub is found again, not made again
        print(json.dumps(_runtime.intercept_counts()))
        """,
    )
    left = json.loads(trace.output)
    found = counts(trace)
    for name in ("noargs", "constant", "Thing.value", "Thing.__getitem__", "Thing.method"):
        assert found[name] == 300, name
    assert left["passed_through"] == 0
    assert left["refused"] == 0


def test_read_only_pages_are_read_only_again(directory: str, library: str) -> None:
    """The definitions of `constant` lie in pages that the loader closed."""
    run(
        directory,
        library,
        """
        def protections():
            with open("/proc/self/maps") as maps:
                return [line.split()[1] for line in maps if sample.__file__ in line]
        patched = protections()
        sample.constant()
        _runtime.intercept_unpatch()
        assert protections() == patched
        assert "rw-p" in patched and patched.count("r--p") >= 2
        """,
    )
