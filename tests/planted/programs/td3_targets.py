"""TD3 on Pendulum with twin critics: the target networks follow after each update."""

import argparse
import copy

import gymnasium as gym
import numpy as np
import stopwatch
import torch
from torch import Tensor, nn
from torch.nn import functional


def network(inputs: int, outputs: int, width: int = 64, depth: int = 4) -> nn.Sequential:
    layers: list[nn.Module] = []
    for _ in range(depth):
        layers += [nn.Linear(inputs, width), nn.LayerNorm(width), nn.ReLU()]
        inputs = width
    return nn.Sequential(*layers, nn.Linear(width, outputs))


class Replay:
    """Transitions in arrays, overwritten in turn."""

    def __init__(self, capacity: int, observations: int) -> None:
        self.rows = np.zeros((capacity, 2 * observations + 3), np.float32)
        self.count = 0

    def add(self, *parts: object) -> None:
        self.rows[self.count % len(self.rows)] = np.hstack(parts)
        self.count += 1

    def sample(self, rng: np.random.Generator, size: int) -> Tensor:
        return torch.from_numpy(self.rows[rng.integers(0, min(self.count, len(self.rows)), size)])


class Agent:
    def __init__(self, fused: bool) -> None:
        self.actor, self.critics = network(3, 1), nn.ModuleList([network(4, 1), network(4, 1)])
        self.online = nn.ModuleList([self.actor, self.critics])
        self.target = copy.deepcopy(self.online).requires_grad_(False)
        self.actor_optimizer = torch.optim.Adam(self.actor.parameters(), 1e-3, fused=True)
        self.critic_optimizer = torch.optim.Adam(self.critics.parameters(), 1e-3, fused=True)
        self.follow = self.follow_at_once if fused else self.follow_one_by_one
        self.pairs = list(self.online.parameters()), list(self.target.parameters())

    def act(self, observation: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        with torch.no_grad():
            mean = self.actor(torch.from_numpy(observation)).numpy()
        return np.clip(2 * np.tanh(mean) + rng.normal(0, 0.2, 1), -2, 2).astype(np.float32)

    def learn(self, batch: Tensor, policy_too: bool) -> None:
        state, action, reward, done, after = batch.split([3, 1, 1, 1, 3], 1)[:5]
        with torch.no_grad():
            actor, critics = self.target
            following = torch.cat([after, 2 * torch.tanh(actor(after))], 1)
            value = torch.minimum(*(critic(following) for critic in critics))
            goal = reward + 0.99 * (1 - done) * value
        pair = torch.cat([state, action], 1)
        loss = sum(functional.mse_loss(critic(pair), goal) for critic in self.critics)
        self.critic_optimizer.zero_grad()
        loss.backward()
        self.critic_optimizer.step()
        if policy_too:
            chosen = torch.cat([state, 2 * torch.tanh(self.actor(state))], 1)
            gain = -self.critics[0](chosen).mean()
            self.actor_optimizer.zero_grad()
            gain.backward()
            self.actor_optimizer.step()

    @torch.no_grad()
    def follow_one_by_one(self, rate: float = 0.005) -> None:
        for online, target in zip(*self.pairs):
            target.data.copy_(rate * online.data + (1 - rate) * target.data)  # planted

    @torch.no_grad()
    def follow_at_once(self, rate: float = 0.005) -> None:
        torch._foreach_lerp_(self.pairs[1], self.pairs[0], rate)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--fused-targets", action="store_true")
    parser.add_argument("--steps", type=int, default=500)
    options = parser.parse_args()
    torch.manual_seed(3)
    torch.set_num_threads(1)
    rng = np.random.default_rng(3)
    env = gym.make("Pendulum-v1")
    agent, replay = Agent(options.fused_targets), Replay(10_000, 3)
    observation, _ = env.reset(seed=3)
    began = stopwatch.now()
    for step in range(options.steps):
        action = agent.act(observation, rng)
        after, reward, terminated, truncated, _ = env.step(action)
        replay.add(observation, action, reward, terminated, after)
        observation = env.reset()[0] if terminated or truncated else after
        if step >= 64:
            agent.learn(replay.sample(rng, 32), step % 2 == 0)
            agent.follow()
    print(f"loop {stopwatch.now() - began:.6f}")


if __name__ == "__main__":
    main()
