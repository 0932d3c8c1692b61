"""Deep Q-learning on made-up transitions with PyTorch on the GPU: a fixed number of updates.

python torch_training.py UPDATES [FILE]     FILE: what torch.profiler saw, as a Chrome trace
"""

from __future__ import annotations

import contextlib
import sys
import time
from typing import Any

import torch
from driver import say
from torch import nn

import rlscope as rls

WARM_UP = 5


class Learner:
    """A network, its optimizer, and a batch that is always the same."""

    def __init__(self) -> None:
        torch.manual_seed(1)
        self.network = nn.Sequential(
            nn.Linear(8, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 4)
        ).cuda()
        self.optimizer = torch.optim.Adam(self.network.parameters(), lr=1e-3)
        self.states = torch.randn(256, 8)
        self.rewards = torch.randn(256, device="cuda")

    def act(self) -> list[int]:
        with rls.operation("inference"), torch.no_grad():
            actions: list[int] = self.network(self.states[:16].cuda()).argmax(1).tolist()
            return actions

    def learn(self) -> None:
        with rls.operation("backprop"):
            values = self.network(self.states.cuda(non_blocking=True)).max(1).values
            loss = (values - self.rewards).square().mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()

    def update(self) -> None:
        rls.iteration()
        self.act()
        self.learn()


def profiler(file: str | None) -> Any:
    if file is None:
        return contextlib.nullcontext()
    activities = [torch.profiler.ProfilerActivity.CUDA]
    return torch.profiler.profile(activities=activities)


def main(updates: int, file: str | None) -> None:
    learner = Learner()
    for _ in range(WARM_UP):
        learner.update()
    torch.cuda.synchronize()
    window = rls.operation("measured")
    with profiler(file) as profile:
        with window:
            begin, begin_cpu = time.monotonic_ns(), time.process_time_ns()
            for _ in range(updates):
                learner.update()
            torch.cuda.synchronize()
            wall, cpu = time.monotonic_ns() - begin, time.process_time_ns() - begin_cpu
    if file is not None:
        profile.export_chrome_trace(file)
    say(wall_ns=wall, cpu_ns=cpu, begin_ns=begin, end_ns=begin + wall)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else None)
