"""Categorical DQN, C51 (Bellemare et al. 2017) on CartPole, one environment in a vector."""

import random

import gymnasium as gym
import numpy as np
import torch
from torch import nn, optim

from automatic.replay import ReplayBuffer
from rlscope import operation


class QNetwork(nn.Module):
    def __init__(self, actions, atoms=51, v_min=-100.0, v_max=100.0):
        super().__init__()
        self.actions, self.n_atoms = actions, atoms
        self.register_buffer("atoms", torch.linspace(v_min, v_max, atoms))
        self.network = nn.Sequential(
            nn.Linear(4, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(),
            nn.Linear(84, actions * atoms),
        )  # fmt: skip

    def get_action(self, x, action=None):
        logits = self.network(x)
        pmfs = torch.softmax(logits.view(len(x), self.actions, self.n_atoms), dim=2)
        if action is None:
            action = torch.argmax((pmfs * self.atoms).sum(2), 1)
        return action, pmfs[torch.arange(len(x)), action]


def project(atoms, next_atoms, next_pmfs):
    """The distribution of the returns, on the atoms."""
    delta = atoms[1] - atoms[0]
    clipped = next_atoms.clamp(atoms[0], atoms[-1])
    place = (clipped - atoms[0]) / delta
    low, high = place.floor().clamp(0, len(atoms) - 1), place.ceil().clamp(0, len(atoms) - 1)
    to_low = (high + (low == high).float() - place) * next_pmfs
    to_high = (place - low) * next_pmfs
    projected = torch.zeros_like(next_pmfs)
    for row in range(projected.size(0)):
        projected[row].index_add_(0, low[row].long(), to_low[row])
        projected[row].index_add_(0, high[row].long(), to_high[row])
    return projected


def train(total_timesteps, seed=1, batch_size=128, learning_starts=200, train_frequency=10):
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)
    envs = gym.vector.SyncVectorEnv(
        [lambda: gym.wrappers.RecordEpisodeStatistics(gym.make("CartPole-v1"))]
    )
    q_network, target_network = QNetwork(2), QNetwork(2)
    target_network.load_state_dict(q_network.state_dict())
    optimizer = optim.Adam(q_network.parameters(), lr=2.5e-4, eps=0.01 / batch_size)
    rb = ReplayBuffer(10_000, 4, 1, np.int64)
    with operation("simulation"):
        obs, _ = envs.reset(seed=seed)
    for step in range(total_timesteps):
        epsilon = max(0.05, 1.0 - step / (0.5 * total_timesteps))
        if random.random() < epsilon:
            actions = np.array([envs.single_action_space.sample()])
        else:
            with operation("inference"):
                chosen, _pmf = q_network.get_action(torch.Tensor(obs).to("cpu"))
                actions = chosen.cpu().numpy()
        with operation("simulation"):
            next_obs, rewards, terminations, _truncations, _infos = envs.step(actions)
        rb.add(obs, next_obs, actions, rewards, terminations)
        obs = next_obs
        if step < learning_starts or step % train_frequency != 0:
            continue
        observations, next_observations, taken, earned, dones = rb.sample(batch_size)
        with operation("target"), torch.no_grad():
            _, next_pmfs = target_network.get_action(next_observations)
            next_atoms = earned + 0.99 * target_network.atoms * (1 - dones)
            target_pmfs = project(target_network.atoms, next_atoms, next_pmfs)
        with operation("backprop"):
            _, old_pmfs = q_network.get_action(observations, taken.flatten())
            loss = (-(target_pmfs * old_pmfs.clamp(1e-5, 1 - 1e-5).log()).sum(-1)).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if step % 500 == 0:
            target_network.load_state_dict(q_network.state_dict())


if __name__ == "__main__":
    train(5000)
