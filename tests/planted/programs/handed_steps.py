"""An actor thread steps the world, and hands each transition to the learner; or 64 at once."""

import argparse
import queue
import random
import threading

import gymnasium as gym
import stopwatch
import torch

parser = argparse.ArgumentParser()
parser.add_argument("--chunk", type=int, default=1)
parser.add_argument("--steps", type=int, default=16384)
options = parser.parse_args()

torch.manual_seed(0)
random.seed(0)
net = torch.nn.Sequential(torch.nn.Linear(4, 32), torch.nn.ReLU(), torch.nn.Linear(32, 2))
hand = queue.Queue(maxsize=1)
stop = threading.Event()


def actor():
    env = gym.make("CartPole-v1")
    state, _ = env.reset(seed=0)
    chunk = []
    while not stop.is_set():
        with torch.inference_mode():
            action = int(net(torch.from_numpy(state)).argmax())
        if random.random() < 0.2:
            action = random.randrange(2)
        after, reward, dead, cut, _ = env.step(action)
        chunk.append((state, action, reward, after, dead))
        if len(chunk) == options.chunk:
            hand.put(chunk)  # planted
            chunk = []
        state = env.reset()[0] if dead or cut else after


class Memory:
    def __init__(self, room):
        self.state, self.after = torch.zeros(room, 4), torch.zeros(room, 4)
        self.action = torch.zeros(room, 1, dtype=torch.long)
        self.reward, self.dead = torch.zeros(room), torch.zeros(room)
        self.size = 0

    def put(self, state, action, reward, after, dead):
        row = self.size
        self.state[row], self.after[row] = torch.from_numpy(state), torch.from_numpy(after)
        self.action[row], self.reward[row], self.dead[row] = action, reward, float(dead)
        self.size += 1


def learn(memory, optimizer):
    rows = torch.randint(memory.size, (64,))
    with torch.no_grad():
        best = net(memory.after[rows]).max(1).values
        goal = memory.reward[rows] + 0.99 * (1 - memory.dead[rows]) * best
    values = net(memory.state[rows]).gather(1, memory.action[rows])[:, 0]
    loss = (values - goal).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def main():
    optimizer = torch.optim.Adam(net.parameters(), 1e-3, fused=True)
    memory = Memory(2 * options.steps)
    threading.Thread(target=actor, daemon=True).start()
    began = stopwatch.now()
    while memory.size < options.steps:
        for item in hand.get():  # planted
            memory.put(*item)
            if memory.size > 200 and memory.size % 8 == 0:
                learn(memory, optimizer)
    print(f"loop {stopwatch.now() - began:.6f}", flush=True)
    stop.set()
    while threading.active_count() > 1:
        try:
            hand.get(timeout=0.1)
        except queue.Empty:
            continue


if __name__ == "__main__":
    main()
