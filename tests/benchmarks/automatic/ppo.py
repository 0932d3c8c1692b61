"""PPO (Schulman et al. 2017) on CartPole, four environments, everything in one loop."""

import gymnasium as gym
import numpy as np
import torch
from torch import nn, optim
from torch.distributions.categorical import Categorical

from rlscope import operation


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.critic, self.actor = self.network(1), self.network(2)

    @staticmethod
    def network(outputs):
        return nn.Sequential(
            nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, outputs)
        )

    def get_value(self, x):
        return self.critic(x)

    def get_action_and_value(self, x, action=None):
        probs = Categorical(logits=self.actor(x))
        if action is None:
            action = probs.sample()
        return action, probs.log_prob(action), probs.entropy(), self.critic(x)


def advantages_of(agent, next_obs, next_done, rewards, dones, values):
    next_value = agent.get_value(next_obs).reshape(1, -1)
    advantages, last = torch.zeros_like(rewards), 0
    for t in reversed(range(len(rewards))):
        final = t == len(rewards) - 1
        alive = 1.0 - (next_done if final else dones[t + 1])
        following = next_value if final else values[t + 1]
        delta = rewards[t] + 0.99 * following * alive - values[t]
        advantages[t] = last = delta + 0.99 * 0.95 * alive * last
    return advantages


def learn(agent, optimizer, batch, clip=0.2):
    obs, actions, logprobs, advantages, returns, values = batch
    with operation("backprop"):
        _, newlogprob, entropy, newvalue = agent.get_action_and_value(obs, actions.long())
        logratio = newlogprob - logprobs
        ratio = logratio.exp()
        with torch.no_grad():
            approx_kl = ((ratio - 1) - logratio).mean()
        advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
        clipped = torch.clamp(ratio, 1 - clip, 1 + clip)
        pg_loss = torch.max(-advantages * ratio, -advantages * clipped).mean()
        newvalue = newvalue.view(-1)
        v_clipped = values + torch.clamp(newvalue - values, -clip, clip)
        v_loss = torch.max((newvalue - returns) ** 2, (v_clipped - returns) ** 2).mean()
        loss = pg_loss - 0.01 * entropy.mean() + 0.25 * v_loss
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
        optimizer.step()
    return approx_kl


def train(iterations, seed=1, num_envs=4, num_steps=128, epochs=4, minibatches=4):
    np.random.seed(seed)
    torch.manual_seed(seed)
    envs = gym.vector.SyncVectorEnv(
        [lambda: gym.wrappers.RecordEpisodeStatistics(gym.make("CartPole-v1"))] * num_envs
    )
    agent = Agent()
    optimizer = optim.Adam(agent.parameters(), lr=2.5e-4, eps=1e-5)
    obs = torch.zeros(num_steps, num_envs, 4)
    actions, logprobs, rewards, dones, values = (torch.zeros(num_steps, num_envs) for _ in range(5))
    with operation("simulation"):
        next_obs, _ = envs.reset(seed=seed)
    with operation("inference"):
        next_obs = torch.Tensor(next_obs).to("cpu")
    next_done = torch.zeros(num_envs)
    for _ in range(iterations):
        for step in range(num_steps):
            obs[step], dones[step] = next_obs, next_done
            with operation("inference"):
                with torch.no_grad():
                    action, logprob, _, value = agent.get_action_and_value(next_obs)
                    values[step] = value.flatten()
                actions[step], logprobs[step] = action, logprob
                chosen = action.cpu().numpy()
            with operation("simulation"):
                next_obs, reward, terminations, truncations, _infos = envs.step(chosen)
            next_done = np.logical_or(terminations, truncations)
            rewards[step] = torch.tensor(reward).to("cpu").view(-1)
            with operation("inference"):
                next_obs = torch.Tensor(next_obs).to("cpu")
            next_done = torch.Tensor(next_done).to("cpu")
        with operation("advantage"), torch.no_grad():
            advantages = advantages_of(agent, next_obs, next_done, rewards, dones, values)
            returns = advantages + values
        whole = [
            each.flatten(0, 1) for each in (obs, actions, logprobs, advantages, returns, values)
        ]
        indices = np.arange(num_envs * num_steps)
        for _ in range(epochs):
            np.random.shuffle(indices)
            for chunk in np.split(indices, minibatches):
                learn(agent, optimizer, [each[chunk] for each in whole])


if __name__ == "__main__":
    train(20)
