"""After native.end() no native call of any library is recorded, however Python reaches it; after
native.begin() all are again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from extension.sample_library import build_sample
from support.process.native_calls import calls_by_operation
from support.process.recorded_child import Recorded, record

KINDS = {
    "torch function": "torch.add(tensor, 1)",
    "torch method": "tensor.dim()",
    "torch property": "tensor.shape",
    "torch operator": "tensor + tensor",
    "torch subscript": "tensor[0]",
    "torch operator by name": "torch.ops.aten.relu(tensor)",
    "torch type": "torch.Size([1])",
    "numpy ufunc": "numpy.add(array, array, array)",
    "numpy ufunc, kept": "add(array, array, array)",
    "numpy ufunc, method": "numpy.add.reduce(array)",
    "numpy function": "numpy.zeros(3)",
    "numpy method": "array.sum()",
    "numpy subscript": "array[0]",
    "numpy type": "numpy.ndarray((2,))",
    "numpy generator": "generator.random(3)",
    "builtin": "sample.noargs()",
    "builtin of read-only memory": "sample.constant()",
    "builtin made at run time": "function()",
    "builtin that dies with its definition": "short_lived()",
    "pointer of a callable": "callable(1)",
    "slot": "thing[1]",
    "slot of a subclass": "below[1]",
    "property": "thing.value",
    "method": "thing.method()",
    "method, bound": "method()",
    "wait": "time.sleep(0.001)",
}
SILENT = {"builtin of the interpreter": "len([])", "python": "(lambda: 0)()"}

PROGRAM = """
    import json, sys, time
    import rlscope as rls
    from rlscope import _runtime, auto
    from rlscope.capture import native

    sys.path.insert(0, {folder!r})
    rls.layer("simulator", module="sample")
    import numpy, torch, sample
    generator = numpy.random.default_rng(0)
    add = numpy.add
    array = numpy.ones(8)
    tensor = torch.ones(2)
    function = sample.make_function()
    short_lived = sample.make_short_lived("short_lived")
    callable = sample.Callable()
    thing = sample.Thing(1)
    class Below(sample.Thing):
        pass
    below = Below(1)
    method = thing.method

    def work(when):
        for kind, expression in {kinds!r}.items():
            code = compile(expression, kind, "eval")
            with rls.operation(f"{{when}}: {{kind}}"):
                for _ in range(100 if kind != "wait" else 3):
                    eval(code)

    work("begun")
    native.end()
    counts = _runtime.intercept_counts()
    work("ended")
    function = sample.make_function()
    work("ended, made since")
    counts["passed_through"] = _runtime.intercept_counts()["passed_through"]
    native.begin()
    native.catch_up()
    auto.begin(operations=False)  # as rls.profile does
    work("begun again")
    native.end()
    work("ended again")
    print(json.dumps(counts))
"""
VARIABLES = {"RLSCOPE_NUMPY": "1", "RLSCOPE_WAITS": "1"}


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    folder: Path = tmp_path_factory.mktemp("sample")
    build_sample(folder)
    script = PROGRAM.format(folder=str(folder), kinds={**KINDS, **SILENT})
    directory = str(tmp_path_factory.mktemp("end") / "run")
    return record(directory, script, variables=VARIABLES)


@pytest.fixture(scope="module")
def calls(trace: Recorded) -> dict[str, list[str]]:
    return calls_by_operation(trace)


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_is_recorded_until_the_end_and_after_the_next_begin(
    calls: dict[str, list[str]], kind: str
) -> None:
    assert calls[f"begun: {kind}"]
    assert calls[f"begun again: {kind}"] == calls[f"begun: {kind}"]


def test_no_kind_is_recorded_after_the_end(calls: dict[str, list[str]]) -> None:
    assert {where: names for where, names in calls.items() if where.startswith("ended")} == {}


def test_every_pointer_is_taken_out(trace: Recorded) -> None:
    counts = json.loads(trace.output)
    assert counts["pointers"] == counts["replaced"] == 0
    assert counts["refused"] == counts["passed_through"] == 0


@pytest.mark.parametrize("kind", SILENT)
def test_calls_of_no_library_are_not_recorded(calls: dict[str, list[str]], kind: str) -> None:
    assert f"begun: {kind}" not in calls
