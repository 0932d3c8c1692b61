"""Advantage actor-critic (Mnih et al. 2016) on CartPole: eight environments, shared network."""

import gymnasium as gym
import numpy as np
import torch
from torch import nn, optim
from torch.distributions import Categorical

from rlscope import operation


class ActorCritic(nn.Module):
    def __init__(self, observations, actions, hidden=64):
        super().__init__()
        self.body = nn.Sequential(
            nn.Linear(observations, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh()
        )
        self.policy, self.value = nn.Linear(hidden, actions), nn.Linear(hidden, 1)

    def forward(self, x):
        features = self.body(x)
        return Categorical(logits=self.policy(features)), self.value(features).squeeze(-1)


@torch.inference_mode()
def act(model, observation):
    distribution, _ = model(torch.as_tensor(observation))
    return distribution.sample().numpy()


@torch.no_grad()
def bootstrap(model, observation):
    return model(torch.as_tensor(observation))[1]


def train(updates, seed=1, num_envs=8, num_steps=5, gamma=0.99):
    torch.manual_seed(seed)
    envs = gym.make_vec("CartPole-v1", num_envs, vectorization_mode="sync")
    model = ActorCritic(4, 2)
    optimizer = optim.RMSprop(model.parameters(), lr=7e-4, alpha=0.99, eps=1e-5)
    with operation("simulation"):
        observation, _ = envs.reset(seed=seed)
    for _ in range(updates):
        observations, actions, rewards, masks = [], [], [], []
        for _ in range(num_steps):
            with operation("inference"):
                action = act(model, observation)
            observations.append(observation)
            actions.append(action)
            with operation("simulation"):
                observation, reward, terminated, truncated, _ = envs.step(action)
            rewards.append(reward)
            masks.append(1.0 - np.logical_or(terminated, truncated))
        with operation("advantage"):
            following = bootstrap(model, observation)
        returns = []
        for reward, mask in zip(reversed(rewards), reversed(masks), strict=True):
            following = torch.as_tensor(reward) + gamma * torch.as_tensor(mask) * following
            returns.insert(0, following)
        target = torch.stack(returns).flatten().float()
        batch = torch.as_tensor(np.concatenate(observations))
        taken = torch.as_tensor(np.concatenate(actions))
        with operation("backprop"):
            distribution, value = model(batch)
            advantage = target - value
            policy_loss = -(distribution.log_prob(taken) * advantage.detach()).mean()
            entropy = distribution.entropy().mean()
            loss = policy_loss + 0.5 * advantage.square().mean() - 0.01 * entropy
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 0.5)
            optimizer.step()


if __name__ == "__main__":
    train(500)
