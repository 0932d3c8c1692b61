"""A2C with nothing wrong: batched inference, arrays for memory, one fused optimizer."""

import argparse

import gymnasium as gym
import numpy as np
import stopwatch
import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--updates", type=int, default=60)
options = parser.parse_args()
torch.manual_seed(18)
torch.set_num_threads(1)
torch.distributions.Distribution.set_default_validate_args(False)


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 256), nn.Tanh(), nn.Linear(256, 256), nn.Tanh())
        self.head = nn.Linear(256, 3)

    def forward(self, x):
        out = self.head(self.body(x))
        return out[..., :2], out[..., 2]


envs = gym.vector.SyncVectorEnv([lambda: gym.make("CartPole-v1") for _ in range(8)])
agent = Agent()
optimizer = torch.optim.Adam(agent.parameters(), fused=True)
seen, _ = envs.reset(seed=18)
memory = np.zeros((16, 8, 4), np.float32)
actions, rewards, ended = (
    np.zeros((16, 8), np.int64),
    np.zeros((16, 8), np.float32),
    np.zeros((16, 8), np.float32),
)
began = stopwatch.now()
for update in range(options.updates):
    for t in range(16):
        memory[t] = seen
        with torch.inference_mode():
            logits, _ = agent(torch.from_numpy(seen))
            actions[t] = torch.multinomial(logits.softmax(-1), 1)[:, 0].numpy()
        seen, rewards[t], terminated, truncated, _ = envs.step(actions[t])
        ended[t] = terminated | truncated
    returns, following = np.zeros_like(rewards), 0
    for t in reversed(range(16)):
        following = returns[t] = rewards[t] + 0.99 * (1 - ended[t]) * following
    logits, values = agent(torch.from_numpy(memory))
    goal = torch.from_numpy(returns)
    scores = logits.log_softmax(-1).gather(-1, torch.from_numpy(actions)[..., None])[..., 0]
    loss = -(scores * (goal - values.detach())).mean() + (goal - values).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"loop {stopwatch.now() - began:.6f}")
