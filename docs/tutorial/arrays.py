"""The same, with advantages as arrays of all environments."""

import sys
import time

import gymnasium as gym
import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical

NUM_ENVS, NUM_STEPS, GAMMA, LAMBDA = 8, 128, 0.99, 0.95


class Network(nn.Module):
    """Policy and value of an observation."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh())
        self.policy, self.value = nn.Linear(64, 2), nn.Linear(64, 1)

    def forward(self, observation):
        hidden = self.body(observation)
        return self.policy(hidden), self.value(hidden).squeeze(-1)


@torch.no_grad()
def act(network, observations):
    """An action, its log probability and a value for each environment."""
    logits, values = network(observations)
    policy = Categorical(logits=logits)
    actions = policy.sample()
    return actions, policy.log_prob(actions), values


def advantages_of(rewards, values, dones, last_value, last_done):
    """Generalised advantage estimation."""
    rewards, values, alive = rewards.numpy(), values.numpy(), 1 - dones.numpy()
    advantages = np.zeros_like(rewards)
    following, lives, gain = last_value.numpy(), 1 - last_done.numpy(), np.zeros(NUM_ENVS)
    for step in reversed(range(NUM_STEPS)):
        delta = rewards[step] + GAMMA * following * lives - values[step]
        advantages[step] = gain = delta + GAMMA * LAMBDA * lives * gain
        following, lives = values[step], alive[step]
    return torch.from_numpy(advantages)


def loss_of(network, observations, actions, log_probs, advantages, returns):
    """PPO's loss of a minibatch."""
    logits, values = network(observations)
    policy = Categorical(logits=logits)
    ratio = (policy.log_prob(actions) - log_probs).exp()
    gain = torch.minimum(ratio * advantages, ratio.clamp(0.8, 1.2) * advantages)
    return (values - returns).square().mean() - gain.mean() - 0.01 * policy.entropy().mean()


def train(updates):
    """Trains for so many updates, and returns the mean reward of the last one."""
    envs = gym.make_vec("CartPole-v1", NUM_ENVS, vectorization_mode="sync")
    network = Network()
    optimizer = torch.optim.Adam(network.parameters(), 2.5e-4)
    observation = torch.from_numpy(envs.reset(seed=1)[0])
    done = torch.zeros(NUM_ENVS)
    for _ in range(updates):
        rollout = []
        for _ in range(NUM_STEPS):
            action, log_prob, value = act(network, observation)
            after, reward, terminated, truncated, _ = envs.step(action.numpy())
            reward = torch.from_numpy(reward).float()
            rollout.append((observation, action, log_prob, reward, value, done))
            observation = torch.from_numpy(after)
            done = torch.from_numpy((terminated | truncated).astype(np.float32))
        observations, actions, log_probs, rewards, values, dones = map(torch.stack, zip(*rollout))
        last_value = act(network, observation)[2]
        advantages = advantages_of(rewards, values, dones, last_value, done)
        batch = (observations, actions, log_probs, advantages, advantages + values)
        flat = [each.flatten(0, 1) for each in batch]
        for _ in range(4):
            for rows in torch.randperm(NUM_ENVS * NUM_STEPS).split(256):
                loss = loss_of(network, *(each[rows] for each in flat))
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
    return rewards.sum() / dones.sum().clamp(min=1)


if __name__ == "__main__":
    torch.manual_seed(1)
    torch.set_num_threads(1)
    began = time.perf_counter()
    train(int(sys.argv[1]) if len(sys.argv) > 1 else 30)
    print(f"{time.perf_counter() - began:.2f} s")
