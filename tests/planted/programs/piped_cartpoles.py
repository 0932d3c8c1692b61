"""A vector of worker processes made by hand, for an environment that costs nothing; or a list."""

import argparse
import multiprocessing as mp

import gymnasium as gym
import numpy as np
import stopwatch

parser = argparse.ArgumentParser()
parser.add_argument("--local", action="store_true")
parser.add_argument("--steps", type=int, default=2500)
options = parser.parse_args()


def serve(pipe, seed):
    env = gym.make("CartPole-v1")
    env.reset(seed=seed)
    while True:
        command, value = pipe.recv()
        if command == "step":
            observation, reward, terminated, truncated, _ = env.step(value)
            if terminated or truncated:
                observation, _ = env.reset()
            pipe.send((observation, reward, terminated or truncated))
        elif command == "reset":
            pipe.send(env.reset()[0])
        else:
            break


class Remote:
    def __init__(self, count):
        context = mp.get_context("fork")
        self.pipes, self.processes = [], []
        for seed in range(count):
            here, there = context.Pipe()
            process = context.Process(target=serve, args=(there, seed), daemon=True)
            process.start()
            self.pipes.append(here)
            self.processes.append(process)

    def reset(self):
        for pipe in self.pipes:
            pipe.send(("reset", None))
        return np.stack([pipe.recv() for pipe in self.pipes])

    def step(self, actions):
        for pipe, action in zip(self.pipes, actions):
            pipe.send(("step", int(action)))
        rows = [pipe.recv() for pipe in self.pipes]  # planted
        return tuple(np.array(part) for part in zip(*rows))

    def close(self):
        for pipe in self.pipes:
            pipe.send(("close", None))
        for process in self.processes:
            process.join()


class Local:
    def __init__(self, count):
        self.envs = [gym.make("CartPole-v1") for _ in range(count)]

    def reset(self):
        return np.stack([env.reset(seed=n)[0] for n, env in enumerate(self.envs)])

    def step(self, actions):
        rows = []
        for env, action in zip(self.envs, actions):
            observation, reward, terminated, truncated, _ = env.step(int(action))
            if terminated or truncated:
                observation, _ = env.reset()
            rows.append((observation, reward, terminated or truncated))
        return tuple(np.array(part) for part in zip(*rows))

    def close(self):
        pass


class Hill:
    """Climbs by random changes of linear weights."""

    def __init__(self, rng):
        self.rng, self.best = rng, -np.inf
        self.weights = self.trial = rng.normal(size=(4, 2))

    def act(self, observations):
        return (observations @ self.trial).argmax(1)

    def learn(self, score):
        if score > self.best:
            self.best, self.weights = score, self.trial
        self.trial = self.weights + self.rng.normal(size=(4, 2)) * 0.1


vector = (Local if options.local else Remote)(3)
hill = Hill(np.random.default_rng(13))
observations = vector.reset()
score = 0
began = stopwatch.now()
for step in range(options.steps):
    observations, rewards, ended = vector.step(hill.act(observations))
    score += rewards.sum() - 10 * ended.sum()
    if step % 50 == 49:
        hill.learn(score)
        score = 0
print(f"loop {stopwatch.now() - began:.6f}")
vector.close()
