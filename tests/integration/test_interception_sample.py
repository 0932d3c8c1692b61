"""A C extension that nothing knows of: whatever it holds is found, whenever it is loaded."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from textwrap import dedent

import pytest
from extension.sample_library import build_sample
from support.process.native_calls import calls_by_operation, calls_of, record_calls, thread_callback
from support.process.recorded_child import Recorded

# Expression -> the functions that it is recorded as, in order.
KINDS = {
    "sample.noargs()": ["noargs"],
    "sample.one(1)": ["one"],
    "sample.varargs(1)": ["varargs"],
    "sample.keywords(a=1)": ["keywords"],
    "sample.fast(1)": ["fast"],
    "sample.fast_keywords(1, a=2)": ["fast_keywords"],
    "sample.constant()": ["constant"],
    "sample.Thing(3)": ["Thing.__new__", "Thing.__init__"],
    "thing.method()": ["Thing.method"],
    "sample.Thing.class_method()": ["Thing.class_method"],
    "sample.Thing.static_method(1)": ["Thing.static_method"],
    "thing.defining_class()": ["Thing.defining_class"],
    "thing.value": ["Thing.value"],
    "setattr(thing, 'value', 3)": ["Thing.value"],
    "thing + thing": ["Thing.__add__"],
    "thing[1]": ["Thing.__getitem__"],
    "operator.setitem(thing, 1, 2)": ["Thing.__setitem__"],
    "len(thing)": ["Thing.__len__"],
    "bool(thing)": ["Thing.__bool__"],
    "hash(thing)": ["Thing.__hash__"],
    "thing == 1": ["Thing.__eq__"],
    "repr(thing)": ["Thing.__repr__"],
    "thing(1)": ["Thing.__call__"],
    "next(iter(thing))": ["Thing.__iter__", "Thing.__next__"],
    "sample.Thing.__len__(thing)": ["Thing.__len__"],
    "derived[1]": ["Thing.__getitem__"],
    "sample.Callable()(1)": ["Callable.__new__", "Callable"],
    "sample.make_function()()": ["make_function", "late"],
    "sample.make_short_lived('x')()": ["make_short_lived", "x"],
}

WATCH = """
import sys
sys.path.insert(0, {folder!r})
_runtime.intercept_watch({folder!r} + "/*", "simulator")
"""

DISCOVERY = """
import operator
_runtime.intercept_at_import(None, None, True)
import sample

class Derived(sample.Thing):
    pass

thing, derived = sample.Thing(3), Derived(3)
for kind in {kinds}:
    with rls.operation(kind):
        eval(kind)
"""


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Folder of the extension module."""
    folder: Path = tmp_path_factory.mktemp("sample")
    build_sample(folder)
    return str(folder)


@pytest.fixture(scope="module")
def kinds(sample: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    script = WATCH.format(folder=sample) + DISCOVERY.format(kinds=list(KINDS))
    return calls_by_operation(record_calls(str(tmp_path_factory.mktemp("kinds") / "run"), script))


@pytest.mark.parametrize("kind", KINDS)
def test_kind_of_call_is_recorded(kinds: dict[str, list[str]], kind: str) -> None:
    assert kinds.get(kind) == [f"sample:{name}" for name in KINDS[kind]]


SUBCLASS = """
_runtime.intercept_at_import(None, None, True)
import sample

class Careful(sample.Thing):
    def __setattr__(self, name, value):
        super().__setattr__(name, value)

    def __delattr__(self, name):
        super().__delattr__(name)

careful = Careful(3)
careful.value, careful.other = 4, 5
del careful.other
assert (careful.value, hasattr(careful, "other")) == (4, False)
"""


def test_a_subclass_may_set_attributes_by_its_base(sample: str, tmp_path: Path) -> None:
    """CPython compares the function behind `__setattr__` with the slot of the type."""
    recorded = record_calls(str(tmp_path / "run"), WATCH.format(folder=sample) + SUBCLASS)
    assert "sample:Thing.value" in {call.name for call in calls_of(recorded)}


CALLBACKS = """
_runtime.intercept_at_import(None, None, True)
import sample
given = []

class Object:
    def method(self, *arguments):
        return function(*arguments)

def function(*arguments):
    given.append(arguments)
    sample.noargs()
    return arguments

def check(name, *arguments, expected):
    with rls.operation(name):
        assert getattr(sample, name)(*arguments) == expected, name

check("call", function, 1, expected=(1,))
check("call_object", function, expected=())
check("call_no_arguments", function, expected=())
check("call_function", function, expected=(7, 8))
check("call_function_objects", function, expected=(True, False))
check("call_method", Object(), expected=(7,))
check("call_method_objects", Object(), expected=(True,))
check("call_vector", function, 1, 2, expected=(1, 2))
check("repeat", function, 3, expected=None)
assert given[-3:] == [(), (), ()]
"""


# The headers of 3.10 compile PyObject_Vectorcall() into the library: there is no call to hook.
VECTOR_CALLBACKS = int(sys.version_info >= (3, 11))


def test_each_way_back_into_python_is_a_callback(sample: str, directory: str) -> None:
    trace = record_calls(directory, WATCH.format(folder=sample) + CALLBACKS)
    outermost = thread_callback(trace, trace.threads()[0]).calls
    expected = {
        "call": 1, "call_object": 1, "call_no_arguments": 1, "call_function": 1,
        "call_function_objects": 1, "call_method": 1, "call_method_objects": 1,
        "call_vector": VECTOR_CALLBACKS, "repeat": 3,
    }  # fmt: skip
    assert {call.operation: len(call.callbacks) for call in outermost} == expected
    for call in outermost:
        assert call.name == f"sample:{call.operation}"
        for callback in call.callbacks:
            assert [inner.name for inner in callback.calls] == ["sample:noargs"]


def test_native_code_that_calls_native_code_stays_native(sample: str, directory: str) -> None:
    script = """
    _runtime.intercept_at_import(None, None, True)
    import sample
    sample.call_no_arguments(sample.noargs)
    """
    trace = record_calls(directory, WATCH.format(folder=sample) + dedent(script))
    (call,) = calls_of(trace)
    assert (call.name, call.callbacks) == ("sample:call_no_arguments", [])


def test_a_thread_of_the_library_is_in_python_only_in_callbacks(
    sample: str, directory: str
) -> None:
    script = """
    _runtime.intercept_at_import(None, None, True)
    import sample
    sample.call_in_thread(lambda: sample.noargs())
    """
    trace = record_calls(directory, WATCH.format(folder=sample) + dedent(script))
    threads = trace.reader.threads(trace.process()["index"])
    is_python = dict(zip(threads["thread"].tolist(), threads["is_python"].tolist(), strict=True))
    assert sorted(is_python.values()) == [False, True]
    (native,) = [thread for thread, python in is_python.items() if not python]
    (outside,) = thread_callback(trace, native).calls
    assert outside.name == ""
    (callback,) = outside.callbacks
    assert [call.name for call in callback.calls] == ["sample:noargs"]


def counts(trace: Recorded) -> dict[str, int]:
    found: dict[str, int] = json.loads(trace.output)
    return found


LOADED = {
    "a statement": "import sample",
    "importlib": "import importlib; sample = importlib.import_module('sample')",
    "a file": """\
import importlib.util
spec = importlib.util.spec_from_file_location("sample", library)
sample = importlib.util.module_from_spec(spec)
spec.loader.exec_module(sample)
""",
    "a module that never ends": """\
import types
open(folder + "/endless.py", "w").write(
    "import sample\\nwith __import__('rlscope').operation('use'): sample.noargs()\\n"
)
import endless
sample = endless.sample
""",
}


@pytest.mark.parametrize("way", LOADED)
def test_a_library_is_patched_when_its_import_has_ended(
    sample: str, directory: str, way: str
) -> None:
    (library,) = Path(sample).glob("sample*.so")
    script = f"""
import json
folder, library = {sample!r}, {str(library)!r}
said = []
_runtime.intercept_at_import(lambda spec: said.append(spec.name), lambda: said.append(""), True)
{LOADED[way]}
with rls.operation("use"):
    sample.noargs()
loads = [index for index, name in enumerate(said) if name]
assert said[loads[-1]] == "sample" and set(said[loads[-1] + 1:]) == {{""}}, said
print(json.dumps(_runtime.intercept_counts()))
"""
    trace = record_calls(directory, WATCH.format(folder=sample) + script)
    assert set(calls_by_operation(trace)["use"]) == {"sample:noargs"}
    assert len(calls_by_operation(trace)["use"]) == (2 if "never" in way else 1)
    assert counts(trace)["libraries"] == 1


def test_a_library_that_ctypes_opens_is_watched(sample: str, directory: str) -> None:
    (library,) = Path(sample).glob("sample*.so")
    script = f"""
import json
said = []
_runtime.intercept_at_import(said.append, None, True)
import ctypes
ctypes.CDLL({str(library)!r})
assert said[-1] is None
print(json.dumps(_runtime.intercept_counts()))
"""
    trace = record_calls(directory, WATCH.format(folder=sample) + script)
    assert counts(trace)["libraries"] == 1


def test_an_interrupt_while_a_library_is_followed_reaches_the_program(
    sample: str, directory: str
) -> None:
    (library,) = Path(sample).glob("sample*.so")
    script = f"""
import ctypes, json, signal
signal.signal(signal.SIGINT, signal.default_int_handler)
_runtime.intercept_at_import(lambda spec: signal.raise_signal(signal.SIGINT), None, True)
try:
    ctypes.CDLL({str(library)!r})
    for _ in range(1000):
        pass
except KeyboardInterrupt:
    print(json.dumps("interrupted"))
_runtime.intercept_at_import(None, None, True)
"""
    trace = record_calls(directory, WATCH.format(folder=sample) + script)
    assert "interrupted" in trace.output


def test_a_program_without_watched_libraries_is_not_scanned(directory: str) -> None:
    script = """
import json
_runtime.intercept_watch("*/no/such/library/*", "framework")
_runtime.intercept_at_import(None, None, True)
import asyncio, ctypes, decimal, email, http.client, sqlite3, unittest, xml.dom.minidom
counts = _runtime.intercept_counts()
assert counts["scans"] == counts["stubs"] == counts["libraries"] == 0, counts
print(json.dumps(counts))
"""
    assert counts(record_calls(directory, script))["scan_ns"] == 0
