"""PPO on a vector of CartPoles in one file, which keeps its rollouts in tensors."""

import gymnasium as gym
import numpy as np
import torch
from stopwatch import Stopwatch
from torch import nn
from torch.distributions import Categorical

ENVS, STEPS, UPDATES = 4, 128, 80


def layer(inputs, outputs, std=2**0.5):
    made = nn.Linear(inputs, outputs)
    nn.init.orthogonal_(made.weight, std)
    nn.init.constant_(made.bias, 0.0)
    return made


class Agent(nn.Module):
    def __init__(self, observations, actions):
        super().__init__()
        self.critic = nn.Sequential(
            layer(observations, 64), nn.Tanh(), layer(64, 64), nn.Tanh(), layer(64, 1, 1.0)
        )
        self.actor = nn.Sequential(
            layer(observations, 64), nn.Tanh(), layer(64, 64), nn.Tanh(), layer(64, actions, 0.01)
        )

    def get_value(self, x):
        return self.critic(x)

    def get_action_and_value(self, x, action=None):
        chances = Categorical(logits=self.actor(x))
        if action is None:
            action = chances.sample()
        return action, chances.log_prob(action), chances.entropy(), self.critic(x)


def update(agent, optimizer, data, next_obs, next_done, gamma=0.99, lam=0.95):
    obs, actions, logprobs, rewards, dones, values = data
    with torch.no_grad():
        next_value = agent.get_value(next_obs).flatten()
        advantages, last = torch.zeros_like(rewards), 0
        for t in reversed(range(STEPS)):
            going_on = 1.0 - (next_done if t == STEPS - 1 else dones[t + 1])
            following = next_value if t == STEPS - 1 else values[t + 1]
            delta = rewards[t] + gamma * following * going_on - values[t]
            advantages[t] = last = delta + gamma * lam * going_on * last
        returns = advantages + values
    flat = [each.flatten(0, 1) for each in (obs, actions, logprobs, advantages, returns)]
    for _ in range(4):
        for rows in torch.randperm(ENVS * STEPS).split(128):
            b_obs, b_actions, b_logprobs, b_advantages, b_returns = (each[rows] for each in flat)
            _, logprob, entropy, value = agent.get_action_and_value(b_obs, b_actions.long())
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
    envs = gym.vector.SyncVectorEnv([lambda: gym.make("CartPole-v1") for _ in range(ENVS)])
    agent = Agent(4, 2)
    optimizer = torch.optim.Adam(agent.parameters(), lr=2.5e-4, eps=1e-5)

    stopwatch = Stopwatch()
    stopwatch.wrap("simulation", envs, "step", "reset")
    act = stopwatch.timed("inference", agent.get_action_and_value)
    learn = stopwatch.timed("learning", update)
    with stopwatch:
        next_obs = torch.Tensor(envs.reset(seed=1)[0])
        next_done = torch.zeros(ENVS)
        for _ in range(UPDATES):
            obs = torch.zeros(STEPS, ENVS, 4)
            actions, logprobs, rewards, dones, values = (torch.zeros(STEPS, ENVS) for _ in range(5))
            for step in range(STEPS):
                obs[step], dones[step] = next_obs, next_done
                with torch.no_grad():
                    action, logprob, _, value = act(next_obs)
                actions[step], logprobs[step], values[step] = action, logprob, value.flatten()
                new_obs, reward, terminated, truncated, _ = envs.step(action.numpy())
                rewards[step] = torch.tensor(reward)
                next_obs = torch.Tensor(new_obs)
                next_done = torch.Tensor(np.logical_or(terminated, truncated))
            data = (obs, actions, logprobs, rewards, dones, values)
            learn(agent, optimizer, data, next_obs, next_done)


if __name__ == "__main__":
    main()
