"""What programs do with PyTorch that hooks in its classes could disturb, one printed line each.

Run as a script, in processes of its own: with and without automatic operations every line must be
the same, to the last bit of every loss.
"""

from __future__ import annotations

import contextlib
import copy
import hashlib
import inspect
import pickle
import sys
from collections.abc import Callable
from typing import Any

import numpy
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.a, self.b = nn.Linear(4, 8), nn.Linear(8, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.b(torch.tanh(self.a(x)))


def make(seed: int = 0) -> Net:
    torch.manual_seed(seed)
    return Net()


def fit(call: Any, optimizer: Any, steps: int = 3) -> list[str]:
    """Losses as hexadecimal text, which is exact."""
    losses = []
    for step in range(steps):
        loss = call(torch.arange(8.0).reshape(2, 4) + step).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item().hex())
    return losses


def optimizers() -> list[list[str]]:
    kinds = (torch.optim.SGD, torch.optim.Adam, torch.optim.AdamW, torch.optim.RMSprop)
    return [fit(net, kind(net.parameters(), lr=1e-2)) for kind in kinds for net in [make()]]


def closures() -> list[str]:
    net = make()
    optimizer = torch.optim.LBFGS(net.parameters(), lr=0.1, max_iter=4)

    def closure() -> torch.Tensor:
        optimizer.zero_grad()
        loss = net(torch.ones(2, 4)).square().mean()
        loss.backward()
        return loss

    return [optimizer.step(closure).item().hex() for _ in range(2)]


def schedules() -> Any:
    optimizer = torch.optim.SGD(make().parameters(), lr=1.0)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1)
    optimizer.step()
    scheduler.step()
    return scheduler.get_last_lr()


def scripts() -> Any:
    @torch.jit.script
    def doubled(x: torch.Tensor) -> torch.Tensor:
        with torch.no_grad():
            y = x * 2
        return y + x

    net = make()
    scripted, traced = torch.jit.script(net), torch.jit.trace(net, torch.ones(1, 4))
    nodes = len(list(torch.fx.symbolic_trace(net).graph.nodes))
    x = torch.ones(1, 4)
    return doubled(x).tolist(), scripted(x).tolist(), traced(x).tolist(), nodes


def counted(run: Callable[[], Any]) -> Any:
    """What it returns, how much TorchDynamo captured, how often it gave up."""
    from torch._dynamo import reset
    from torch._dynamo.utils import counters

    reset()
    counters.clear()
    return run(), dict(counters["stats"]), sum(counters["graph_break"].values())


def compiles() -> Any:
    def module() -> Any:
        net = make(1)
        compiled = torch.compile(net, fullgraph=True, backend="aot_eager")
        return fit(compiled, torch.optim.SGD(net.parameters(), lr=0.1))

    def blocks() -> Any:
        net = make(2)

        @torch.compile(fullgraph=True, backend="aot_eager")
        def call(x: torch.Tensor) -> torch.Tensor:
            with torch.no_grad():
                y = net(x)
            with torch.set_grad_enabled(False):
                y = y + net(x)
            with torch.inference_mode():
                y = y + net(x)
            return y + net(x)

        return call(torch.ones(2, 4)).tolist()

    def stack() -> Any:
        net = make(4)

        @torch.compile(backend="eager")
        def call(x: torch.Tensor) -> torch.Tensor:
            with contextlib.ExitStack() as stack:
                stack.enter_context(torch.no_grad())
                y = net(x)
            block = torch.inference_mode()
            block.__enter__()
            y = y + net(x)
            block.__exit__(None, None, None)
            return torch.no_grad()(net)(x) + y.clone()

        return call(torch.ones(2, 4)).tolist()

    def whole_step() -> Any:
        net = make(3)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)

        @torch.compile(backend="eager")
        def step(x: torch.Tensor) -> torch.Tensor:
            loss = net(x).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            return loss

        return [step(torch.ones(2, 4)).item().hex() for _ in range(3)]

    return [counted(run) for run in (module, blocks, stack, whole_step)]


def exports() -> Any:
    return len(list(torch.export.export(make(), (torch.ones(1, 4),)).graph.nodes))


def functions() -> Any:
    x = torch.ones(3, 4)
    net = make()
    gradient = torch.func.grad(lambda y: net(y).square().sum())(x)
    return gradient.tolist(), torch.vmap(net)(x).tolist()


def gradients() -> Any:
    x = torch.ones(2, 4, requires_grad=True)
    checkpoint(make(), x, use_reentrant=False).sum().backward()
    y = torch.ones(2, requires_grad=True)
    (slope,) = torch.autograd.grad((y**3).sum(), y, create_graph=True)
    slope.sum().backward()
    assert x.grad is not None and y.grad is not None
    return x.grad.tolist(), y.grad.tolist()


def modes() -> Any:
    @torch.no_grad()
    def generator() -> Any:
        for _ in range(3):
            yield torch.is_grad_enabled()

    with contextlib.ExitStack() as stack:
        stack.enter_context(torch.no_grad())
        inside = make()(torch.ones(1, 4)).requires_grad
    with contextlib.suppress(KeyError), torch.inference_mode():
        raise KeyError
    return list(generator()), inside, torch.is_grad_enabled(), torch.is_inference_mode_enabled()


def looks() -> Any:
    functions = (nn.Module.__call__, torch.no_grad.__enter__, torch.inference_mode.__exit__)
    return (
        [inspect.isfunction(each) for each in functions],
        [str(inspect.signature(each)) for each in functions],
        hashlib.sha1(inspect.getsource(nn.Module.__call__).encode()).hexdigest(),
        str(inspect.signature(torch.optim.Adam.step)),
        str(inspect.signature(torch.optim.Optimizer.profile_hook_step)),
    )


def pickles() -> Any:
    net = nn.Linear(4, 2)
    optimizer = pickle.loads(pickle.dumps(torch.optim.Adam(net.parameters())))
    optimizer.step()
    return type(pickle.loads(pickle.dumps(net))), type(optimizer), type(copy.deepcopy(net))


def profiles() -> Any:
    net = make()
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profiler:
        fit(net, torch.optim.SGD(net.parameters(), lr=0.1), steps=1)
    return sorted(row.key for row in profiler.key_averages() if "Optimizer" in row.key)


class Named(torch.Tensor):
    @staticmethod
    def __new__(cls, data: Any, name: str) -> Named:
        made: Named = torch.Tensor._make_subclass(cls, torch.as_tensor(data))
        made.label = name
        return made


def attempt(call: Callable[[], Any]) -> Any:
    try:
        return call()
    except (TypeError, RuntimeError) as error:
        return type(error).__name__, str(error).splitlines()[0]


def conversions() -> Any:
    rows = [[1.0, 2.0], [3.0, 4.0]]
    x = torch.tensor(data=rows, dtype=torch.float64)
    known = {torch.as_tensor: 1, torch.tensor: 2, torch.Tensor.to: 3, torch.Tensor: 4,
             torch.from_numpy: 5}  # fmt: skip

    @torch.compile(fullgraph=True, backend="eager")
    def traced(y: torch.Tensor) -> torch.Tensor:
        return torch.as_tensor(y).to(torch.float64).float().unsqueeze(0) + torch.tensor(1.0)

    return (
        [str(call(x)) for call in (torch.as_tensor, torch.asarray, torch.Tensor)],
        str(attempt(lambda: torch.Tensor(2, device="nowhere"))),
        str(attempt(lambda: torch.tensor())),
        str(attempt(lambda: torch.from_numpy())), str(attempt(lambda: torch.from_numpy([1]))),
        str(attempt(lambda: torch.from_numpy(obj=numpy.ones(2)))),
        str(torch.from_numpy(numpy.ones(2))), known[torch.from_numpy], torch.from_numpy.__name__,
        str(attempt(lambda: torch.Tensor.to())),
        [str(torch.FloatTensor(rows)), str(torch.Tensor(*[2, 2]).shape), str(torch.Tensor())],
        str(x.to(device="cpu", dtype=torch.half, copy=True)), x.type(), str(Named(rows, "n").to(x)),
        [known[each] for each in (torch.as_tensor, torch.tensor, torch.Tensor.to, torch.Tensor)],
        [pickle.loads(pickle.dumps(each)) is each for each in (torch.Tensor, torch.as_tensor)],
        [type(each).__name__ for each in (torch.as_tensor, torch.Tensor.to, torch.Tensor)],
        str(traced(torch.tensor(rows))),
    )  # fmt: skip


HABITS = (
    optimizers, closures, schedules, scripts, compiles, exports, functions, gradients, modes, looks,
    pickles, profiles, conversions,
)  # fmt: skip


def main() -> None:
    torch.set_num_threads(1)
    for habit in HABITS:
        print(habit.__name__, habit(), flush=True)


if __name__ == "__main__":
    if "--auto" in sys.argv:
        from rlscope import auto

        auto.begin()
    main()
