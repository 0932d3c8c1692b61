"""A worker that evaluates takes its time, and nobody waits for it."""

import argparse
import multiprocessing
import time

import gymnasium as gym
import numpy as np
import stopwatch
import torch
from torch import nn


def evaluate(weights, delay, stop):
    """Plays with the newest weights, slowly."""
    env = gym.make("CartPole-v1")
    state, _ = env.reset(seed=24)
    while not stop.is_set():
        time.sleep(delay)
        matrix = np.frombuffer(weights.get_obj()).reshape(4, 2)
        state, _, terminated, truncated, _ = env.step(int((state @ matrix).argmax()))
        if terminated or truncated:
            state, _ = env.reset()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--delay", type=float, default=0.05)
    parser.add_argument("--steps", type=int, default=1500)
    options = parser.parse_args()
    torch.manual_seed(24)
    torch.set_num_threads(1)
    context = multiprocessing.get_context("fork")
    weights, stop = context.Array("d", 8), context.Event()
    workers = [
        context.Process(target=evaluate, args=(weights, delay, stop))
        for delay in (0.01, options.delay)
    ]
    for worker in workers:
        worker.start()
    env = gym.make("CartPole-v1")
    net = nn.Linear(4, 2)
    optimizer = torch.optim.SGD(net.parameters(), 1e-3, foreach=True)
    state, _ = env.reset(seed=24)
    began = stopwatch.now()
    for step in range(options.steps):
        scores = net(torch.from_numpy(state)).log_softmax(-1)
        action = int(torch.multinomial(scores.detach().exp(), 1))
        state, reward, terminated, truncated, _ = env.step(action)
        loss = -reward * scores[action]
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if terminated or truncated:
            state, _ = env.reset()
        if step % 100 == 0:
            np.frombuffer(weights.get_obj())[:] = net.weight.detach().numpy().T.ravel()
    print(f"loop {stopwatch.now() - began:.6f}")
    stop.set()
    for worker in workers:
        worker.join()


if __name__ == "__main__":
    main()
