"""DQN on CartPole with a memory of transitions that is sampled for each gradient step."""

import argparse
import collections
import random

import gymnasium as gym
import numpy as np
import stopwatch
import torch
from torch import nn
from torch.nn import functional

Transition = collections.namedtuple("Transition", "state action reward done after")
BATCH = 256


class ListMemory:
    def __init__(self, capacity):
        self.transitions = collections.deque(maxlen=capacity)

    def push(self, *parts):
        self.transitions.append(Transition(*parts))

    def sample(self, size):
        chosen = random.sample(self.transitions, size)  # planted
        batch = Transition(*zip(*chosen))
        return (
            torch.from_numpy(np.stack(batch.state)),  # planted
            torch.from_numpy(np.array(batch.action)),
            torch.from_numpy(np.array(batch.reward, dtype=np.float32)),
            torch.from_numpy(np.array(batch.done, dtype=np.float32)),
            torch.from_numpy(np.stack(batch.after)),
        )


class ArrayMemory:
    def __init__(self, capacity):
        self.state = np.zeros((capacity, 4), np.float32)
        self.after = np.zeros((capacity, 4), np.float32)
        self.action = np.zeros(capacity, np.int64)
        self.reward = np.zeros(capacity, np.float32)
        self.done = np.zeros(capacity, np.float32)
        self.count = 0

    def push(self, state, action, reward, done, after):
        row = self.count % len(self.state)
        self.state[row], self.action[row], self.reward[row] = state, action, reward
        self.done[row], self.after[row] = done, after
        self.count += 1

    def sample(self, size):
        rows = np.random.randint(0, min(self.count, len(self.state)), size)
        columns = self.state, self.action, self.reward, self.done, self.after
        return tuple(torch.from_numpy(each[rows]) for each in columns)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--memory", choices=("list", "array"), default="list")
    parser.add_argument("--steps", type=int, default=2200)
    options = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    random.seed(0)
    np.random.seed(0)
    env = gym.make("CartPole-v1")
    net = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2))
    optimizer = torch.optim.RMSprop(net.parameters(), 1e-3, foreach=True)
    memory = {"list": ListMemory, "array": ArrayMemory}[options.memory](10_000)
    state, _ = env.reset(seed=0)
    began = stopwatch.now()
    for step in range(options.steps):
        if random.random() < 0.1:
            action = random.randrange(2)
        else:
            with torch.no_grad():
                action = int(net(torch.from_numpy(state)).argmax())
        after, reward, terminated, truncated, _ = env.step(action)
        memory.push(state, action, reward, terminated, after)
        state = env.reset()[0] if terminated or truncated else after
        if step < BATCH:
            continue
        states, actions, rewards, dones, afters = memory.sample(BATCH)
        with torch.no_grad():
            goal = rewards + 0.99 * (1 - dones) * net(afters).amax(1)
        value = net(states).gather(1, actions[:, None]).squeeze(1)
        loss = functional.smooth_l1_loss(value, goal)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loop {stopwatch.now() - began:.6f}")


if __name__ == "__main__":
    main()
