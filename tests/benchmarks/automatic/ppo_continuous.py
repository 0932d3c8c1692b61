"""PPO with a Gaussian policy (Schulman et al. 2017) on Pendulum, two environments."""

import gymnasium as gym
import numpy as np
import torch
from torch import nn, optim
from torch.distributions import Normal

from rlscope import operation


def layer_init(layer, std=2**0.5, bias=0.0):
    nn.init.orthogonal_(layer.weight, std)
    nn.init.constant_(layer.bias, bias)
    return layer


class Agent(nn.Module):
    def __init__(self, observations, actions):
        super().__init__()
        self.critic = self.network(observations, 1, 1.0)
        self.actor_mean = self.network(observations, actions, 0.01)
        self.actor_logstd = nn.Parameter(torch.zeros(1, actions))

    @staticmethod
    def network(inputs, outputs, std):
        return nn.Sequential(
            layer_init(nn.Linear(inputs, 64)),
            nn.Tanh(),
            layer_init(nn.Linear(64, 64)),
            nn.Tanh(),
            layer_init(nn.Linear(64, outputs), std),
        )

    def get_value(self, x):
        return self.critic(x)

    def get_action_and_value(self, x, action=None):
        mean = self.actor_mean(x)
        probs = Normal(mean, torch.exp(self.actor_logstd.expand_as(mean)))
        if action is None:
            action = probs.sample()
        return action, probs.log_prob(action).sum(1), probs.entropy().sum(1), self.critic(x)


def train(iterations, seed=1, num_envs=2, num_steps=128, epochs=4, minibatch=64, clip=0.2):
    np.random.seed(seed)
    torch.manual_seed(seed)
    envs = gym.vector.SyncVectorEnv([lambda: gym.make("Pendulum-v1") for _ in range(num_envs)])
    agent = Agent(3, 1)
    optimizer = optim.Adam(agent.parameters(), lr=3e-4, eps=1e-5)
    obs = torch.zeros(num_steps, num_envs, 3)
    actions = torch.zeros(num_steps, num_envs, 1)
    logprobs, rewards, dones, values = (torch.zeros(num_steps, num_envs) for _ in range(4))
    with operation("simulation"):
        next_obs, _ = envs.reset(seed=seed)
    next_obs, next_done = torch.Tensor(next_obs), torch.zeros(num_envs)
    for _ in range(iterations):
        for step in range(num_steps):
            obs[step], dones[step] = next_obs, next_done
            with operation("inference"):
                with torch.no_grad():
                    action, logprob, _, value = agent.get_action_and_value(next_obs)
                    values[step] = value.flatten()
                actions[step], logprobs[step] = action, logprob
                chosen = action.numpy()
            with operation("simulation"):
                next_obs, reward, terminations, truncations, _ = envs.step(chosen)
            rewards[step] = torch.tensor(reward).view(-1)
            with operation("inference"):
                next_obs = torch.Tensor(next_obs)
            next_done = torch.Tensor(np.logical_or(terminations, truncations))
        with operation("advantage"), torch.no_grad():
            next_value = agent.get_value(next_obs).reshape(1, -1)
            advantages, last = torch.zeros_like(rewards), 0
            for t in reversed(range(num_steps)):
                final = t == num_steps - 1
                alive = 1.0 - (next_done if final else dones[t + 1])
                following = next_value if final else values[t + 1]
                delta = rewards[t] + 0.9 * following * alive - values[t]
                advantages[t] = last = delta + 0.9 * 0.95 * alive * last
            returns = advantages + values
        b_obs, b_actions = obs.reshape(-1, 3), actions.reshape(-1, 1)
        b_logprobs, b_advantages = logprobs.reshape(-1), advantages.reshape(-1)
        b_returns = returns.reshape(-1)
        indices = np.arange(num_envs * num_steps)
        for _ in range(epochs):
            np.random.shuffle(indices)
            for start in range(0, len(indices), minibatch):
                batch = indices[start : start + minibatch]
                with operation("backprop"):
                    _, newlogprob, entropy, newvalue = agent.get_action_and_value(
                        b_obs[batch], b_actions[batch]
                    )
                    ratio = (newlogprob - b_logprobs[batch]).exp()
                    advantage = b_advantages[batch]
                    advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
                    clipped = torch.clamp(ratio, 1 - clip, 1 + clip)
                    pg_loss = torch.max(-advantage * ratio, -advantage * clipped).mean()
                    v_loss = 0.5 * ((newvalue.view(-1) - b_returns[batch]) ** 2).mean()
                    loss = pg_loss + 0.5 * v_loss - 0.0 * entropy.mean()
                    optimizer.zero_grad()
                    loss.backward()
                    nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
                    optimizer.step()


if __name__ == "__main__":
    train(20)
