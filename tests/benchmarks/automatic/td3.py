"""TD3 (Fujimoto et al. 2018) on Pendulum: two critics, target policy smoothing, delayed actor."""

import gymnasium as gym
import numpy as np
import torch
import torch.nn.functional as F
from torch import optim

from automatic.ddpg import Actor, QNetwork, follow
from automatic.replay import ReplayBuffer
from rlscope import operation


class Learner:
    def __init__(self):
        self.actor, self.qf1, self.qf2 = Actor(), QNetwork(), QNetwork()
        self.actor_target, self.qf1_target, self.qf2_target = Actor(), QNetwork(), QNetwork()
        for network, target in self.pairs():
            target.load_state_dict(network.state_dict())
        critics = [*self.qf1.parameters(), *self.qf2.parameters()]
        self.q_optimizer = optim.Adam(critics, lr=3e-4)
        self.actor_optimizer = optim.Adam(self.actor.parameters(), lr=3e-4)

    def pairs(self):
        yield self.actor, self.actor_target
        yield self.qf1, self.qf1_target
        yield self.qf2, self.qf2_target

    def learn_critics(self, observations, next_observations, actions, rewards, dones):
        with operation("target"), torch.no_grad():
            noise = (torch.randn_like(actions) * 0.2).clamp(-0.5, 0.5)
            next_actions = (self.actor_target(next_observations) + noise).clamp(-2.0, 2.0)
            qf1_next = self.qf1_target(next_observations, next_actions)
            qf2_next = self.qf2_target(next_observations, next_actions)
            next_q = rewards + (1 - dones) * 0.99 * torch.min(qf1_next, qf2_next)
        with operation("backprop"):
            qf1_loss = F.mse_loss(self.qf1(observations, actions), next_q)
            qf2_loss = F.mse_loss(self.qf2(observations, actions), next_q)
            self.q_optimizer.zero_grad()
            (qf1_loss + qf2_loss).backward()
            self.q_optimizer.step()

    def learn_actor(self, observations):
        with operation("backprop"):
            loss = -self.qf1(observations, self.actor(observations)).mean()
            self.actor_optimizer.zero_grad()
            loss.backward()
            self.actor_optimizer.step()
            for network, target in self.pairs():
                follow(network, target)


def train(total_timesteps, seed=1, batch_size=128, learning_starts=100, policy_frequency=2):
    np.random.seed(seed)
    torch.manual_seed(seed)
    envs = gym.vector.SyncVectorEnv([lambda: gym.make("Pendulum-v1")])
    envs.single_action_space.seed(seed)
    learner, rb = Learner(), ReplayBuffer(50_000, 3, 1)
    with operation("simulation"):
        obs, _ = envs.reset(seed=seed)
    for step in range(total_timesteps):
        if step < learning_starts:
            actions = np.array([envs.single_action_space.sample()])
        else:
            with operation("inference"), torch.no_grad():
                chosen = learner.actor(torch.Tensor(obs).to("cpu"))
                chosen += torch.normal(0, torch.ones(1) * 0.2)
                actions = chosen.cpu().numpy().clip(-2.0, 2.0)
        with operation("simulation"):
            next_obs, rewards, terminations, _truncations, _infos = envs.step(actions)
        rb.add(obs, next_obs, actions, rewards, terminations)
        obs = next_obs
        if step > learning_starts:
            batch = rb.sample(batch_size)
            learner.learn_critics(*batch)
            if step % policy_frequency == 0:
                learner.learn_actor(batch[0])


if __name__ == "__main__":
    train(2000)
