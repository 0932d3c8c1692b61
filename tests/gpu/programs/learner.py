"""Deep Q-learning on a cart with a pole, the network on the GPU: one loop, with changes to compare.

    python learner.py [--batch 256] [--amp] [--fused] [--graph] [--compile] [--pinned] [--no-item]
                      [--iterations N] [--turns ROUNDS WAY... | --steady as-it-is|kineto]
                      [--profile FILE]

Each iteration acts once, steps the environment, samples a batch of made-up and seen transitions and
learns from it. Says the times of its iterations. The changes are those that an engineer would try:

    --batch N   transitions of a batch         --graph    learn by replaying a CUDA graph
    --amp       bfloat16 where it is safe      --compile  compiled networks
    --fused     one kernel per optimizer step  --pinned   copies from pinned memory
    --no-item   read no loss back

--steady: as many iterations as they are, plain or recorded, with nothing switched.
Without --turns: iterations plain, then recorded (in a window of their own, where there is a
recorder), then plain again. With --turns: plain and recorded in several ways by turns. --profile:
PyTorch's profiler writes what it saw of the iterations that would be recorded.
"""

from __future__ import annotations

import argparse
import contextlib
import random
import time
from collections import defaultdict
from typing import Any

import numpy
import torch
from cart import environment
from driver import say
from torch import Tensor, nn

import rlscope as rls

MEMORY, INPUTS, ACTIONS, WIDTH = 4096, 4, 2, 256
GAMMA = 0.99
WARM_UP = 30
PER_TURN = 20


class Replay:
    """Transitions in the host's memory, filled with made-up ones at first."""

    def __init__(self, pinned: bool) -> None:
        made = numpy.random.default_rng(1)
        self.states = made.normal(size=(MEMORY, 2, INPUTS)).astype(numpy.float32)
        self.rest = made.normal(size=(MEMORY, 2)).astype(numpy.float32)
        self._choice, self._pinned, self._next = made, pinned, 0

    def add(self, state: Any, after: Any, reward: float) -> None:
        place = self._next % MEMORY
        self.states[place, 0], self.states[place, 1] = state, after
        self.rest[place] = reward, 0
        self._next += 1

    def sample(self, size: int) -> tuple[Tensor, Tensor]:
        rows = self._choice.integers(0, MEMORY, size)
        host = torch.from_numpy(self.states[rows]), torch.from_numpy(self.rest[rows])
        if not self._pinned:
            return host[0].cuda(), host[1].cuda()
        return (
            host[0].pin_memory().cuda(non_blocking=True),
            host[1].pin_memory().cuda(non_blocking=True),
        )


class Learner:
    """Networks, optimizer, and one step of learning as the options have it."""

    def __init__(self, options: argparse.Namespace) -> None:
        torch.manual_seed(1)
        self.options = options
        self.network, self.target = self._make(), self._make()
        self.optimizer = torch.optim.Adam(
            self.network.parameters(), lr=1e-3, fused=options.fused, capturable=options.graph
        )
        self._given = (
            torch.zeros(options.batch, 2, INPUTS, device="cuda"),
            torch.zeros(options.batch, 2, device="cuda"),
        )
        if options.compile:
            self.network, self.target = torch.compile(self.network), torch.compile(self.target)
        self._graph = self._capture() if options.graph else None

    @staticmethod
    def _make() -> nn.Module:
        return nn.Sequential(
            nn.Linear(INPUTS, WIDTH), nn.ReLU(), nn.Linear(WIDTH, WIDTH), nn.ReLU(),
            nn.Linear(WIDTH, ACTIONS),
        ).cuda()  # fmt: skip

    def act(self, state: Any) -> int:
        with torch.no_grad():
            values = self.network(torch.as_tensor(state, dtype=torch.float32, device="cuda"))
        return int(values.argmax())

    def learn(self, states: Tensor, rest: Tensor) -> Tensor:
        if self._graph is None:
            return self._learn(states, rest)
        graph, loss = self._graph
        self._given[0].copy_(states)
        self._given[1].copy_(rest)
        graph.replay()
        return loss

    def _learn(self, states: Tensor, rest: Tensor) -> Tensor:
        with torch.autocast("cuda", torch.bfloat16, enabled=self.options.amp):
            with torch.no_grad():
                wanted = rest[:, 0] + GAMMA * self.target(states[:, 1]).max(1).values
            loss = (self.network(states[:, 0]).max(1).values - wanted).square().mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss

    def _capture(self) -> tuple[torch.cuda.CUDAGraph, Tensor]:
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(3):
                self._learn(*self._given)
        torch.cuda.current_stream().wait_stream(stream)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            loss = self._learn(*self._given)
        return graph, loss


class Loop:
    """The training loop, an iteration at a time."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.learner, self.replay = Learner(options), Replay(options.pinned)
        self.cart = environment()
        self.state, _ = self.cart.reset(seed=1)
        self.losses: list[float] = []

    def iterate(self) -> None:
        rls.iteration()
        with rls.operation("inference"):
            action = self.learner.act(self.state)
        with rls.operation("simulation"):
            after, reward, ended, cut, _ = self.cart.step(action % ACTIONS)
            self.replay.add(self.state, after, float(reward))
            self.state = self.cart.reset()[0] if ended or cut else after
        with rls.operation("sample"):
            states, rest = self.replay.sample(self.options.batch)
        with rls.operation("backprop"):
            loss = self.learner.learn(states, rest)
            if not self.options.no_item:
                self.losses.append(loss.item())

    def run(self, iterations: int) -> dict[str, Any]:
        """Wall and CPU time of so many; `each_ns` of each, as the CPU goes through it."""
        torch.cuda.synchronize()
        each, begin, cpu = [], time.monotonic_ns(), time.process_time_ns()
        last = begin
        for _ in range(iterations):
            self.iterate()
            now = time.monotonic_ns()
            each.append(now - last)
            last = now
        torch.cuda.synchronize()
        end = time.monotonic_ns()
        return {
            "iterations": iterations,
            "wall_ns": end - begin,
            "cpu_ns": time.process_time_ns() - cpu,
            "begin_ns": begin,
            "end_ns": end,
            "each_ns": each,
        }


def profiler(file: str) -> Any:
    if not file:
        return contextlib.nullcontext()
    return torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA])


def plain_and_recorded(loop: Loop, options: argparse.Namespace) -> None:
    """Plain, recorded, plain, so that a slow drift of the machine shows."""
    before = loop.run(options.iterations)
    with profiler(options.profile) as profile:
        if not options.profile:
            from recording import leave, recorded

            with recorded("both"):
                during = loop.run(options.iterations)
            leave()
        else:
            during = loop.run(options.iterations)
    if options.profile:
        profile.export_chrome_trace(options.profile)
    say(plain=[before, loop.run(options.iterations)], recorded=during)


def steady(loop: Loop, options: argparse.Namespace) -> None:
    from recording import recorded

    with recorded("kineto" if options.steady == "kineto" else "plain"):
        loop.run(WARM_UP)
        say(steady=loop.run(options.iterations))


def by_turns(loop: Loop, rounds: int, ways: list[str]) -> None:
    from recording import recorded

    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    order = random.Random(1)
    for _ in range(rounds):
        order.shuffle(ways)
        for way in ways:
            with recorded(way):
                loop.run(2)
                spent = loop.run(PER_TURN)
            found[way].append({name: spent[name] for name in ("wall_ns", "cpu_ns")})
    say(turns=found, iterations=PER_TURN)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--iterations", type=int, default=60)
    parser.add_argument("--turns", nargs="+", default=[])
    parser.add_argument("--profile", default="")
    parser.add_argument("--steady", choices=("as-it-is", "kineto"))
    for change in ("amp", "fused", "graph", "compile", "pinned", "no-item"):
        parser.add_argument(f"--{change}", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(1)
    if not (options.profile or options.steady):
        from recording import leave

        leave()
    loop = Loop(options)
    loop.run(WARM_UP)
    if options.steady:
        steady(loop, options)
    elif options.turns:
        by_turns(loop, int(options.turns[0]), options.turns[1:])
    else:
        plain_and_recorded(loop, options)


if __name__ == "__main__":
    main()
