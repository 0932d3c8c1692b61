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


class Learner:
    """The networks and how they learn from a batch of transitions."""

    def __init__(self):
        self.actor, self.qf1, self.qf2 = Actor(), SoftQNetwork(), SoftQNetwork()
        self.qf1_target, self.qf2_target = SoftQNetwork(), SoftQNetwork()
        self.qf1_target.load_state_dict(self.qf1.state_dict())
        self.qf2_target.load_state_dict(self.qf2.state_dict())
        critics = [*self.qf1.parameters(), *self.qf2.parameters()]
        self.q_optimizer = optim.Adam(critics, lr=1e-3)
        self.actor_optimizer = optim.Adam(self.actor.parameters(), lr=3e-4)
        self.log_alpha = torch.zeros(1, requires_grad=True)
        self.a_optimizer = optim.Adam([self.log_alpha], lr=1e-3)
        self.alpha = self.log_alpha.exp().item()

    def learn_critics(self, observations, next_observations, actions, rewards, dones):
        with operation("target"), torch.no_grad():
            next_actions, next_log_pi = self.actor.get_action(next_observations)
            qf1_next = self.qf1_target(next_observations, next_actions)
            qf2_next = self.qf2_target(next_observations, next_actions)
            min_next = torch.min(qf1_next, qf2_next) - self.alpha * next_log_pi
            next_q = rewards + (1 - dones) * 0.99 * min_next
        with operation("backprop"):
            qf1_loss = F.mse_loss(self.qf1(observations, actions), next_q)
            qf2_loss = F.mse_loss(self.qf2(observations, actions), next_q)
            self.q_optimizer.zero_grad()
            (qf1_loss + qf2_loss).backward()
            self.q_optimizer.step()

    def learn_actor(self, observations):
        with operation("backprop"):
            pi, log_pi = self.actor.get_action(observations)
            min_qf_pi = torch.min(self.qf1(observations, pi), self.qf2(observations, pi))
            actor_loss = ((self.alpha * log_pi) - min_qf_pi).mean()
            self.actor_optimizer.zero_grad()
            actor_loss.backward()
            self.actor_optimizer.step()
            with torch.no_grad():
                _, log_pi = self.actor.get_action(observations)
            alpha_loss = (-self.log_alpha.exp() * (log_pi - 1.0)).mean()
            self.a_optimizer.zero_grad()
            alpha_loss.backward()
            self.a_optimizer.step()
        self.alpha = self.log_alpha.exp().item()

    def follow(self, tau=0.005):
        for parameter, target in [
            *zip(self.qf1.parameters(), self.qf1_target.parameters(), strict=True),
            *zip(self.qf2.parameters(), self.qf2_target.parameters(), strict=True),
        ]:
            target.data.copy_(tau * parameter.data + (1 - tau) * target.data)


def train(total_timesteps, seed=1, batch_size=128, learning_starts=100, policy_frequency=2):
    np.random.seed(seed)
    torch.manual_seed(seed)
    env = gym.make("Pendulum-v1")
    env.action_space.seed(seed)
    learner, rb = Learner(), ReplayBuffer(50_000)
    with operation("simulation"):
        obs, _ = env.reset(seed=seed)
    for step in range(total_timesteps):
        if step < learning_starts:
            action = env.action_space.sample()
        else:
            with operation("inference"):
                # Not `_`: the environment's results go there, which would free the graph only then.
                sampled, _log_pi = learner.actor.get_action(torch.Tensor(obs[None]).to("cpu"))
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
        batch = rb.sample(batch_size)
        learner.learn_critics(*batch)
        if step % policy_frequency == 0:
            for _ in range(policy_frequency):
                learner.learn_actor(batch[0])
        with operation("backprop"):
            learner.follow()


if __name__ == "__main__":
    train(1000)
