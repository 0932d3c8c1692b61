"""Deep Q-learning on CartPole with PyTorch on a CUDA device, annotated: small, and always as long.

    dqn_cartpole.py [--profiler kernels.json [--around]] [--workers N] [--children N]
                    [--ending exit|_exit]

On simulated CUDA kernels compute nothing, so nothing here depends on a value that comes back: the
program makes the same kernels each time it runs.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import multiprocessing
import os
from collections.abc import Iterator

import gymnasium
import numpy
import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset

import rlscope as rls

STEPS = 24
TRAIN_EVERY = 4
BATCH = 16


class Noisy(torch.autograd.Function):
    """The identity, with a backward in Python: autograd's own thread runs it."""

    @staticmethod
    def forward(context: object, value: Tensor) -> Tensor:
        return value * 1.0

    @staticmethod
    def backward(context: object, gradient: Tensor) -> Tensor:  # type: ignore[override]
        total = sum(range(2000))  # some Python time that no native call hides
        return gradient * float(total > 0)


class Transitions(Dataset[Tensor]):
    """What the replay buffer holds."""

    def __init__(self, rows: list[numpy.ndarray]) -> None:
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, index: int) -> Tensor:
        return torch.from_numpy(self._rows[index])


class Agent:
    """Network, target network and optimizer on the device."""

    def __init__(self, device: str) -> None:
        self.device = device
        self.network = self._make()
        self.target = self._make()
        self.optimizer = torch.optim.Adam(self.network.parameters(), lr=1e-3)

    def _make(self) -> nn.Module:
        layers = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2))
        return layers.to(self.device)

    def act(self, observation: numpy.ndarray) -> int:
        with torch.no_grad():
            values = self.network(torch.from_numpy(observation).to(self.device))
        return abs(int(values.argmax().item())) % 2

    def train(self, batch: Tensor) -> None:
        batch = batch.to(self.device)
        values = Noisy.apply(self.network(batch))
        with torch.no_grad():
            wanted = 0.9 * self.target(batch) + 1.0
        loss = (values - wanted).square().mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


def batches(memory: list[numpy.ndarray], workers: int) -> Iterator[Tensor]:
    if workers:
        yield from DataLoader(Transitions(memory[-BATCH:]), BATCH, num_workers=workers)
    else:
        yield torch.from_numpy(numpy.stack(memory[-BATCH:]))


def play(workers: int) -> None:
    env = gymnasium.make("CartPole-v1")
    agent = Agent("cuda")
    observation, _ = env.reset(seed=1)
    memory: list[numpy.ndarray] = []
    for step in range(STEPS):
        rls.iteration()
        with rls.operation("inference"):
            agent.act(observation)
        with rls.operation("simulation"):
            observation, _, ended, truncated, _ = env.step(step % 2)
            if ended or truncated:
                observation, _ = env.reset(seed=1)
        memory.append(observation)
        if step % TRAIN_EVERY == TRAIN_EVERY - 1:
            for batch in batches(memory, workers):
                with rls.operation("backprop"):
                    agent.train(batch)
    torch.cuda.synchronize()


@contextlib.contextmanager
def profiled(file: str) -> Iterator[None]:
    """Writes the names of the kernels that PyTorch's own profiler saw, in their order."""
    if not file:
        yield
        return
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as profiler:
        yield
    rows = [
        [event.name, event.time_range.elapsed_us()]
        for event in profiler.events()
        if event.device_type == torch.autograd.DeviceType.CUDA
    ]
    with open(file, "w") as output:
        json.dump(rows, output)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--profiler", default="")
    parser.add_argument("--around", action="store_true", help="train before and after it too")
    parser.add_argument("--workers", type=int, default=0)
    parser.add_argument("--children", type=int, default=0)
    parser.add_argument("--ending", choices=("exit", "_exit"), default="exit")
    options = parser.parse_args()
    torch.set_num_threads(1)
    spawned = multiprocessing.get_context("spawn")
    children = [spawned.Process(target=play, args=(0,)) for _ in range(options.children)]
    for child in children:
        child.start()
    if options.around:
        play(0)
    with profiled(options.profiler):
        play(options.workers)
    if options.around:
        play(0)
    for child in children:
        child.join()
        assert child.exitcode == 0
    print("trained", flush=True)
    if options.ending == "_exit":
        os._exit(0)


if __name__ == "__main__":
    main()
