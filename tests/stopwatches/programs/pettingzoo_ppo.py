"""PPO in one file for the agents of a PettingZoo environment, which share their weights."""

import functools

import numpy as np
import torch
from gymnasium import spaces
from pettingzoo import ParallelEnv
from stopwatch import Stopwatch
from torch import nn
from torch.distributions import Categorical

SIZE, STEPS, UPDATES = 12, 128, 80


class Meeting(ParallelEnv):
    """Walkers on a torus are rewarded for being near each other."""

    metadata = {"name": "meeting_v0"}  # noqa: RUF012
    moves = np.array([[0, 0], [0, 1], [1, 0], [0, -1], [-1, 0]])

    def __init__(self, walkers=4):
        self.possible_agents = [f"walker_{number}" for number in range(walkers)]
        self.agents = []

    @functools.cache  # noqa: B019
    def observation_space(self, agent):
        return spaces.Box(-1, 1, (2 * len(self.possible_agents),))

    @functools.cache  # noqa: B019
    def action_space(self, agent):
        return spaces.Discrete(5)

    def reset(self, seed=None, options=None):
        self.random = np.random.default_rng(seed)
        self.agents, self.time = list(self.possible_agents), 0
        self.places = self.random.integers(SIZE, size=(len(self.agents), 2))
        return self._observations(), {agent: {} for agent in self.agents}

    def step(self, actions):
        chosen = np.array([actions[agent] for agent in self.agents])
        self.places = (self.places + self.moves[chosen]) % SIZE
        self.time += 1
        distances = np.abs(self._relative()).sum(axis=(1, 2))
        rewards = {a: -float(d) for a, d in zip(self.agents, distances, strict=True)}
        observations, agents = self._observations(), self.agents
        ends = self.time == 50
        if ends:
            self.agents = []
        return (
            observations,
            rewards,
            dict.fromkeys(agents, False),
            dict.fromkeys(agents, ends),
            {agent: {} for agent in agents},
        )

    def _relative(self):
        difference = self.places[None] - self.places[:, None]
        return ((difference + SIZE / 2) % SIZE - SIZE / 2) / (SIZE / 2)

    def _observations(self):
        relative = self._relative().reshape(len(self.places), -1).astype(np.float32)
        return dict(zip(self.agents, relative, strict=True))


class Agent(nn.Module):
    def __init__(self, observations, actions):
        super().__init__()
        self.body = nn.Sequential(
            nn.Linear(observations, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh()
        )
        self.actor, self.critic = nn.Linear(64, actions), nn.Linear(64, 1)

    def get_value(self, x):
        return self.critic(self.body(x))

    def get_action_and_value(self, x, action=None):
        hidden = self.body(x)
        chances = Categorical(logits=self.actor(hidden))
        if action is None:
            action = chances.sample()
        return action, chances.log_prob(action), chances.entropy(), self.critic(hidden)


def batch(values):
    return torch.tensor(np.stack(list(values.values())))


def update(agent, optimizer, data, last, gamma=0.99, lam=0.95):
    obs, actions, logprobs, rewards, dones, values = data
    with torch.no_grad():
        next_value = agent.get_value(last).flatten()
        advantages, ahead = torch.zeros_like(rewards), 0
        for t in reversed(range(STEPS)):
            following = next_value if t == STEPS - 1 else values[t + 1]
            delta = rewards[t] + gamma * following * (1 - dones[t]) - values[t]
            ahead = advantages[t] = delta + gamma * lam * (1 - dones[t]) * ahead
        returns = advantages + values
    flat = [each.flatten(0, 1) for each in (obs, actions, logprobs, advantages, returns)]
    for _ in range(4):
        for rows in torch.randperm(len(flat[0])).split(128):
            b_obs, b_actions, b_logprobs, b_advantages, b_returns = (each[rows] for each in flat)
            _, logprob, entropy, value = agent.get_action_and_value(b_obs, b_actions)
            ratio = (logprob - b_logprobs).exp()
            b_advantages = (b_advantages - b_advantages.mean()) / (b_advantages.std() + 1e-8)
            gain = torch.min(ratio * b_advantages, ratio.clamp(0.8, 1.2) * b_advantages)
            loss = -gain.mean() + 0.5 * ((value.flatten() - b_returns) ** 2).mean()
            optimizer.zero_grad()
            (loss - 0.01 * entropy.mean()).backward()
            nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
            optimizer.step()


def main():
    torch.manual_seed(1)
    env = Meeting()
    agent = Agent(2 * len(env.possible_agents), 5)
    optimizer = torch.optim.Adam(agent.parameters(), lr=1e-3)

    stopwatch = Stopwatch()
    stopwatch.wrap("simulation", env, "step", "reset")
    act = stopwatch.timed("inference", agent.get_action_and_value)
    convert = stopwatch.timed("inference", batch)
    learn = stopwatch.timed("learning", update)
    shape = (STEPS, len(env.possible_agents))
    with stopwatch:
        observations, _ = env.reset(seed=1)
        for _ in range(UPDATES):
            obs = torch.zeros(*shape, 2 * len(env.possible_agents))
            actions, logprobs, rewards, dones, values = (torch.zeros(shape) for _ in range(5))
            for step in range(STEPS):
                obs[step] = convert(observations)
                with torch.no_grad():
                    actions[step], logprobs[step], _, value = act(obs[step])
                values[step] = value.flatten()
                chosen = dict(zip(env.agents, actions[step].int().tolist(), strict=True))
                observations, reward, _, truncations, _ = env.step(chosen)
                rewards[step] = torch.tensor(list(reward.values()))
                dones[step] = torch.tensor(list(truncations.values())).float()
                if not env.agents:
                    observations, _ = env.reset()
            data = (obs, actions, logprobs, rewards, dones, values)
            learn(agent, optimizer, data, convert(observations))


if __name__ == "__main__":
    main()
