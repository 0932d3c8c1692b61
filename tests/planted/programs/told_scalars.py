"""DQN on CartPole that tells a board of scalars of each step; or of each hundredth."""

import argparse
import io
import json
import random

import gymnasium as gym
import numpy as np
import stopwatch
import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--tell-every", type=int, default=1)
parser.add_argument("--steps", type=int, default=6000)
args = parser.parse_args()


class Board:
    def __init__(self, file):
        self.file = file

    def add_scalar(self, tag, value, step):
        self.file.write(json.dumps({"tag": tag, "value": float(value), "step": step}) + "\n")


random.seed(7)
torch.manual_seed(7)
env = gym.make("CartPole-v1")
net = nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2))
optimizer = torch.optim.Adam(net.parameters(), 1e-3, fused=True)
kept = np.zeros((4096, 10), np.float32)
board = Board(io.StringIO())
seen, _ = env.reset(seed=7)
began = stopwatch.now()
for step in range(args.steps):
    with torch.no_grad():
        action = int(net(torch.from_numpy(seen)).argmax())
    if random.random() < 0.1:
        action = env.action_space.sample()
    following, reward, ended, cut, _ = env.step(action)
    kept[step % 4096] = [*seen, action, reward, *following]
    seen = env.reset()[0] if ended or cut else following
    if step < 64:
        continue
    batch = torch.from_numpy(kept[np.random.randint(0, min(step, 4096), 64)])
    with torch.no_grad():
        goal = batch[:, 5] + 0.98 * net(batch[:, 6:]).amax(1)
    value = net(batch[:, :4]).gather(1, batch[:, 4:5].long()).squeeze(1)
    loss = (value - goal).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % args.tell_every == 0:
        board.add_scalar("loss", loss.detach(), step)  # planted
        board.add_scalar("reward", reward, step)  # planted
        board.add_scalar("value", value.detach().mean(), step)  # planted
        for name, parameter in net.named_parameters():  # planted
            board.add_scalar(f"norm/{name}", parameter.detach().norm(), step)  # planted
            board.add_scalar(f"grad/{name}", parameter.grad.norm(), step)  # planted
print(f"loop {stopwatch.now() - began:.6f}")
