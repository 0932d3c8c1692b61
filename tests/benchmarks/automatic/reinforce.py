"""REINFORCE with a learned baseline (Williams 1992) on CartPole, one episode for each update."""

import gymnasium as gym
import torch
from torch import nn, optim
from torch.distributions import Categorical

from rlscope import operation


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.affine1, self.affine2 = nn.Linear(4, 128), nn.Linear(128, 2)
        self.dropout = nn.Dropout(p=0.2)

    def forward(self, x):
        return self.affine2(torch.relu(self.dropout(self.affine1(x))))


def discounted(rewards, gamma):
    returns, following = [], 0.0
    for reward in reversed(rewards):
        following = reward + gamma * following
        returns.insert(0, following)
    return torch.tensor(returns)


def train(episodes, seed=543, gamma=0.99):
    torch.manual_seed(seed)
    env = gym.make("CartPole-v1")
    policy, baseline = Policy(), nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 1))
    policy_optimizer = optim.Adam(policy.parameters(), lr=1e-2)
    baseline_optimizer = optim.Adam(baseline.parameters(), lr=1e-2)
    for episode in range(episodes):
        with operation("simulation"):
            state, _ = env.reset(seed=seed + episode)
        states, log_probs, rewards, done = [], [], [], False
        while not done:
            state = torch.from_numpy(state)
            with operation("inference"):
                distribution = Categorical(logits=policy(state))
                action = distribution.sample()
                log_probs.append(distribution.log_prob(action))
                chosen = action.item()
            states.append(state)
            with operation("simulation"):
                state, reward, terminated, truncated, _ = env.step(chosen)
            rewards.append(reward)
            done = terminated or truncated
        returns = discounted(rewards, gamma)
        batch = torch.stack(states)
        with operation("backprop"):
            values = baseline(batch).squeeze(-1)
            advantage = returns - values.detach()
            policy_loss = -(torch.stack(log_probs) * advantage).sum()
            baseline_loss = (values - returns).square().mean()
            policy_optimizer.zero_grad()
            baseline_optimizer.zero_grad()
            policy_loss.backward()
            baseline_loss.backward()
            policy_optimizer.step()
            baseline_optimizer.step()


if __name__ == "__main__":
    train(100)
