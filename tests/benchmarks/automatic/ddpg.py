"""DDPG (Lillicrap et al. 2016) on Pendulum: a deterministic actor, noise, target networks."""

import gymnasium as gym
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn, optim

from automatic.replay import ReplayBuffer
from rlscope import operation


class QNetwork(nn.Module):
    def __init__(self, hidden=128):
        super().__init__()
        self.fc1, self.fc2, self.fc3 = (
            *(nn.Linear(4, hidden), nn.Linear(hidden, hidden), nn.Linear(hidden, 1)),
        )

    def forward(self, x, a):
        x = F.relu(self.fc1(torch.cat([x, a], 1)))
        return self.fc3(F.relu(self.fc2(x)))


class Actor(nn.Module):
    def __init__(self, hidden=128):
        super().__init__()
        self.fc1, self.fc2, self.fc_mu = (
            *(nn.Linear(3, hidden), nn.Linear(hidden, hidden), nn.Linear(hidden, 1)),
        )

    def forward(self, x):
        return 2.0 * torch.tanh(self.fc_mu(F.relu(self.fc2(F.relu(self.fc1(x))))))


def follow(network, target, tau=0.005):
    for parameter, held in zip(network.parameters(), target.parameters(), strict=True):
        held.data.copy_(tau * parameter.data + (1 - tau) * held.data)


def train(total_timesteps, seed=1, batch_size=128, learning_starts=100, policy_frequency=2):
    np.random.seed(seed)
    torch.manual_seed(seed)
    envs = gym.vector.SyncVectorEnv([lambda: gym.make("Pendulum-v1")])
    envs.single_action_space.seed(seed)
    actor, qf1, target_actor, qf1_target = Actor(), QNetwork(), Actor(), QNetwork()
    target_actor.load_state_dict(actor.state_dict())
    qf1_target.load_state_dict(qf1.state_dict())
    q_optimizer = optim.Adam(qf1.parameters(), lr=3e-4)
    actor_optimizer = optim.Adam(actor.parameters(), lr=3e-4)
    rb = ReplayBuffer(50_000, 3, 1)
    with operation("simulation"):
        obs, _ = envs.reset(seed=seed)
    for step in range(total_timesteps):
        if step < learning_starts:
            actions = np.array([envs.single_action_space.sample()])
        else:
            with operation("inference"), torch.no_grad():
                chosen = actor(torch.Tensor(obs).to("cpu"))
                chosen += torch.normal(0, torch.ones(1) * 0.2)
                actions = chosen.cpu().numpy().clip(-2.0, 2.0)
        with operation("simulation"):
            next_obs, rewards, terminations, _truncations, _infos = envs.step(actions)
        rb.add(obs, next_obs, actions, rewards, terminations)
        obs = next_obs
        if step <= learning_starts:
            continue
        observations, next_observations, taken, earned, dones = rb.sample(batch_size)
        with operation("target"), torch.no_grad():
            qf1_next = qf1_target(next_observations, target_actor(next_observations))
            next_q = earned.flatten() + (1 - dones.flatten()) * 0.99 * qf1_next.view(-1)
        with operation("backprop"):
            qf1_loss = F.mse_loss(qf1(observations, taken).view(-1), next_q)
            q_optimizer.zero_grad()
            qf1_loss.backward()
            q_optimizer.step()
        if step % policy_frequency == 0:
            with operation("backprop"):
                actor_loss = -qf1(observations, actor(observations)).mean()
                actor_optimizer.zero_grad()
                actor_loss.backward()
                actor_optimizer.step()
                follow(actor, target_actor)
                follow(qf1, qf1_target)


if __name__ == "__main__":
    train(2000)
