"""Native calls of threads, generators and greenlets: each stack of calls is its own."""

from __future__ import annotations

from collections import Counter

import pytest
from support.process.recorded_process import difference
from support.process.sample_calls import counts, names, outermost, run


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


def test_greenlets_that_switch_in_callbacks(directory: str, library: str) -> None:
    pytest.importorskip("greenlet")
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
