"""Sixteen cheap environments, each stepped by a task for a pool of threads, or in a plain loop."""

import argparse
import math
import random
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import stopwatch
import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--plain", action="store_true")
parser.add_argument("--rounds", type=int, default=2500)
options = parser.parse_args()
torch.manual_seed(8)
torch.set_num_threads(1)
random.seed(8)


class Pole:
    def reset(self):
        self.angle, self.speed, self.age = random.uniform(-3, 3), 0.0, 0
        return self.angle, self.speed

    def step(self, action):
        self.speed += 0.05 * (10 * math.sin(self.angle) + 6 * action - 3)
        self.speed = min(max(self.speed, -8.0), 8.0)
        self.angle = (self.angle + 0.05 * self.speed + math.pi) % (2 * math.pi) - math.pi
        self.age += 1
        return (self.angle, self.speed), -abs(self.angle), self.age >= 200, {}


poles = [Pole() for _ in range(16)]
policy = nn.Sequential(nn.Linear(2, 64), nn.Tanh(), nn.Linear(64, 2))
optimizer = torch.optim.Adam(policy.parameters(), 1e-3, fused=True)


def advance(pole, action):
    after, reward, ended, _ = pole.step(action)
    return (pole.reset() if ended else after), reward


def all_at_once(pool, actions):
    if options.plain:
        return list(map(advance, poles, actions))
    return list(pool.map(advance, poles, actions))  # planted


def learn(states, actions, rewards):
    logs = policy(states).log_softmax(1).gather(1, actions[:, None])[:, 0]
    loss = -(logs * (rewards - rewards.mean())).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def main():
    seen = np.array([pole.reset() for pole in poles], np.float32)
    with ThreadPoolExecutor(16) as pool:
        began = stopwatch.now()
        for round_ in range(options.rounds):
            states = torch.from_numpy(seen)
            with torch.no_grad():
                actions = torch.multinomial(policy(states).softmax(1), 1)[:, 0]
            found = all_at_once(pool, actions.tolist())
            rewards = torch.tensor([reward for _, reward in found])
            if round_ % 4 == 0:
                learn(states, actions, rewards)
            seen = np.array([after for after, _ in found], np.float32)
        print(f"loop {stopwatch.now() - began:.6f}")


main()
