"""Functions that a library makes while the program runs, as pybind11 and torch.ops do: many share
one C function, and each is recorded under its own name."""

from __future__ import annotations

import json
from pathlib import Path
from textwrap import dedent

import pytest
from extension.sample_library import build_sample
from support.process.native_calls import calls_by_operation, record_calls
from support.process.recorded_child import Recorded

IMPORT = """
import json, sys
sys.path.insert(0, {folder!r})
_runtime.intercept_watch({folder!r} + "/*", "simulator")
_runtime.intercept_at_import(None, None, True)
import sample
"""

# As in csrc/native_calls/stubs_in_use.h.
MOST_NAMED = 12288


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Folder of the extension module."""
    folder: Path = tmp_path_factory.mktemp("sample")
    build_sample(folder)
    return str(folder)


def record(sample: str, directory: str, script: str) -> Recorded:
    return record_calls(directory, IMPORT.format(folder=sample) + dedent(script))


def test_functions_of_one_c_function_have_a_name_each(sample: str, directory: str) -> None:
    script = """
    first, second, same = map(sample.make_short_lived, ["first", "second", "first"])
    unnamed = sample.make_short_lived("")
    with rls.operation("use"):
        first(), second(), same(), unnamed()
    """
    assert calls_by_operation(record(sample, directory, script))["use"] == [
        "sample:first",
        "sample:second",
        "sample:first",
        "sample:(unnamed)",
    ]


def test_a_function_does_not_inherit_the_name_of_a_dead_one(sample: str, directory: str) -> None:
    """Their definitions lie at the same address, one after the other."""
    script = """
    addresses = set()
    for number in range(100):
        function = sample.make_short_lived(f"f{number}")
        addresses.add(id(function))
        with rls.operation("use"):
            function()
        del function
    print(len(addresses))
    """
    trace = record(sample, directory, script)
    assert int(trace.output) < 100
    assert calls_by_operation(trace)["use"] == [f"sample:f{number}" for number in range(100)]


def test_a_function_is_named_by_who_knows_its_name(sample: str, directory: str) -> None:
    """As torch.ops does with its overloads; others of the same C code keep their own names."""
    script = """
    unnamed, other = sample.make_short_lived(""), sample.make_short_lived("")
    named = sample.make_short_lived("first")
    assert _runtime.intercept_name(unnamed, "sample.ops:add.default")
    assert _runtime.intercept_name(named, "sample.ops:second")
    assert not _runtime.intercept_name(len, "sample.ops:len")
    assert not _runtime.intercept_name(None, "sample.ops:none")
    _runtime.intercept_scan()  # takes nothing back
    with rls.operation("use"):
        unnamed(), other(), named()
    _runtime.intercept_unpatch()
    unnamed(), named()
    """
    assert calls_by_operation(record(sample, directory, script))["use"] == [
        "sample.ops:add.default",
        "sample:(unnamed)",
        "sample.ops:second",
    ]


def test_names_made_in_a_loop_are_bounded(sample: str, directory: str) -> None:
    script = f"""
    before = _runtime.intercept_counts()["stubs"]
    first = sample.make_short_lived("f0")
    for number in range({2 * MOST_NAMED}):
        last = sample.make_short_lived(f"f{{number}}")
    with rls.operation("use"):
        first(), last()
    print(json.dumps(_runtime.intercept_counts()["stubs"] - before))
    """
    trace = record(sample, directory, script)
    assert calls_by_operation(trace)["use"] == ["sample:f0", "sample:(other)"]
    assert json.loads(trace.output) == MOST_NAMED + 1


WAYS = {
    "class, PyObject_SetAttr": "sample.Thing",
    "class, PyObject_SetAttrString": "sample.Thing",
    "module, PyObject_SetAttr": "sample",
    "module, PyModule_AddObject": "sample",
    "module, PyModule_AddObjectRef": "sample",
}


@pytest.mark.parametrize("way", WAYS)
def test_a_function_is_named_after_the_place_that_it_is_put_into(
    sample: str, directory: str, way: str
) -> None:
    """At once: a program that goes on importing for long uses it before the next scan."""
    script = f"""
    sample.bind({way.split(", ")[1]!r}, "", {WAYS[way]}, "bound")
    with rls.operation("use"):
        {WAYS[way]}.bound()
    assert _runtime.intercept_counts()["scans"] == 1
    """
    expected = WAYS[way].replace("sample.", "sample:") if "." in WAYS[way] else "sample:"
    (name,) = calls_by_operation(record(sample, directory, script))["use"]
    assert name == (f"{expected}.bound" if "class" in way else f"{expected}bound")


@pytest.mark.parametrize(
    ("wrapping", "use"),
    [
        ("staticmethod", "sample.Thing.bound()"),
        ("instancemethod", "thing.bound()"),
        ("property", "thing.bound"),
    ],
)
def test_what_a_class_wraps_is_named_after_it(
    sample: str, directory: str, wrapping: str, use: str
) -> None:
    """A getter without any name of its own is the most frequent call while PyTorch is imported."""
    script = f"""
    sample.bind("PyObject_SetAttr", {wrapping!r}, sample.Thing, "bound")
    thing = sample.Thing(3)
    with rls.operation("use"):
        {use}
    """
    (name,) = calls_by_operation(record(sample, directory, script))["use"]
    assert name == "sample:Thing.bound"


def test_a_static_type_with_the_flag_of_heap_types_is_named_after_itself(
    sample: str, directory: str
) -> None:
    """Cython sets it while a type is made ready; NumPy's generators are such types."""
    script = """
    made = sample.make_lent()()
    with rls.operation("use"):
        made(1)
    """
    calls = calls_by_operation(record(sample, directory, script))["use"]
    assert calls == ["sample:Lent.__call__"]
