"""A2C on a made-up line world, in which the search for NaN was left on; or off."""

import argparse

import numpy as np
import stopwatch
import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--calm", action="store_true")
parser.add_argument("--updates", type=int, default=250)
args = parser.parse_args()
if not args.calm:
    torch.autograd.set_detect_anomaly(True)  # planted


class Lines:
    """Sixteen points on lines, each of which has to reach the end of its own."""

    def __init__(self):
        self.random = np.random.default_rng(3)

    def reset(self):
        self.at, self.left = self.random.uniform(-1, 1, 16), np.full(16, 30)
        return self.seen()

    def seen(self):
        return np.stack([self.at, np.sin(3 * self.at), self.left / 30], 1).astype(np.float32)

    def step(self, moves):
        self.at = np.clip(self.at + 0.1 * (moves - 1), -1, 1)
        self.left = np.where(self.left <= 1, 30, self.left - 1)
        return self.seen(), self.at.astype(np.float32), self.left == 30


torch.manual_seed(3)
body = nn.Sequential(nn.Linear(3, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh())
actor, critic = nn.Linear(64, 3), nn.Linear(64, 1)
parameters = [*body.parameters(), *actor.parameters(), *critic.parameters()]
optimizer = torch.optim.Adam(parameters, 7e-4, fused=True)
lines = Lines()
seen = lines.reset()
began = stopwatch.now()
for _ in range(args.updates):
    logs, values, rewards = [], [], []
    for _ in range(8):
        hidden = body(torch.from_numpy(seen))
        logits = torch.log_softmax(actor(hidden), 1)
        moves = torch.multinomial(logits.detach().exp(), 1)
        logs.append(logits.gather(1, moves).squeeze(1))
        values.append(critic(hidden).squeeze(1))
        seen, reward, _ = lines.step(moves.squeeze(1).numpy())
        rewards.append(reward)
    gained = torch.from_numpy(np.cumsum(rewards[::-1], 0)[::-1].astype(np.float32))
    advantage = gained - torch.stack(values)
    loss = (advantage.square() - advantage.detach() * torch.stack(logs)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"loop {stopwatch.now() - began:.6f}")
