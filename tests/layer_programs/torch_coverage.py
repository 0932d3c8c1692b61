"""Trains and computes with PyTorch while two witnesses look on: one JSON line per workload.

    python tests/layer_programs/torch_coverage.py FOLDER [--sample SECONDS]

FOLDER holds the extension module coverage_oracle. With --sample, the main thread is sampled for
that much CPU time in each of three workloads instead.
"""

from __future__ import annotations

import importlib
import io
import json
import pickle
import sys
import time
from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.nn import functional

torch.set_num_threads(1)
torch.manual_seed(1)
sys.path.insert(0, sys.argv[1])
oracle = importlib.import_module("coverage_oracle")


class Doubled(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(x)
        return (x * 2).tanh()

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> torch.Tensor:
        (x,) = ctx.saved_tensors
        return gradients[0] * (1 - (x * 2).tanh() ** 2) * 2


def ppo() -> Callable[[], Any]:
    from rlscope.workloads import ppo_cartpole

    trainer = ppo_cartpole.Trainer(ppo_cartpole.Args(annotate=False, print_every=0))
    return trainer.run_iteration


def cnn() -> Callable[[], Any]:
    layers = [nn.Conv2d(4, 16, 8, 4), nn.ReLU(), nn.Conv2d(16, 32, 4, 2), nn.ReLU(), nn.Flatten()]
    network = nn.Sequential(*layers, nn.Linear(32 * 81, 64), nn.ReLU(), nn.Linear(64, 6))
    optimizer = torch.optim.Adam(network.parameters())
    data, target = torch.randn(8, 4, 84, 84), torch.randint(0, 6, (8,))

    def step() -> None:
        loss = functional.cross_entropy(network(data), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    return step


def lstm() -> Callable[[], Any]:
    network, data = nn.LSTM(16, 64), torch.randn(20, 8, 16)
    return lambda: network(data)[0].sum().backward()


def custom_autograd() -> Callable[[], Any]:
    x = torch.randn(16, 16, requires_grad=True)

    def step() -> None:
        y = Doubled.apply(x)
        y.register_hook(lambda gradient: gradient * 1.0)
        y.sum().backward()
        x.grad = None

    return step


def operators() -> Callable[[], Any]:
    a = torch.randn(16, 16, requires_grad=True)

    def step() -> None:
        x = torch.ops.aten.add.Tensor(a, 1)
        x = torch.ops.aten.mul(x, 2)
        torch.ops.aten.relu.default(x)
        torch.special.expit(x)
        torch.linalg.norm(x)
        torch.fft.fft(x.detach())
        x.detach()[1] = 2
        results = [x[0], x[0, 1:3], -x, x @ x, x / 2, 2 / x, x // 2, x > 0, x.T, x.data, abs(x)]
        results += [list(x), len(x), bool((x > 1e9).any()), float(x.sum()), x**2]
        torch.tensor([1.0, 2.0])
        torch.Tensor([1, 2])
        torch.from_numpy(torch.zeros(2).numpy())
        torch.empty_like(x).copy_(x.to(torch.float64).clone())
        x += 1
        del results

    return step


def functorch() -> Callable[[], Any]:
    x = torch.randn(4, 4)

    def step() -> None:
        torch.func.vmap(lambda t: (t * 2).sum())(x)
        torch.func.grad(lambda t: (t**2).sum())(x)

    return step


def fused_optimizer() -> Callable[[], Any]:
    network, data = nn.Linear(8, 8), torch.randn(4, 8)
    optimizer = torch.optim.AdamW(network.parameters(), fused=True)

    def step() -> None:
        network(data).sum().backward()
        optimizer.step()
        optimizer.zero_grad()

    return step


def scripted() -> Callable[[], Any]:
    network, data = torch.jit.script(nn.Sequential(nn.Linear(4, 4), nn.ReLU())), torch.randn(2, 4)
    return lambda: network(data)


def storage() -> Callable[[], Any]:
    network = nn.Linear(4, 4)

    def step() -> None:
        stored = io.BytesIO()
        torch.save(network.state_dict(), stored)
        stored.seek(0)
        torch.load(stored)
        pickle.loads(pickle.dumps(network.weight.detach()))

    return step


def data_loader() -> Callable[[], Any]:
    from torch.utils.data import DataLoader, TensorDataset

    loader = DataLoader(TensorDataset(torch.randn(16, 4), torch.randn(16)), batch_size=8)
    return lambda: [batch.mean() for batch, _ in loader]


WORKLOADS = (ppo, cnn, lstm, custom_autograd, operators, functorch, fused_optimizer, scripted)
WORKLOADS += (storage, data_loader)


def witness(step: Callable[[], Any]) -> dict[str, Any]:
    """What both witnesses say of one step."""
    for _ in range(2):
        step()
    oracle.watch_operators()
    step()
    top_level, inside, missed = oracle.take_operators()
    oracle.watch_builtins()
    step()
    builtins, unpatched, unseen = oracle.take_builtins()
    return {
        "top_level": top_level,
        "inside": inside,
        "missed": missed,
        "builtins": builtins,
        "unpatched": unpatched,
        "unseen": unseen,
    }


def sample(step: Callable[[], Any], seconds: float) -> dict[str, int]:
    """Samples of the main thread over that much CPU time."""
    step()
    end = time.process_time() + seconds
    oracle.watch_samples()
    while time.process_time() < end:
        step()
    samples, native, inside = oracle.take_samples()
    return {"samples": samples, "native": native, "inside": inside}


def main() -> None:
    seconds = float(sys.argv[3]) if sys.argv[2:3] == ["--sample"] else 0.0
    for make in (ppo, cnn, lstm) if seconds else WORKLOADS:
        step = make()
        found = sample(step, seconds) if seconds else witness(step)
        print(json.dumps({"workload": make.__name__, **found}), flush=True)


if __name__ == "__main__":
    main()
