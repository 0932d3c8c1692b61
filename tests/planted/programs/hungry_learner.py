"""Actors collect in processes of their own, and the learner takes batches from their queue."""

import argparse
import multiprocessing
import time

import gymnasium as gym
import numpy as np
import stopwatch
import torch
from torch import nn

LENGTH = 20


class Remote(gym.Env):
    """A machine that answers after two milliseconds."""

    observation_space = gym.spaces.Box(-1, 1, (4,), np.float32)
    action_space = gym.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.time = 0
        return self.np_random.uniform(-1, 1, 4).astype(np.float32), {}

    def step(self, action):
        time.sleep(0.002)
        self.time += 1
        state = self.np_random.uniform(-1, 1, 4).astype(np.float32)
        return state, float(action), False, self.time >= 100, {}


def act(queue, seed, stop):
    env, rng = Remote(), np.random.default_rng(seed)
    state, _ = env.reset(seed=seed)
    while not stop.is_set():
        part = np.zeros((LENGTH, 6), np.float32)
        for row in part:
            action = int(rng.integers(2))
            row[:5] = *state, action
            state, row[5], _, over, _ = env.step(action)
            if over:
                state, _ = env.reset()
        queue.put(part)
    queue.cancel_join_thread()


class Learner:
    def __init__(self):
        self.net = nn.Sequential(nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 2))
        self.optimizer = torch.optim.Adam(self.net.parameters(), 1e-3, fused=True)

    def learn(self, part):
        state, action, reward = torch.from_numpy(part).split([4, 1, 1], 1)
        for _ in range(4):
            scores = self.net(state).log_softmax(-1).gather(1, action.long())
            loss = -(scores * reward).mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()

    def run(self, queue, updates):
        for _ in range(updates):
            self.learn(queue.get())  # planted


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--actors", type=int, default=1)
    parser.add_argument("--updates", type=int, default=60)
    options = parser.parse_args()
    torch.manual_seed(21)
    torch.set_num_threads(1)
    context = multiprocessing.get_context("fork")
    queue, stop = context.Queue(16), context.Event()
    actors = [
        context.Process(target=act, args=(queue, seed, stop)) for seed in range(options.actors)
    ]
    for actor in actors:
        actor.start()
    learner = Learner()
    began = stopwatch.now()
    learner.run(queue, options.updates)
    print(f"loop {stopwatch.now() - began:.6f}")
    stop.set()
    while any(actor.is_alive() for actor in actors):
        while not queue.empty():
            queue.get()
        time.sleep(0.01)


if __name__ == "__main__":
    main()
