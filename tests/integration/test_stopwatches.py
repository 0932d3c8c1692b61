"""A program whose times are known: its page agrees with the stopwatch inside."""

from __future__ import annotations

from pathlib import Path

from stopwatches.__main__ import measure
from support.process.installed import need

PROGRAM = """
import time
import gymnasium as gym
import torch
from stopwatch import Stopwatch

class Slow(gym.Env):
    observation_space = gym.spaces.Box(-1, 1, (3,))
    action_space = gym.spaces.Discrete(2)
    def reset(self, **options):
        super().reset(**options)
        return self.observation_space.sample(), {}
    def step(self, action):
        time.sleep(0.02)
        return self.observation_space.sample(), 1.0, False, False, {}

class Memory:
    def __init__(self):
        self.kept = []
    def add(self, observation):
        time.sleep(0.01)
        self.kept.append(observation)
    def sample(self):
        return torch.as_tensor(self.kept[-1])

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(3, 2)
    def forward(self, x):
        time.sleep(0.01)
        return self.layer(x)

env, memory, net = Slow(), Memory(), Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)

def act(observation):
    with torch.no_grad():
        return int(net(torch.as_tensor(observation)).argmax())

def learn():
    loss = net(memory.sample()).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

stopwatch = Stopwatch()
stopwatch.wrap("simulation", env, "step", "reset")
stopwatch.wrap("replay", memory, "add", "sample")
act, learn = stopwatch.timed("inference", act), stopwatch.timed("learning", learn)
with stopwatch:
    observation, _ = env.reset(seed=1)
    for _ in range(25):
        observation, *_ = env.step(act(observation))
        memory.add(observation)
        learn()
"""


def test_the_page_of_a_known_program_agrees_with_its_stopwatch(tmp_path: Path) -> None:
    need("torch", "gymnasium")
    script = tmp_path / "known.py"
    script.write_text(PROGRAM)
    made = measure(script, "PyTorch", tmp_path)
    assert (made.program, made.library, made.misses()) == ("known", "PyTorch", [])
    kinds = ("simulation", "inference", "learning", "replay")
    assert all(made.truth[kind] > 10 for kind in kinds)
    largest = max(made.truth, key=lambda kind: made.truth[kind])
    assert made.sentence.startswith(f"{largest.capitalize()} takes ")
