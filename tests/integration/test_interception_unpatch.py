"""Functions that are patched look as they did, and unpatched they are what they were."""

from __future__ import annotations

import json

from support.process.sample_calls import counts, run


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


def test_stubs_are_taken_out_for_a_while_and_put_back(directory: str, library: str) -> None:
    trace = run(
        directory,
        library,
        """
        import json
        thing = sample.Thing(3)
        def use():
            sample.noargs(); sample.constant(); thing.value; thing[1]; thing.method()
        def protections():
            with open("/proc/self/maps") as maps:
                return [line.split()[1] for line in maps if sample.__file__ in line]
        _runtime.intercept_remember()
        before = protections()
        for _ in range(50):
            use()
            _runtime.intercept_switch(False)
            use()
            use()
            _runtime.intercept_switch(False)
            _runtime.intercept_switch(True)
        use()
        assert protections() == before
        print(json.dumps(_runtime.intercept_counts()))
        """,
    )
    found = counts(trace)
    for name in ("noargs", "constant", "Thing.value", "Thing.__getitem__", "Thing.method"):
        assert found[name] == 51, name
    assert json.loads(trace.output)["passed_through"] == 0


def test_a_scan_and_an_end_while_stubs_are_out(directory: str, library: str) -> None:
    """What is patched meanwhile is in force at once; the end leaves the originals."""
    trace = run(
        directory,
        library,
        """
        class Mine(sample.Thing):
            pass
        _runtime.intercept_remember()
        _runtime.intercept_switch(False)
        sample.noargs(); Mine(1)[1]
        _runtime.intercept_scan()
        sample.noargs()
        _runtime.intercept_switch(True)
        sample.noargs()
        _runtime.intercept_switch(False)
        _runtime.intercept_unpatch()
        sample.noargs()
        _runtime.intercept_switch(True)
        sample.noargs(); Mine(1)[1]
        """,
    )
    found = counts(trace)
    assert found["noargs"] == 2
    assert "Thing.__getitem__" not in found
