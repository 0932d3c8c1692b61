"""Two worker processes step a grid world that copies all of its state in each step; or one cell."""

import argparse
import copy

import gymnasium as gym
import numpy as np
import stopwatch
import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--cell", action="store_true")
parser.add_argument("--updates", type=int, default=20)
options = parser.parse_args()
SIZE, HORIZON = 40, 32


class Fields(gym.Env):
    """A robot that mows; what it has mown grows again."""

    observation_space = gym.spaces.Box(0, 1, (SIZE,), np.float32)
    action_space = gym.spaces.Discrete(4)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.fields = [[{"grass": 1.0, "age": 0} for _ in range(SIZE)] for _ in range(SIZE)]
        self.at, self.time = [SIZE // 2, SIZE // 2], 0
        return self.seen(), {}

    def seen(self):
        return np.array([cell["grass"] for cell in self.fields[self.at[0]]], np.float32)

    def step(self, action):
        if options.cell:
            row, column = self.at
            before = copy.copy(self.fields[row][column])
        else:
            before = copy.deepcopy(self.fields)[self.at[0]][self.at[1]]  # planted
        axis, way = divmod(int(action), 2)
        self.at[axis] = (self.at[axis] + 2 * way - 1) % SIZE
        for row in self.fields:
            for cell in row:
                cell["grass"] = min(1.0, cell["grass"] + 0.01)
        here = self.fields[self.at[0]][self.at[1]]
        reward, here["grass"], here["age"] = here["grass"], 0.0, before["age"] + 1
        self.time += 1
        return self.seen(), float(reward), False, self.time >= 200, {}


if __name__ == "__main__":
    torch.set_num_threads(1)
    torch.manual_seed(7)
    envs = gym.vector.AsyncVectorEnv([Fields] * 2)
    policy = nn.Sequential(nn.Linear(SIZE, 64), nn.Tanh(), nn.Linear(64, 4))
    optimizer = torch.optim.Adam(policy.parameters(), 1e-3, fused=True)
    seen, _ = envs.reset(seed=7)
    began = stopwatch.now()
    for _ in range(options.updates):
        rows, actions, rewards = [], [], []
        for _ in range(HORIZON):
            rows.append(torch.from_numpy(seen.copy()))
            with torch.no_grad():
                action = torch.multinomial(policy(rows[-1]).softmax(-1), 1).squeeze(-1)
            seen, reward, *_ = envs.step(action.numpy())
            actions.append(action)
            rewards.append(torch.from_numpy(reward))
        returns = torch.stack(rewards).flip(0).cumsum(0).flip(0).float()
        logits = policy(torch.stack(rows)).log_softmax(-1)
        chosen = logits.gather(-1, torch.stack(actions)[..., None]).squeeze(-1)
        loss = -(chosen * (returns - returns.mean())).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loop {stopwatch.now() - began:.6f}", flush=True)
    envs.close()
