"""What of PyTorch must be the same with rlscope and without: one JSON line per section.

    python tests/layer_programs/torch_sections.py [SECTION ...]

Each section is an operation of its own, so that a trace shows whether its native calls were seen.
Floating point numbers are printed exactly.
"""

from __future__ import annotations

import copy
import cProfile
import functools
import hashlib
import inspect
import io
import json
import pickle
import pstats
import sys
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch_bits import digest, seeded
from torch_parallel import data_loader, distributed_training, queues

import rlscope as rls

torch.set_num_threads(1)

_FUNCTIONS = {
    "torch.add": torch.add,
    "Tensor.add": torch.Tensor.add,
    "Tensor.__add__": torch.Tensor.__add__,
    "Tensor.shape": torch.Tensor.shape,
    "linear": functional.linear,
    "run_backward": torch.autograd.Variable._execution_engine.run_backward,
    "Size": torch.Size,
    "dtype": torch.float32,
    "aten.add": torch.ops.aten.add,
    "aten.add.Tensor": torch.ops.aten.add.Tensor,
}


def inspection() -> Any:
    """Everything that a debugger, a documentation tool or torch itself asks of a function."""
    return {name: _looks(function) for name, function in _FUNCTIONS.items()}


def _looks(function: Any) -> list[str]:
    questions: list[Callable[[Any], Any]] = [
        type,
        inspect.isbuiltin,
        inspect.isroutine,
        inspect.ismethoddescriptor,
        inspect.isgetsetdescriptor,
        callable,
        inspect.getdoc,
        inspect.getmodule,
        _signature,
        lambda each: [name for name in dir(each) if not name.startswith("_abc")],
        lambda each: getattr(each, "__name__", None),
        lambda each: getattr(each, "__qualname__", None),
        lambda each: getattr(each, "__module__", None),
        lambda each: getattr(each, "__text_signature__", None),
        lambda each: repr(each).split(" at 0x")[0].split(" object")[0],
    ]
    return [str(question(function)) for question in questions]


def _signature(function: Any) -> str:
    try:
        return str(inspect.signature(function))
    except (TypeError, ValueError) as error:
        return type(error).__name__


def identity() -> Any:
    """Builtins hash and compare by their C pointer; dictionaries of torch are keyed by them."""
    by_function = {function: name for name, function in _FUNCTIONS.items()}
    x = torch.ones(2)
    return {
        "found": [by_function[function] for function in _FUNCTIONS.values()],
        "same": torch.add == torch._C._VariableFunctions.add,
        "different": torch.add == torch.sub,
        "hash": hash(torch.add) == hash(torch._C._VariableFunctions.add),
        "bound": [x.add == x.add, x.add == torch.ones(2).add, hash(x.add) == hash(x.add)],
        "operators": len({torch.ops.aten.add.Tensor, torch.ops.aten.add.Tensor, torch.add}),
        "overrides": len(torch.overrides.get_testing_overrides()),
        "overridable": len(torch.overrides.get_overridable_functions()[torch.Tensor]),
    }


def pickling() -> Any:
    """Functions by name, tensors and modules by value, through pickle, torch.save and copy."""
    layer = seeded(lambda: nn.Linear(3, 2))
    stored = io.BytesIO()
    torch.save(layer.state_dict(), stored)
    stored.seek(0)
    loaded = torch.load(stored)
    return {
        "functions": [
            hashlib.sha256(pickle.dumps(each)).hexdigest()
            for each in (torch.add, functional.linear, torch.float32, torch.Size)
        ],
        "same": pickle.loads(pickle.dumps(torch.add)) is torch.add,
        "tensor": digest(pickle.loads(pickle.dumps(layer.weight.detach()))),
        "module": digest(*pickle.loads(pickle.dumps(layer)).parameters()),
        "saved": [*loaded, digest(*loaded.values())],
        "copied": digest(*copy.deepcopy(layer).parameters()),
        "partial": str(functools.partial(torch.add, 1)(torch.ones(1))),
    }


def errors() -> Any:
    """Messages and types of what goes wrong inside native code."""
    wrong: list[Callable[[], Any]] = [
        lambda: torch.add(1),
        lambda: torch.ones(2) + torch.ones(3),
        lambda: torch.ones(2)[5],
        lambda: torch.ones(2, 3) @ torch.ones(2, 3),
        lambda: torch.linalg.inv(torch.zeros(2, 2)),
        lambda: torch.ones(3).view(2),
        lambda: torch.ones(2).backward(),
        lambda: torch.zeros(2, dtype=torch.nonsense),  # type: ignore[attr-defined]
        lambda: torch.ones(2).item(),
    ]
    return [_error(each) for each in wrong]


def _error(function: Callable[[], Any]) -> list[str]:
    try:
        function()
    except Exception as error:
        return [type(error).__name__, str(error).splitlines()[0]]
    return ["nothing"]


def ppo_losses() -> Any:
    """The workload that ships with rlscope: returns and weights after two iterations."""
    from rlscope.workloads import ppo_cartpole

    trainer = ppo_cartpole.Trainer(ppo_cartpole.Args(annotate=False, print_every=0, num_steps=32))
    for _ in range(2):
        trainer.run_iteration()
    return [digest(*trainer.agent.parameters()), digest(trainer.rollout.value), trainer.returns]


def network_losses() -> Any:
    """Losses of three kinds of network, bit by bit."""
    return {
        "cnn": _train(_convolutional, torch.optim.Adam),
        "lstm": _train(_recurrent, torch.optim.SGD),
        "attention": _train(_attention, functools.partial(torch.optim.AdamW, fused=True)),
    }


def _train(make: Callable[[], tuple[nn.Module, Tensor]], optimizer_of: Callable[..., Any]) -> Any:
    network, data = seeded(make)
    optimizer = optimizer_of(network.parameters(), lr=1e-2)
    losses = []
    for _ in range(3):
        output = network(data)
        output = output[0] if isinstance(output, tuple) else output
        loss = output.square().mean()
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item().hex())
    return losses


def _convolutional() -> tuple[nn.Module, Tensor]:
    layers = [nn.Conv2d(2, 4, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.LazyLinear(3)]
    return nn.Sequential(*layers), torch.randn(2, 2, 12, 12)


def _recurrent() -> tuple[nn.Module, Tensor]:
    return nn.LSTM(4, 8), torch.randn(5, 3, 4)


def _attention() -> tuple[nn.Module, Tensor]:
    return nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0), torch.randn(4, 2, 8)


class _Doubled(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        ctx.save_for_backward(x)
        return (2 * x).tanh()

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Tensor:
        (x,) = ctx.saved_tensors
        return gradients[0] * (1 - (2 * x).tanh() ** 2) * 2


class _Labelled(torch.Tensor):
    seen: ClassVar[list[str]] = []

    @classmethod
    def __torch_function__(
        cls, function: Any, kinds: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        cls.seen.append(getattr(function, "__name__", "?"))
        return super().__torch_function__(function, kinds, args, kwargs or {})


class _Plain(torch.Tensor):
    """A subclass that is made after the patch: its slots are inherited from patched ones."""


def python_in_native() -> Any:
    """Python that autograd, hooks, custom operators and subclasses are called back with."""
    from torch.utils.checkpoint import checkpoint

    x = torch.arange(6.0).reshape(2, 3).requires_grad_()
    hooked: list[str] = []
    y = _Doubled.apply(x)
    y.register_hook(lambda gradient: hooked.append(digest(gradient)))
    checkpoint(lambda z: (z * y).sum(), y, use_reentrant=False).backward()
    labelled = torch.ones(2).as_subclass(_Labelled)
    plain = torch.ones(2).as_subclass(_Plain)
    results = [labelled + 1, labelled[0], len(labelled), plain + plain, plain[1]]
    return {
        "gradient": digest(x.grad),
        "hooked": hooked,
        "kinds": [type(each).__name__ for each in results],
        "seen": _Labelled.seen,
        "jvp": digest(*torch.func.jvp(torch.sin, (torch.ones(2),), (torch.ones(2),))),
    }


def functorch() -> Any:
    """Transformations of functions."""
    x = torch.arange(6.0).reshape(2, 3)
    return {
        "vmap": digest(torch.func.vmap(torch.sum)(x)),
        "grad": digest(torch.func.grad(lambda t: (t**3).sum())(x)),
        "hessian": digest(torch.func.hessian(lambda t: (t**3).sum())(x)),
        "both": digest(torch.func.vmap(torch.func.grad(lambda t: (t * t).sum()))(x)),
    }


def graphs() -> Any:
    """What torch.fx, torch.jit and torch.export make of a program."""
    module = seeded(lambda: nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2)))
    x = torch.ones(1, 3)
    scripted = torch.jit.script(module)
    stored = io.BytesIO()
    torch.jit.save(scripted, stored)
    stored.seek(0)
    exported = torch.export.export(module, (x,))
    return {
        "fx": torch.fx.symbolic_trace(module).code,
        "traced": digest(torch.jit.trace(module, x)(x)),
        "scripted": digest(torch.jit.load(stored)(x)),
        "exported": [node.name for node in exported.graph.nodes],
        "ran": digest(exported.module()(x)),
    }


def compiled() -> Any:
    """torch.compile with its own backend and with one that counts graphs."""
    import torch._dynamo
    from torch._dynamo.testing import CompileCounter

    module = seeded(lambda: nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1)))
    x = torch.linspace(-1, 1, 12).reshape(4, 3)
    counter = CompileCounter()
    torch.compile(module, backend=counter, fullgraph=True)(x)
    fast = torch.compile(lambda t: torch.relu(module(t) + 1).sum())
    loss = fast(x)
    loss.backward()
    gradients = [parameter.grad for parameter in module.parameters()]
    return [counter.frame_count, loss.item().hex(), digest(*gradients)]


_HELD = rls.operation("held")


@rls.operation("decorated")
def _scaled(x: Tensor) -> Tensor:
    return 2 * x


class _Annotated(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(3, 3)

    @rls.operation("method")
    def shifted(self, x: Tensor) -> Tensor:
        return self.layer(x) - 1

    def forward(self, x: Tensor) -> Tensor:
        with rls.operation("named"):
            x = self.layer(x)
        with _HELD, rls.phase("inside"):
            x = x + 1
        rls.set_operation("set")
        x = _scaled(x)
        rls.end_operation("set")
        return self.shifted(x)


def annotated() -> Any:
    """Annotations of every kind inside a compiled function: one graph, no break."""
    from torch._dynamo.testing import CompileCounter

    module = seeded(_Annotated)
    x = torch.ones(2, 3)
    counter = CompileCounter()
    result = torch.compile(module, backend=counter, fullgraph=True)(x)
    return [counter.frame_count, counter.op_count, digest(result) == digest(module(x))]


def _work() -> Tensor:
    x = torch.ones(4, 4)
    return torch.linalg.norm(x @ x + x[0]).exp()


def profilers() -> Any:
    """torch.profiler and cProfile beside us: they see what they saw."""
    from torch.profiler import ProfilerActivity, profile

    python_profile = cProfile.Profile()
    with profile(activities=[ProfilerActivity.CPU]) as native_profile:
        python_profile.enable()
        result = _work()
        python_profile.disable()
    seen = {event.name for event in native_profile.events()}
    functions = {name for _, _, name in pstats.Stats(python_profile).stats}  # type: ignore[attr-defined]
    return {
        "result": digest(result),
        "torch.profiler": sorted(name for name in seen if name.startswith("aten::")),
        "cProfile": sorted(name for name in functions if "torch" in name or name == "_work"),
    }


def tracebacks() -> Any:
    """The C++ frames that PyTorch's own unwinder finds above a call, without ours."""
    from torch._C import _profiler

    calls = 100  # the last ones go the way of frequent calls
    found = [_profiler.gather_traceback(False, False, True) for _ in range(calls)]
    traces = _profiler.symbolize_tracebacks([found[0], found[-1]])
    names = [[frame["name"] for frame in trace] for trace in traces]
    return [[name for name in trace if "rlscope" not in name] for trace in names]


SECTIONS: dict[str, Callable[[], Any]] = {
    each.__name__: each
    for each in (
        inspection,
        identity,
        pickling,
        errors,
        ppo_losses,
        network_losses,
        python_in_native,
        functorch,
        graphs,
        compiled,
        annotated,
        data_loader,
        queues,
        distributed_training,
        profilers,
        tracebacks,
    )
}


def results(names: list[str]) -> Iterator[tuple[str, Any]]:
    """(section, what it found)."""
    for name in names or SECTIONS:
        with rls.operation(name):
            yield name, SECTIONS[name]()


if __name__ == "__main__":
    for section, found in results(sys.argv[1:]):
        print(json.dumps({"section": section, "found": found}), flush=True)
