"""Deep Q-learning (Mnih et al. 2015) on CartPole, replay memory and target network."""

import random

import gymnasium as gym
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn, optim

from rlscope import operation


class QNetwork(nn.Module):
    def __init__(self, env):
        super().__init__()
        self.network = nn.Sequential(
            nn.Linear(int(np.prod(env.observation_space.shape)), 120),
            nn.ReLU(),
            nn.Linear(120, 84),
            nn.ReLU(),
            nn.Linear(84, env.action_space.n),
        )

    def forward(self, x):
        return self.network(x)


class ReplayBuffer:
    def __init__(self, size):
        self.size, self.transitions = size, []

    def add(self, *transition):
        if len(self.transitions) == self.size:
            self.transitions.pop(0)
        self.transitions.append(transition)

    def sample(self, batch_size):
        columns = zip(*random.sample(self.transitions, batch_size), strict=True)
        return [torch.as_tensor(np.array(column)) for column in columns]


def train(total_timesteps, seed=1, batch_size=128, learning_starts=200, train_frequency=4):
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)
    env = gym.make("CartPole-v1")
    q_network, target_network = QNetwork(env), QNetwork(env)
    target_network.load_state_dict(q_network.state_dict())
    optimizer = optim.Adam(q_network.parameters(), lr=2.5e-4)
    buffer = ReplayBuffer(10_000)
    with operation("simulation"):
        obs, _ = env.reset(seed=seed)
    for step in range(total_timesteps):
        epsilon = max(0.05, 1.0 - step / (0.5 * total_timesteps))
        if random.random() < epsilon:
            action = env.action_space.sample()
        else:
            with operation("inference"):
                q_values = q_network(torch.Tensor(obs).to("cpu"))
                action = int(torch.argmax(q_values))
        with operation("simulation"):
            next_obs, reward, terminated, truncated, _ = env.step(action)
        buffer.add(obs, next_obs, action, np.float32(reward), np.float32(terminated))
        obs = next_obs
        if terminated or truncated:
            with operation("simulation"):
                obs, _ = env.reset()
        if step >= learning_starts and step % train_frequency == 0:
            observations, next_observations, actions, rewards, dones = buffer.sample(batch_size)
            with operation("target"), torch.no_grad():
                target_max, _ = target_network(next_observations).max(dim=1)
                target = rewards + 0.99 * target_max * (1 - dones)
            with operation("backprop"):
                old = q_network(observations).gather(1, actions[:, None]).squeeze()
                loss = F.mse_loss(target, old)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            if step % 100 == 0:
                target_network.load_state_dict(q_network.state_dict())


if __name__ == "__main__":
    train(5000)
