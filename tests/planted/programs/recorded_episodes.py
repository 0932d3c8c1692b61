"""Actor-critic that learns through the graphs of single steps; or by a forward of all of them."""

import argparse

import gymnasium as gym
import stopwatch
import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--at-once", action="store_true")
parser.add_argument("--episodes", type=int, default=150)
args = parser.parse_args()


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh())
        self.policy, self.value = nn.Linear(64, 2), nn.Linear(64, 1)

    def forward(self, seen):
        hidden = self.body(seen)
        return self.policy(hidden), self.value(hidden).squeeze(-1)


def act(net, seen):
    logits, value = net(torch.from_numpy(seen))  # planted
    chances = torch.distributions.Categorical(logits=logits, validate_args=False)
    action = chances.sample()
    return action, chances.log_prob(action), value


torch.manual_seed(8)
env = gym.make("CartPole-v1", max_episode_steps=60)
net = Net()
optimizer = torch.optim.Adam(net.parameters(), 1e-3, fused=True)
began = stopwatch.now()
for episode in range(args.episodes):
    seen, _ = env.reset(seed=episode)
    rows, actions, logs, values, rewards = [], [], [], [], []
    over = False
    while not over:
        with torch.set_grad_enabled(not args.at_once):
            action, log, value = act(net, seen)
        rows.append(torch.from_numpy(seen))
        actions.append(action)
        logs.append(log)
        values.append(value)
        seen, reward, ended, cut, _ = env.step(int(action))
        rewards.append(reward)
        over = ended or cut
    returns = torch.tensor(rewards).flip(0).cumsum(0).flip(0)
    if args.at_once:
        logits, value = net(torch.stack(rows))
        log = logits.log_softmax(-1).gather(-1, torch.stack(actions)[:, None]).squeeze(-1)
        loss = (value - returns).square().mean() - (log * (returns - value.detach())).mean()
    else:
        losses = []
        for log, value, goal in zip(logs, values, returns):
            losses.append((value - goal).square() - log * (goal - value.detach()))
        loss = torch.stack(losses).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"loop {stopwatch.now() - began:.6f}")
