"""A2C with a GRU whose heads are asked once for each time step of a rollout; or for all at once."""

import argparse

import gymnasium as gym
import stopwatch
import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--at-once", action="store_true")
parser.add_argument("--updates", type=int, default=60)
args = parser.parse_args()
LENGTH, SIZE = 24, 48


class Memory(nn.Module):
    def __init__(self):
        super().__init__()
        self.core = nn.GRU(4, SIZE)
        self.actor = nn.Sequential(nn.Linear(SIZE, SIZE), nn.Tanh(), nn.Linear(SIZE, 2))
        self.critic = nn.Sequential(nn.Linear(SIZE, SIZE), nn.Tanh(), nn.Linear(SIZE, 1))

    def losses(self, seen, actions, returns):
        hidden, _ = self.core(seen)
        if args.at_once:
            logits, values = self.actor(hidden), self.critic(hidden).squeeze(-1)
        else:
            told, worth = [], []
            for step in range(LENGTH):
                told.append(self.actor(hidden[step]))  # planted
                worth.append(self.critic(hidden[step]).squeeze(-1))  # planted
            logits, values = torch.stack(told), torch.stack(worth)
        chosen = logits.log_softmax(-1).gather(-1, actions[..., None]).squeeze(-1)
        gain = returns - values.detach()
        return (values - returns).square().mean() - (chosen * gain).mean()


torch.manual_seed(3)
envs = gym.make_vec("CartPole-v1", num_envs=4, vectorization_mode="sync")
net = Memory()
optimizer = torch.optim.Adam(net.parameters(), 1e-3, fused=True)
seen, _ = envs.reset(seed=3)
state = torch.zeros(1, 4, SIZE)
began = stopwatch.now()
for update in range(args.updates):
    rows, acted, rewards = [], [], []
    with torch.no_grad():
        for _ in range(LENGTH):
            given = torch.from_numpy(seen)
            output, state = net.core(given[None], state)
            action = torch.distributions.Categorical(
                logits=net.actor(output[0]), validate_args=False
            ).sample()
            rows.append(given)
            acted.append(action)
            seen, reward, *_ = envs.step(action.numpy())
            rewards.append(torch.from_numpy(reward).float())
    returns = torch.stack(rewards).flip(0).cumsum(0).flip(0)
    for _ in range(2):
        loss = net.losses(torch.stack(rows), torch.stack(acted), returns)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
print(f"loop {stopwatch.now() - began:.6f}")
