"""Two worker processes send large observations, pickled or in memory that both sides see."""

import argparse
import multiprocessing
from multiprocessing import shared_memory

import gymnasium as gym
import numpy as np
import stopwatch
import torch
from torch import nn

SHAPE, WORKERS = (3, 512, 512), 2


class Camera(gym.Env):
    observation_space = gym.spaces.Box(0, 255, SHAPE, np.uint8)
    action_space = gym.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.image, self.time = np.zeros(SHAPE, np.uint8), 0
        return self.image, {}

    def step(self, action):
        self.image[:, self.time % SHAPE[1]] = 100 * action
        self.time += 1
        return self.image, float(action), False, False, {}


def work(pipe, memory):
    env = Camera()
    shared = None if memory is None else shared_memory.SharedMemory(memory)
    image, _ = env.reset(seed=19)
    if shared is not None:
        place = np.ndarray(SHAPE, np.uint8, shared.buf)
        place[:] = image
    while True:
        action = pipe.recv()
        if action is None:
            break
        image, reward, _, _, _ = env.step(action)
        if shared is None:
            pipe.send((image, reward))  # planted
        else:
            place[:] = image
            pipe.send((None, reward))
    if shared is not None:
        del place
        shared.close()


class Workers:
    def __init__(self, shared):
        size = int(np.prod(SHAPE))
        self.memories = [
            shared_memory.SharedMemory(create=True, size=size) if shared else None
            for _ in range(WORKERS)
        ]
        context = multiprocessing.get_context("fork")
        ends = [context.Pipe() for _ in range(WORKERS)]
        self.pipes = [end[0] for end in ends]
        self.processes = [
            context.Process(target=work, args=(end[1], memory and memory.name))
            for end, memory in zip(ends, self.memories)
        ]
        for process in self.processes:
            process.start()

    def step(self, actions):
        for pipe, action in zip(self.pipes, actions):
            pipe.send(int(action))
        images, rewards = [], []
        for pipe, memory in zip(self.pipes, self.memories):
            image, reward = pipe.recv()  # planted
            images.append(np.ndarray(SHAPE, np.uint8, memory.buf) if memory else image)
            rewards.append(reward)
        return images, rewards

    def close(self):
        for pipe, process in zip(self.pipes, self.processes):
            pipe.send(None)
            process.join()
        for memory in filter(None, self.memories):
            memory.close()
            memory.unlink()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--shared", action="store_true")
    parser.add_argument("--steps", type=int, default=2000)
    options = parser.parse_args()
    torch.manual_seed(19)
    torch.set_num_threads(1)
    workers = Workers(options.shared)
    net = nn.Linear(64, 2)
    optimizer = torch.optim.SGD(net.parameters(), 1e-4, foreach=True)
    actions = [0] * WORKERS
    began = stopwatch.now()
    for step in range(options.steps):
        images, rewards = workers.step(actions)
        small = np.stack([image[0, ::64, ::64].ravel() for image in images])
        scores = net(torch.from_numpy(small).float() / 255).log_softmax(-1)
        actions = torch.multinomial(scores.detach().exp(), 1).flatten().tolist()
        chosen = scores[torch.arange(WORKERS), torch.tensor(actions)]
        loss = -(chosen * torch.tensor(rewards)).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loop {stopwatch.now() - began:.6f}")
    del images
    workers.close()


if __name__ == "__main__":
    main()
