"""Three critics whose targets are given their states after each update; or copied in place."""

import argparse
import copy

import gymnasium as gym
import numpy as np
import stopwatch
import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--in-place", action="store_true")
parser.add_argument("--steps", type=int, default=900)
args = parser.parse_args()


def critic():
    parts = [nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2)]
    return nn.Sequential(*parts)


torch.manual_seed(9)
env = gym.make("CartPole-v1")
critics = nn.ModuleList(critic() for _ in range(3))
targets = copy.deepcopy(critics)
optimizer = torch.optim.Adam(critics.parameters(), 3e-4, fused=True)
kept = np.zeros((args.steps, 10), np.float32)
seen, _ = env.reset(seed=9)
began = stopwatch.now()
for step in range(args.steps):
    action = step // 3 % 2
    following, reward, ended, cut, _ = env.step(action)
    kept[step] = [*seen, action, reward, *following]
    seen = env.reset()[0] if ended or cut else following
    if step < 32:
        continue
    batch = torch.from_numpy(kept[np.random.randint(0, step, 32)])
    with torch.no_grad():
        values = torch.stack([each(batch[:, 6:]).amax(1) for each in targets])
        goal = batch[:, 5] + 0.98 * values.amin(0)
    chosen = batch[:, 4:5].long()
    values = torch.stack([each(batch[:, :4]).gather(1, chosen).squeeze(1) for each in critics])
    loss = (values - goal).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if args.in_place:
        with torch.no_grad():
            torch._foreach_copy_([*targets.parameters()], [*critics.parameters()])
    else:
        targets.load_state_dict(copy.deepcopy(critics.state_dict()))  # planted
print(f"loop {stopwatch.now() - began:.6f}")
