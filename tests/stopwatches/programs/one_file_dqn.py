"""Deep Q-learning on CartPole in one file, with a replay buffer of its own, and evaluations."""

import collections
import random

import gymnasium as gym
import numpy as np
import torch
import torch.nn.functional as F
from stopwatch import Stopwatch
from torch import nn


class ReplayBuffer:
    def __init__(self):
        self.buffer = collections.deque(maxlen=20_000)

    def put(self, transition):
        self.buffer.append(transition)

    def sample(self, n):
        columns = zip(*random.sample(self.buffer, n), strict=True)
        return [torch.tensor(np.array(column, dtype=np.float32)) for column in columns]

    def size(self):
        return len(self.buffer)


class Qnet(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1, self.fc2, self.fc3 = nn.Linear(4, 128), nn.Linear(128, 128), nn.Linear(128, 2)

    def forward(self, x):
        return self.fc3(F.relu(self.fc2(F.relu(self.fc1(x)))))

    def sample_action(self, obs, epsilon):
        out = self.forward(obs)
        return random.randint(0, 1) if random.random() < epsilon else out.argmax().item()


def train(q, q_target, memory, optimizer):
    for _ in range(10):
        s, a, r, s_prime, done_mask = memory.sample(32)
        q_a = q(s).gather(1, a.long()[:, None])
        max_q_prime = q_target(s_prime).max(1)[0].unsqueeze(1)
        target = r[:, None] + 0.98 * max_q_prime * done_mask[:, None]
        loss = F.smooth_l1_loss(q_a, target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def evaluate(q, env, episodes):
    score = 0.0
    for _ in range(episodes):
        s, _ = env.reset()
        done = False
        while not done:
            with torch.no_grad():
                a = q(torch.from_numpy(s).float()).argmax().item()
            s, r, terminated, truncated, _ = env.step(a)
            score, done = score + r, terminated or truncated
    return score / episodes


def main():
    random.seed(1)
    torch.manual_seed(1)
    env, test_env = gym.make("CartPole-v1"), gym.make("CartPole-v1")
    q, q_target, memory = Qnet(), Qnet(), ReplayBuffer()
    q_target.load_state_dict(q.state_dict())
    optimizer = torch.optim.Adam(q.parameters(), lr=5e-4)

    stopwatch = Stopwatch()
    stopwatch.wrap("simulation", env, "step", "reset")
    stopwatch.wrap("replay", memory, "put", "sample")
    act = stopwatch.timed("inference", lambda s, e: q.sample_action(torch.from_numpy(s).float(), e))
    learn = stopwatch.timed("learning", train)
    assess = stopwatch.timed("evaluation", evaluate)
    with stopwatch:
        for episode in range(300):
            epsilon = max(0.01, 0.08 - 0.01 * (episode / 100))
            s, _ = env.reset()
            done = False
            while not done:
                a = act(s, epsilon)
                s_prime, r, terminated, truncated, _ = env.step(a)
                memory.put((s, a, r / 100.0, s_prime, 0.0 if terminated else 1.0))
                s, done = s_prime, terminated or truncated
            if memory.size() > 500:
                learn(q, q_target, memory, optimizer)
            if episode % 20 == 0 and episode:
                q_target.load_state_dict(q.state_dict())
                assess(q, test_env, 10)


if __name__ == "__main__":
    main()
