"""A journal with durable rows, written by a thread of its own while the training goes on."""

import argparse
import os
import queue
import tempfile
import threading

import gymnasium as gym
import stopwatch
import torch
from torch import nn


class Journal(threading.Thread):
    def __init__(self, path, durable):
        super().__init__(daemon=True)
        self.file, self.durable, self.rows = open(path, "w"), durable, queue.SimpleQueue()

    def run(self):
        going = True
        while going:
            rows = [self.rows.get()]
            while not self.rows.empty():
                rows.append(self.rows.get())
            going = rows[-1] is not None
            self.file.writelines(row for row in rows if row is not None)
            if self.durable:
                self.file.flush()
                os.fsync(self.file.fileno())

    def close(self):
        self.rows.put(None)
        self.join()
        self.file.close()


def train(journal, steps):
    env = gym.make("CartPole-v1")
    net = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 2))
    optimizer = torch.optim.SGD(net.parameters(), 1e-3, foreach=True)
    state, _ = env.reset(seed=25)
    for step in range(steps):
        scores = net(torch.from_numpy(state)).log_softmax(-1)
        action = int(torch.multinomial(scores.detach().exp(), 1))
        state, reward, terminated, truncated, _ = env.step(action)
        loss = -reward * scores[action]
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        journal.rows.put(f"{step},{action},{reward}\n")
        if terminated or truncated:
            state, _ = env.reset()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--buffered", action="store_true")
    parser.add_argument("--steps", type=int, default=1500)
    options = parser.parse_args()
    torch.manual_seed(25)
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory(dir=os.getcwd()) as folder:
        journal = Journal(os.path.join(folder, "journal.csv"), not options.buffered)
        journal.start()
        began = stopwatch.now()
        train(journal, options.steps)
        print(f"loop {stopwatch.now() - began:.6f}")
        journal.close()
