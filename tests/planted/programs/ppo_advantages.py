"""PPO, one file: advantages are computed with a loop backwards over the rollout."""

import argparse

import gymnasium as gym
import numpy as np
import stopwatch
import torch
from torch import nn
from torch.distributions import Categorical

parser = argparse.ArgumentParser()
parser.add_argument("--numpy-advantages", action="store_true")
parser.add_argument("--iterations", type=int, default=12)
args = parser.parse_args()

torch.manual_seed(1)
torch.set_num_threads(1)
NUM_ENVS, NUM_STEPS, GAMMA, LAMBDA = 4, 256, 0.99, 0.95
envs = gym.make_vec("CartPole-v1", NUM_ENVS, vectorization_mode="sync")
body = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh())
actor, critic = nn.Linear(32, 2), nn.Linear(32, 1)
modules = nn.ModuleList([body, actor, critic])
optimizer = torch.optim.Adam(modules.parameters(), lr=1e-3, fused=True)

obs = torch.zeros(NUM_STEPS, NUM_ENVS, 4)
actions = torch.zeros(NUM_STEPS, NUM_ENVS)
logprobs = torch.zeros(NUM_STEPS, NUM_ENVS)
rewards = torch.zeros(NUM_STEPS, NUM_ENVS)
dones = torch.zeros(NUM_STEPS, NUM_ENVS)
values = torch.zeros(NUM_STEPS, NUM_ENVS)
next_obs = torch.from_numpy(envs.reset(seed=1)[0])
next_done = torch.zeros(NUM_ENVS)

began = stopwatch.now()
for iteration in range(args.iterations):
    for step in range(NUM_STEPS):
        obs[step], dones[step] = next_obs, next_done
        with torch.no_grad():
            hidden = body(next_obs)
            policy = Categorical(logits=actor(hidden), validate_args=False)
            action = policy.sample()
            values[step] = critic(hidden).flatten()
        actions[step], logprobs[step] = action, policy.log_prob(action)
        after, reward, terminated, truncated, _ = envs.step(action.numpy())
        rewards[step] = torch.from_numpy(reward)
        next_obs = torch.from_numpy(after)
        next_done = torch.from_numpy((terminated | truncated).astype(np.float32))

    with torch.no_grad():
        next_value = critic(body(next_obs)).flatten()
        if args.numpy_advantages:
            r, v, d = rewards.numpy(), values.numpy(), dones.numpy()
            gains = np.zeros_like(r)
            last, after_value, alive = np.zeros(NUM_ENVS), next_value.numpy(), 1 - next_done.numpy()
            for t in range(NUM_STEPS - 1, -1, -1):
                delta = r[t] + GAMMA * after_value * alive - v[t]
                gains[t] = last = delta + GAMMA * LAMBDA * alive * last
                after_value, alive = v[t], 1 - d[t]
            advantages = torch.from_numpy(gains)
        else:
            advantages = torch.zeros_like(rewards)
            for e in range(NUM_ENVS):
                last = torch.zeros(())
                for t in reversed(range(NUM_STEPS)):
                    if t == NUM_STEPS - 1:
                        alive, after_value = 1.0 - next_done[e], next_value[e]
                    else:
                        alive, after_value = 1.0 - dones[t + 1, e], values[t + 1, e]
                    delta = rewards[t, e] + GAMMA * after_value * alive - values[t, e]  # planted
                    last = delta + GAMMA * LAMBDA * alive * last
                    advantages[t, e] = last
        returns = advantages + values

    flat = [each.reshape(-1, *each.shape[2:]) for each in (obs, actions, logprobs)]
    flat += [advantages.reshape(-1), returns.reshape(-1)]
    for _ in range(4):
        for rows in torch.randperm(NUM_STEPS * NUM_ENVS).split(256):
            b_obs, b_actions, b_logprobs, b_advantages, b_returns = (each[rows] for each in flat)
            hidden = body(b_obs)
            policy = Categorical(logits=actor(hidden), validate_args=False)
            ratio = (policy.log_prob(b_actions) - b_logprobs).exp()
            b_advantages = (b_advantages - b_advantages.mean()) / (b_advantages.std() + 1e-8)
            gain = torch.minimum(ratio * b_advantages, ratio.clamp(0.8, 1.2) * b_advantages)
            value_loss = (critic(hidden).flatten() - b_returns).square().mean()
            loss = value_loss / 2 - gain.mean() - 0.01 * policy.entropy().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
print(f"loop {stopwatch.now() - began:.6f}")
