"""Two actors train; the program that started them asks a queue for their scores, or waits."""

import argparse
import multiprocessing as mp
import time

import gymnasium as gym
import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--wait", action="store_true")
parser.add_argument("--updates", type=int, default=400)
options = parser.parse_args()


class Actor(mp.Process):
    def __init__(self, number, scores):
        super().__init__(name=f"actor {number}")
        self.number, self.scores = number, scores

    def collect(self, env, policy):
        seen, _ = env.reset()
        kept, total = [], 0.0
        for _ in range(64):
            with torch.no_grad():
                action = int(policy(torch.from_numpy(seen)).argmax())
            kept.append(torch.from_numpy(seen))
            seen, reward, ended, cut, _ = env.step(action)
            total += reward
            if ended or cut:
                seen, _ = env.reset()
        return torch.stack(kept), total

    def run(self):
        torch.set_num_threads(1)
        torch.manual_seed(self.number)
        env = gym.make("CartPole-v1")
        env.reset(seed=self.number)
        policy = nn.Sequential(nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 2))
        optimizer = torch.optim.Adam(policy.parameters(), 1e-3, fused=True)
        for update in range(options.updates + 1):
            if update == 1:  # all is imported
                began = time.perf_counter()
            kept, total = self.collect(env, policy)
            loss = -total * policy(kept).log_softmax(-1).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            self.scores.put(total)
        if self.number == 0:  # on the wall clock: what the asking costs is a CPU
            print(f"loop {time.perf_counter() - began:.6f}", flush=True)
        self.scores.put(None)


if __name__ == "__main__":
    scores = mp.Queue()
    actors = [Actor(number, scores) for number in range(2)]
    for actor in actors:
        actor.start()
    best, left = 0.0, len(actors)
    while left:
        if options.wait or not scores.empty():  # planted
            score = scores.get()
            left -= score is None
            best = max(best, score or 0.0)
    for actor in actors:
        actor.join()
