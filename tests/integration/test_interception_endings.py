"""Native calls that end otherwise than by returning, and recording that ends inside them."""

from __future__ import annotations

import sys

from support.process.recorded_process import difference
from support.process.sample_calls import counts, names, outermost, run


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


def test_recording_that_stops_and_starts_inside_calls(directory: str, library: str) -> None:
    # The headers of 3.10 compile PyObject_Vectorcall() into the library: that callback is not seen.
    last = "call_vector" if sys.version_info >= (3, 11) else "call"
    trace = run(
        directory,
        library,
        f"""
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
        sample.{last}(both)
        sample.keywords()
        """,
    )
    index = trace.process()["index"]
    rows = trace.reader.sweep(index)["native_call"]
    found = dict(zip(map(str, rows["function"]), map(int, rows["calls"]), strict=True))
    assert found == {
        f"sample:{name}": 1
        for name in ("call_no_arguments", "one", "varargs", last, "fast", "keywords")
    }
    assert difference(trace) is None
    assert not trace.reader.losses(index)
