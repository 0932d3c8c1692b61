"""What the scan finds in the real PyTorch: every way in which Python reaches its native code."""

from __future__ import annotations

import importlib.util
import json

import pytest
from support.process.native_calls import calls_by_operation, record_calls
from support.process.recorded_child import Recorded

pytestmark = [
    pytest.mark.skipif(
        importlib.util.find_spec("torch") is None, reason="PyTorch is not installed"
    ),
]

# Expression -> the native function that it is recorded as; None: any, and at least one.
KINDS = {
    "a + b": "torch._C:TensorBase.__add__",
    "a @ b": "torch._C:TensorBase.__matmul__",
    "-a": "torch._C:TensorBase.neg",
    "a.add(b)": "torch._C:TensorBase.add",
    "torch.add(a, b)": "torch:add",
    "F.linear(a, b)": "torch._C._nn:linear",
    "a.sum().item()": "torch._C:TensorBase.item",
    "a[0]": "torch._C:TensorBase.__getitem__",
    "a.__setitem__(0, 1.0)": "torch._C:TensorBase.__setitem__",
    "len(a)": None,
    "bool(a.sum())": None,
    "float(a.sum())": None,
    "torch.Tensor([1.0, 2.0])": "torch._C:TensorBase.__new__",
    "torch.tensor([1.0])": "torch:tensor",
    "torch.zeros(2)": "torch:zeros",
    "torch.Size([1])": "torch:Size.__new__",
    "torch.Generator()": None,
    "a.shape": "torch._C:TensorBase.shape",
    "a.grad": "torch._C:TensorBase.grad",
    "setattr(leaf, 'grad', None)": "torch._C:TensorBase.grad",
    "Double.apply(leaf)": "torch._C:_FunctionBase.apply",
    "(leaf * 2).sum().backward()": "torch._C:_EngineBase.run_backward",
    "torch.ops.aten.relu.default(a)": None,
    "torch.ops.aten.cumsum(a, 0)": None,
    "torch.linalg.norm(a)": "torch._C._linalg:linalg_norm",
    "torch.fft.fft(a)": "torch._C._fft:fft_fft",
    "torch.special.expit(a)": "torch._C._special:special_expit",
    "torch.is_grad_enabled()": "torch:is_grad_enabled",
    "nn.Linear(3, 3)(a)": "torch._C._nn:linear",
    "pickle.loads(pickle.dumps(a))": None,
    "scripted(a)": None,
    "torch.func.vmap(lambda row: row * 2)(a)": None,
    "Late(a)": None,
}

PROGRAM = """
import json, pickle, sys
def watch():
    _runtime.intercept_watch("*/site-packages/torch/*", "framework")
    _runtime.intercept_at_import(None, None, True)

def scan_is_due():
    return _runtime.intercept_counts()["scans"] == 0

watch()
assert scan_is_due()
import torch
counts = _runtime.intercept_counts()
import torch.nn.functional as F
from torch import nn
torch.set_num_threads(1)

class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2
    @staticmethod
    def backward(ctx, gradient):
        return gradient * 2

class Late(torch.Tensor):
    def __new__(cls, data):
        return data.as_subclass(cls)

a, b = torch.rand(3, 3), torch.rand(3, 3)
leaf = torch.rand(3, requires_grad=True)
scripted = torch.jit.script(nn.Linear(3, 3))
for kind in {kinds}:
    code = compile(kind, kind, "eval")
    eval(code)
    with rls.operation(kind):
        eval(code)
with rls.operation("import"):
    import torch._dynamo
print(json.dumps(counts))
"""


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    directory = str(tmp_path_factory.mktemp("discovery") / "run")
    return record_calls(directory, PROGRAM.format(kinds=list(KINDS)))


@pytest.fixture(scope="module")
def calls(trace: Recorded) -> dict[str, list[str]]:
    return calls_by_operation(trace)


@pytest.mark.parametrize("kind", KINDS)
def test_kind_of_call_is_recorded(calls: dict[str, list[str]], kind: str) -> None:
    expected = KINDS[kind]
    assert calls.get(kind), "no native call was recorded"
    assert expected is None or expected in calls[kind]


def test_one_scan_covers_an_import(trace: Recorded) -> None:
    """torch loads its libraries one by one, in the course of one import."""
    counts = json.loads(trace.output)
    assert counts["scans"] == 1
    assert counts["libraries"] > 3
    assert counts["pointers"] > 10_000
    assert counts["refused"] == counts["shared"] == 0


def test_names_are_of_the_library(calls: dict[str, list[str]]) -> None:
    """Functions are named after where the library has them, not after a dispatcher."""
    named = [name for names in calls.values() for name in names]
    assert all(":" in name for name in named)
    assert not [name for name in named if "PyCapsule" in name or "function_record" in name]


def test_functions_made_in_an_import_have_names(calls: dict[str, list[str]]) -> None:
    """torch uses the classes that it binds long before its import ends, and a scan names them."""
    outside = calls[""]
    assert len(outside) > 10_000
    assert "torch._C:FunctionSchema.name" in outside
    assert sum("(" in name for name in outside) < 0.02 * len(outside)


def test_unpatch_restores_what_a_scan_reaches(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Nothing is recorded afterwards, and another scan finds everything again."""
    trace = record_calls(
        str(tmp_path_factory.mktemp("unpatch") / "run"),
        """
        _runtime.intercept_watch("*/site-packages/torch/*", "framework")
        import torch
        _runtime.intercept_scan()
        key = {torch.add: 1, torch.Tensor.add: 2}
        def work(name):
            with rls.operation(name):
                assert (torch.ones(2) + torch.add(torch.ones(2), 1))[0] == 3
                assert key[torch.add] == 1 and key[torch.Tensor.add] == 2
        work("patched")
        restored = _runtime.intercept_unpatch()
        assert restored["remembered"] > 10_000
        counts = _runtime.intercept_counts()
        assert counts["pointers"] == counts["replaced"] == 0, counts
        work("unpatched")
        assert _runtime.intercept_counts()["passed_through"] == 0
        _runtime.intercept_scan()
        work("patched again")
        """,
    )
    calls = calls_by_operation(trace)
    assert calls["patched"] == calls["patched again"]
    assert "torch:add" in calls["patched"]
    assert "unpatched" not in calls
