"""An actor-critic that appends its metrics to a file of JSON lines after each step."""

import argparse
import json
import os
import tempfile

import gymnasium as gym
import stopwatch
import torch
from torch import nn
from torch.nn import functional

parser = argparse.ArgumentParser()
parser.add_argument("--metrics-every", type=int, default=1)
parser.add_argument("--steps", type=int, default=1500)
args = parser.parse_args()
torch.manual_seed(2)
torch.set_num_threads(1)

env = gym.make("CartPole-v1")
net = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 3))
optimizer = torch.optim.SGD(net.parameters(), lr=1e-3)


def write_metrics(path, step, **metrics):
    known = []
    if os.path.exists(path):
        with open(path) as file:
            known = file.readlines()[-200:]
    with open(path + ".new", "w") as file:
        file.writelines(known)
        file.write(json.dumps({"step": step, **metrics}) + "\n")
        file.flush()
        os.fsync(file.fileno())  # planted
    os.replace(path + ".new", path)


with tempfile.TemporaryDirectory(dir=os.getcwd()) as folder:
    metrics_file = os.path.join(folder, "metrics.jsonl")
    observation, _ = env.reset(seed=2)
    began = stopwatch.now()
    for step in range(args.steps):
        *logits, value = net(torch.from_numpy(observation))
        logits = torch.stack(logits)
        action = int(torch.rand(()) < torch.softmax(logits, 0)[1])
        observation, reward, terminated, truncated, _ = env.step(action)
        with torch.no_grad():
            following = net(torch.from_numpy(observation))[-1]
        error = reward + 0.98 * following * (not terminated) - value
        loss = error.square() - error.detach() * functional.log_softmax(logits, 0)[action]
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % args.metrics_every == 0:
            write_metrics(metrics_file, step, reward=reward, loss=loss.item())
        if terminated or truncated:
            observation, _ = env.reset()
    print(f"loop {stopwatch.now() - began:.6f}")
