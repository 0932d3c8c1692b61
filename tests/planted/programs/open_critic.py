"""Deterministic policy gradients: the actor's backward fills the gradients of the critic, too."""

from __future__ import annotations

import argparse

import gymnasium as gym
import numpy as np
import stopwatch
import torch
from torch import Tensor, nn

ROWS = 4096


def layers(inputs: int, outputs: int) -> nn.Sequential:
    return nn.Sequential(
        nn.Linear(inputs, 224), nn.ReLU(), nn.Linear(224, 224), nn.ReLU(), nn.Linear(224, outputs)
    )


class Agent:
    def __init__(self, freezes: bool) -> None:
        self.freezes = freezes
        self.actor, self.critic = layers(3, 1), layers(4, 1)
        self.old_critic = layers(4, 1).requires_grad_(False)
        self.actor_optimizer = torch.optim.Adam(self.actor.parameters(), lr=1e-3, fused=True)
        self.critic_optimizer = torch.optim.Adam(self.critic.parameters(), lr=1e-3, fused=True)

    def value(self, network: nn.Module, states: Tensor, actions: Tensor) -> Tensor:
        return network(torch.cat((states, actions), 1))

    def learn(self, states: Tensor, actions: Tensor, rewards: Tensor, following: Tensor) -> None:
        with torch.no_grad():
            goals = rewards + 0.98 * self.value(self.old_critic, following, self.actor(following))
        error = (self.value(self.critic, states, actions) - goals).square().mean()
        self.critic_optimizer.zero_grad()
        error.backward()
        self.critic_optimizer.step()
        for _ in range(2):
            self.improve_frozen(states) if self.freezes else self.improve(states)

    def improve(self, states: Tensor) -> None:
        cost = -self.critic(torch.cat((states, self.actor(states)), 1)).mean()
        self.actor_optimizer.zero_grad()
        cost.backward()  # planted
        self.actor_optimizer.step()

    def improve_frozen(self, states: Tensor) -> None:
        self.critic.requires_grad_(False)
        cost = -self.critic(torch.cat((states, self.actor(states)), 1)).mean()
        self.actor_optimizer.zero_grad()
        cost.backward()
        self.actor_optimizer.step()
        self.critic.requires_grad_(True)


def run(agent: Agent, steps: int) -> None:
    env = gym.make("Pendulum-v1")
    random = np.random.default_rng(5)
    states, following = torch.randn(ROWS, 3), torch.randn(ROWS, 3)
    actions, rewards = torch.randn(ROWS, 1), torch.randn(ROWS, 1)
    state, _ = env.reset(seed=5)
    for step in range(steps):
        with torch.inference_mode():
            action = agent.actor(torch.from_numpy(state)).numpy() + 0.1
        after, reward, _, cut, _ = env.step(action)
        place = step % ROWS
        states[place], following[place] = torch.from_numpy(state), torch.from_numpy(after)
        actions[place], rewards[place] = torch.from_numpy(action), float(reward)
        state = env.reset()[0] if cut else after
        rows = torch.from_numpy(random.integers(0, ROWS, 192))
        agent.learn(states[rows], actions[rows], rewards[rows], following[rows])


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--freeze", action="store_true")
    parser.add_argument("--steps", type=int, default=250)
    options = parser.parse_args()
    torch.manual_seed(5)
    torch.set_num_threads(1)
    agent = Agent(options.freeze)
    began = stopwatch.now()
    run(agent, options.steps)
    print(f"loop {stopwatch.now() - began:.6f}")
