"""DDPG on a pendulum of its own, with test episodes after each episode; or after each twentieth."""

import argparse
import math

import numpy as np
import stopwatch
import torch
import torch.nn.functional as F

parser = argparse.ArgumentParser()
parser.add_argument("--test-every", type=int, default=1)
parser.add_argument("--episodes", type=int, default=14)
options = parser.parse_args()


class Pendulum:
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def reset(self):
        self.angle, self.speed, self.age = self.rng.uniform(-math.pi, math.pi), 0.0, 0
        return self.look()

    def look(self):
        return np.array([math.cos(self.angle), math.sin(self.angle), self.speed / 8], np.float32)

    def step(self, torque):
        cost = ((self.angle + math.pi) % (2 * math.pi) - math.pi) ** 2 + 0.1 * self.speed**2
        speed = self.speed + 0.05 * (15 * math.sin(self.angle) + 6 * torque)
        self.speed = min(max(speed, -8), 8)
        self.angle += 0.05 * self.speed
        self.age += 1
        return self.look(), -cost, self.age == 150


def mlp(inputs):
    layers = [torch.nn.Linear(inputs, 64), torch.nn.ReLU(), torch.nn.Linear(64, 1)]
    return torch.nn.Sequential(*layers)


torch.manual_seed(0)
actor, critic, actor_target, critic_target = mlp(3), mlp(4), mlp(3), mlp(4)
optimizers = [torch.optim.Adam(each.parameters(), 1e-3, fused=True) for each in (actor, critic)]


def act(state):
    with torch.inference_mode():
        return float(torch.tanh(actor(torch.from_numpy(state))))


def greedy_score(env, episodes):
    scores = []
    for _ in range(episodes):
        state, done, score = env.reset(), False, 0.0
        while not done:
            state, reward, done = env.step(act(state))
            score += reward
        scores.append(score)
    return float(np.mean(scores))


def update(memory, filled):
    rows = np.random.randint(0, filled, 64)
    state, action, reward, following = (torch.from_numpy(each[rows]) for each in memory)
    with torch.no_grad():
        after = torch.cat([following, torch.tanh(actor_target(following))], 1)
        goal = reward + 0.98 * critic_target(after)
    losses = F.mse_loss(critic(torch.cat([state, action], 1)), goal)
    optimizers[1].zero_grad()
    losses.backward()
    optimizers[1].step()
    loss = -critic(torch.cat([state, torch.tanh(actor(state))], 1)).mean()
    optimizers[0].zero_grad()
    loss.backward()
    optimizers[0].step()
    with torch.no_grad():
        for slow, fast in ((actor_target, actor), (critic_target, critic)):
            torch._foreach_lerp_([*slow.parameters()], [*fast.parameters()], 0.01)


def main():
    env, test_env = Pendulum(0), Pendulum(1)
    memory = [np.zeros((20000, width), np.float32) for width in (3, 1, 1, 3)]
    filled, best = 0, -math.inf
    for episode in range(options.episodes):
        state, done = env.reset(), False
        while not done:
            action = min(max(act(state) + np.random.normal(0, 0.1), -1), 1)
            following, reward, done = env.step(action)
            for column, value in zip(memory, (state, action, reward, following), strict=True):
                column[filled] = value
            filled += 1
            state = following
            if filled > 64:
                update(memory, filled)
        if episode % options.test_every == 0:
            best = max(best, greedy_score(test_env, 16))  # planted
    return best


began = stopwatch.now()
main()
print(f"loop {stopwatch.now() - began:.6f}")
