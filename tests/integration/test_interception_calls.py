"""Each native call of a library is recorded once, at the right depth, in whatever way it is made;
the sweep of what the programs wrote equals brute force.
"""

from __future__ import annotations

import sys
from collections import Counter

import pytest
from support.process.native_calls import calls_of
from support.process.recorded_child import Recorded
from support.process.recorded_process import difference
from support.process.sample_calls import counts, names, outermost, run

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
    # The headers of 3.10 compile PyObject_Vectorcall() into the library: that callback is not seen.
    vector = "call_vector" if sys.version_info >= (3, 11) else "call"
    trace = run(
        directory,
        library,
        f"""
        def callback(*args):
            with rls.operation("callback"):
                sample.noargs()
                sample.call_no_arguments(lambda: sample.one(1))
        class Object:
            method = callback
        for call in (sample.call, sample.call_object, sample.call_no_arguments,
                     sample.call_function, sample.call_function_objects, sample.{vector}):
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
