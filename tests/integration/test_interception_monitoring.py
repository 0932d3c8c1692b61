"""The engine on sys.monitoring (Python 3.12): what the source calls by name is recorded once.

The simulators run by either engine in test_layers_simulators.py.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from support.process.traced_python import TracedPython

from rlscope.opening import load

pytestmark = [
    pytest.mark.usefixtures("clean_environment"),
    pytest.mark.skipif(sys.version_info < (3, 12), reason="sys.monitoring is missing"),
]

SEEN = {
    "noargs": "sample.noargs()",
    "one": "sample.one(1)",
    "varargs": "sample.varargs(1, 2)",
    "keywords": "sample.keywords(1, k=2)",
    "fast": "sample.fast(1, 2)",
    "fast_keywords": "sample.fast_keywords(1, k=2)",
    "constant": "sample.constant()",
    "Thing.method": "thing.method()",
    "Thing.class_method": "sample.Thing.class_method()",
    "static_method": "thing.static_method(1)",
    "Thing.defining_class": "thing.defining_class(1, k=2)",
    "Thing": "sample.Thing(4)",
    "Callable": "callable_object(1)",
}
UNSEEN = ["thing.value", "thing + 1", "thing[1]", "len(thing)", "not thing", "thing == 1"]
TIMES = 100


def _record(
    traced: TracedPython, directory: str, folder: str, script: str, *options: str
) -> dict[str, int]:
    """Function -> calls inside the operation "all"."""
    lines = [f"import sys; sys.path.insert(0, {folder!r})", "import rlscope as rls", script]
    chosen = ["-o", directory, "--intercept=monitoring", *options]
    done = traced.run(*chosen, traced.python, "-c", "\n".join(lines))
    assert done.returncode == 0, done.stderr
    with load(directory) as trace:
        ((facts,),) = trace.sql("SELECT value FROM metadata WHERE key = 'rlscope.interception'")
        rows = trace.sql(
            "SELECT function, calls::INT FROM native_call"
            " WHERE operation = 'all' AND function NOT LIKE 'gc:%'"
        )
        assert json.loads(facts)["engine"] == "monitoring"
        return dict(rows)


def _record_sample(
    traced: TracedPython, directory: str, library: str, script: str
) -> dict[str, int]:
    folder = str(Path(library).parent)
    script = "import sample\n" + script
    found = _record(traced, directory, folder, script, "--simulator", "sample")
    return {name.removeprefix("sample:"): calls for name, calls in found.items()}


def _loop(statements: list[str]) -> str:
    body = "".join(f"    for _ in range({TIMES}): {statement}\n" for statement in statements)
    return (
        "thing, callable_object = sample.Thing(3), sample.Callable()\n"
        f'with rls.operation("all"):\n{body}'
    )


def test_every_call_by_name_is_counted_exactly(
    traced: TracedPython, directory: str, library: str
) -> None:
    found = _record_sample(traced, directory, library, _loop(list(SEEN.values())))
    assert found == dict.fromkeys(SEEN, TIMES)


def test_operators_and_attributes_are_not_seen(
    traced: TracedPython, directory: str, library: str
) -> None:
    """As the guide says; a builtin of the interpreter that calls them is none of the library's."""
    assert _record_sample(traced, directory, library, _loop(UNSEEN)) == {}


def test_calls_that_raise_are_closed(traced: TracedPython, directory: str, library: str) -> None:
    script = """
def attempt(function, *arguments):
    try:
        function(*arguments)
    except ValueError:
        pass
with rls.operation("all"):
    for _ in range(20):
        attempt(sample.fail)
        attempt(sample.call, lambda *_: sample.fail())
        sample.noargs()
"""
    found = _record_sample(traced, directory, library, script)
    assert found == {"fail": 20, "call": 20, "noargs": 20}


def test_threads_have_their_own_calls(traced: TracedPython, directory: str, library: str) -> None:
    script = """
import threading
def work():
    with rls.operation("all"):
        for _ in range(1000):
            sample.noargs()
            sample.call_no_arguments(sample.noargs)
threads = [threading.Thread(target=work) for _ in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""
    found = _record_sample(traced, directory, library, script)
    assert found == {"noargs": 4000, "call_no_arguments": 4000}


def test_a_bound_method_with_unpacked_arguments_is_left_out(
    traced: TracedPython, directory: str, library: str
) -> None:
    """The interpreter does not tell when such a call of a builtin ends: it must not stay open."""
    script = """
import types
bound = types.MethodType(sample.fast, 1)
with rls.operation("all"):
    for _ in range(20):
        bound(*(2, 3))
        bound(2)
        sample.noargs()
"""
    found = _record_sample(traced, directory, library, script)
    assert found == {"fast": 20, "noargs": 20}


def test_numpy_is_a_framework_on_request(traced: TracedPython, directory: str) -> None:
    script = """
import numpy as np
x = np.arange(6.0)
with rls.operation("all"):
    for _ in range(50):
        np.add(x, x)
        x.sum()
        np.empty(3)
"""
    found = _record(traced, directory, "", script, "--numpy")
    assert sorted(found.values()) == [50, 50, 50]
    assert {name.split(":")[0].split(".")[0] for name in found} == {"numpy"}
