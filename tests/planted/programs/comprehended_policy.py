"""A2C on a crowd of environments, for each of which a comprehension asks the policy."""

import argparse

import gymnasium as gym
import numpy as np
import stopwatch
import torch
from torch import nn
from torch.distributions import Categorical

parser = argparse.ArgumentParser()
parser.add_argument("--stacked", action="store_true")
parser.add_argument("--updates", type=int, default=25)
options = parser.parse_args()
torch.manual_seed(9)
torch.set_num_threads(1)


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(6, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU())
        self.logits, self.value = nn.Linear(64, 3), nn.Linear(64, 1)

    def forward(self, observations):
        hidden = self.body(observations)
        return self.logits(hidden), self.value(hidden)[..., 0]

    @torch.no_grad()
    def act(self, observation):
        logits, _ = self(torch.as_tensor(observation))
        return Categorical(logits=logits, validate_args=False).sample().numpy()


class Crowd:
    def __init__(self, size):
        self.members = [gym.make("Acrobot-v1") for _ in range(size)]
        self.seen = [member.reset(seed=n)[0] for n, member in enumerate(self.members)]

    def actions(self, policy):
        if options.stacked:
            return policy.act(np.stack(self.seen))
        return [policy.act(seen) for seen in self.seen]  # planted

    def advance(self, actions):
        rewards = []
        for n, (member, action) in enumerate(zip(self.members, actions)):
            self.seen[n], reward, terminated, truncated, _ = member.step(int(action))
            if terminated or truncated:
                self.seen[n], _ = member.reset()
            rewards.append(reward)
        return rewards


policy, crowd = Policy(), Crowd(12)
optimizer = torch.optim.Adam(policy.parameters(), fused=True)
began = stopwatch.now()
for update in range(options.updates):
    observations, actions, rewards = [], [], []
    for _ in range(16):
        observations.append(np.stack(crowd.seen))
        chosen = crowd.actions(policy)
        actions.append(np.stack(chosen))
        rewards.append(crowd.advance(chosen))
    returns = np.cumsum(np.array(rewards, np.float32)[::-1], 0)[::-1].copy()
    logits, values = policy(torch.from_numpy(np.stack(observations)))
    scores = Categorical(logits=logits, validate_args=False).log_prob(
        torch.from_numpy(np.stack(actions))
    )
    advantages = torch.from_numpy(returns) - values
    loss = -(scores * advantages.detach()).mean() + advantages.square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"loop {stopwatch.now() - began:.6f}")
