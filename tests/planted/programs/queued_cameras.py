"""Simulators in processes put whole pictures into a queue; or the part that the learner uses."""

import argparse
import multiprocessing as mp

import numpy as np
import stopwatch
import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--small", action="store_true")
parser.add_argument("--updates", type=int, default=200)
options = parser.parse_args()
HORIZON = 32


def simulate(number, commands, results):
    rng = np.random.default_rng(number)
    base = rng.integers(0, 255, (160, 160, 3), dtype=np.uint8)
    while commands.recv() == "go":
        rollout = []
        for step in range(HORIZON):
            picture = np.roll(base, step * 3, axis=0)
            camera = picture[::8, ::8] if options.small else picture
            joints = rng.normal(size=8).astype(np.float32)
            rollout.append((camera, joints, int(rng.integers(4)), float(picture[0, 0, 0]) / 255))
        results.put(rollout)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.eye = nn.Sequential(nn.Linear(20 * 20 * 3, 32), nn.ReLU())
        self.body = nn.Sequential(nn.Linear(32 + 8, 64), nn.ReLU(), nn.Linear(64, 5))

    def forward(self, camera, joints):
        out = self.body(torch.cat([self.eye(camera.flatten(1).float() / 255), joints], 1))
        return out[:, :4], out[:, 4]


def learn(net, optimizer, rollouts):
    steps = [step for rollout in rollouts for step in rollout]
    cameras, joints, actions, rewards = zip(*steps, strict=True)
    if not options.small:
        cameras = [each[::8, ::8] for each in cameras]
    camera, joints = torch.from_numpy(np.stack(cameras)), torch.from_numpy(np.stack(joints))
    action, reward = torch.tensor(actions), torch.tensor(rewards)
    for _ in range(4):
        logits, value = net(camera, joints)
        chosen = logits.log_softmax(1).gather(1, action[:, None])[:, 0]
        advantage = reward - value
        loss = -(chosen * advantage.detach()).mean() + advantage.square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def main():
    torch.manual_seed(0)
    results = mp.Queue()
    pipes, workers = [], []
    for number in range(2):
        mine, theirs = mp.Pipe()
        workers.append(mp.Process(target=simulate, args=(number, theirs, results), daemon=True))
        workers[-1].start()
        pipes.append(mine)
    net = Net()
    optimizer = torch.optim.Adam(net.parameters(), 3e-4, fused=True)
    began = stopwatch.now()
    for _ in range(options.updates):
        for pipe in pipes:
            pipe.send("go")
        rollouts = [results.get() for _ in workers]  # planted
        learn(net, optimizer, rollouts)
    print(f"loop {stopwatch.now() - began:.6f}", flush=True)
    for pipe in pipes:
        pipe.send("stop")
    for worker in workers:
        worker.join()


if __name__ == "__main__":
    main()
