"""Soft actor-critic (Haarnoja et al. 2018) on Pendulum: two critics, a temperature that adapts."""

import gymnasium as gym
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn, optim

from rlscope import operation


class SoftQNetwork(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1, self.fc2, self.fc3 = nn.Linear(4, 128), nn.Linear(128, 128), nn.Linear(128, 1)

    def forward(self, x, a):
        x = F.relu(self.fc1(torch.cat([x, a], 1)))
        return self.fc3(F.relu(self.fc2(x)))


class Actor(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(3, 128), nn.Linear(128, 128)
        self.fc_mean, self.fc_logstd = nn.Linear(128, 1), nn.Linear(128, 1)

    def forward(self, x):
        x = F.relu(self.fc2(F.relu(self.fc1(x))))
        return self.fc_mean(x), -1.5 + 3.5 * torch.tanh(self.fc_logstd(x))

    def get_action(self, x):
        mean, log_std = self(x)
        normal = torch.distributions.Normal(mean, log_std.exp())
        x_t = normal.rsample()
        y_t = torch.tanh(x_t)
        log_prob = normal.log_prob(x_t) - torch.log(2 * (1 - y_t.pow(2)) + 1e-6)
        return 2 * y_t, log_prob.sum(1, keepdim=True)


class ReplayBuffer:
    def __init__(self, size):
        self.rows = np.zeros((size, 9), dtype=np.float32)
        self.count = 0

    def add(self, *parts):
        self.rows[self.count % len(self.rows)] = np.concatenate(parts)
        self.count += 1

    def sample(self, batch_size):
        chosen = np.random.randint(0, min(self.count, len(self.rows)), batch_size)
        return torch.as_tensor(self.rows[chosen]).split([3, 3, 1, 1, 1], 1)


def train(total_timesteps, seed=1, batch_size=128, learning_starts=100, policy_frequency=2):
    np.random.seed(seed)
    torch.manual_seed(seed)
    env = gym.make("Pendulum-v1")
    env.action_space.seed(seed)
    actor, qf1, qf2 = Actor(), SoftQNetwork(), SoftQNetwork()
    qf1_target, qf2_target = SoftQNetwork(), SoftQNetwork()
    qf1_target.load_state_dict(qf1.state_dict())
    qf2_target.load_state_dict(qf2.state_dict())
    q_optimizer = optim.Adam([*qf1.parameters(), *qf2.parameters()], lr=1e-3)
    actor_optimizer = optim.Adam(actor.parameters(), lr=3e-4)
    log_alpha = torch.zeros(1, requires_grad=True)
    a_optimizer = optim.Adam([log_alpha], lr=1e-3)
    alpha = log_alpha.exp().item()
    rb = ReplayBuffer(50_000)
    with operation("simulation"):
        obs, _ = env.reset(seed=seed)
    for step in range(total_timesteps):
        if step < learning_starts:
            action = env.action_space.sample()
        else:
            with operation("inference"):
                sampled, _ = actor.get_action(torch.as_tensor(obs)[None])
                action = sampled[0].detach().numpy()
        with operation("simulation"):
            next_obs, reward, terminated, truncated, _ = env.step(action)
        rb.add(obs, next_obs, action, [reward], [terminated])
        obs = next_obs
        if terminated or truncated:
            with operation("simulation"):
                obs, _ = env.reset()
        if step <= learning_starts:
            continue
        observations, next_observations, actions, rewards, dones = rb.sample(batch_size)
        with operation("backprop"):
            with torch.no_grad():
                next_actions, next_log_pi = actor.get_action(next_observations)
                qf1_next = qf1_target(next_observations, next_actions)
                qf2_next = qf2_target(next_observations, next_actions)
                min_next = torch.min(qf1_next, qf2_next) - alpha * next_log_pi
                next_q = rewards + (1 - dones) * 0.99 * min_next
            qf1_loss = F.mse_loss(qf1(observations, actions), next_q)
            qf2_loss = F.mse_loss(qf2(observations, actions), next_q)
            q_optimizer.zero_grad()
            (qf1_loss + qf2_loss).backward()
            q_optimizer.step()
        if step % policy_frequency == 0:
            for _ in range(policy_frequency):
                with operation("backprop"):
                    pi, log_pi = actor.get_action(observations)
                    min_qf_pi = torch.min(qf1(observations, pi), qf2(observations, pi))
                    actor_loss = ((alpha * log_pi) - min_qf_pi).mean()
                    actor_optimizer.zero_grad()
                    actor_loss.backward()
                    actor_optimizer.step()
                    with torch.no_grad():
                        _, log_pi = actor.get_action(observations)
                    alpha_loss = (-log_alpha.exp() * (log_pi - 1.0)).mean()
                    a_optimizer.zero_grad()
                    alpha_loss.backward()
                    a_optimizer.step()
                alpha = log_alpha.exp().item()
        for parameter, target in [
            *zip(qf1.parameters(), qf1_target.parameters(), strict=True),
            *zip(qf2.parameters(), qf2_target.parameters(), strict=True),
        ]:
            target.data.copy_(0.005 * parameter.data + 0.995 * target.data)


if __name__ == "__main__":
    train(1000)
