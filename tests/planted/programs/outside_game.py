"""A game that runs as a program of its own and talks over its standard input and output."""

import argparse
import json
import subprocess
import sys

import gymnasium as gym
import numpy as np
import stopwatch
import torch
from torch import nn


class Game:
    """A walker on a line, with an opponent that thinks for a while."""

    def __init__(self):
        self.place = self.time = 0

    def move(self, action):
        self.place += 1 if action else -1
        self.time += 1
        return [self.place / 10, self.time / 100], float(self.place > 0), self.time >= 100

    def restart(self):
        self.place = self.time = 0
        return [0.0, 0.0]


def serve():
    game = Game()
    for line in sys.stdin:
        command = json.loads(line)
        if command == "restart":
            print(json.dumps(game.restart()), flush=True)
        else:
            print(json.dumps(game.move(command)), flush=True)


class Outside:
    """The game in another program."""

    def __init__(self):
        self.program = subprocess.Popen(
            [sys.executable, __file__, "--serve"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ask(self, command):
        self.program.stdin.write(json.dumps(command) + "\n")
        self.program.stdin.flush()  # planted
        return json.loads(self.program.stdout.readline())  # planted

    def move(self, action):
        return self.ask(action)

    def restart(self):
        return self.ask("restart")

    def close(self):
        self.program.stdin.close()
        self.program.wait()


class Walker(gym.Env):
    observation_space = gym.spaces.Box(-20, 20, (2,), np.float32)
    action_space = gym.spaces.Discrete(2)

    def __init__(self, game):
        self.game = game

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return np.array(self.game.restart(), np.float32), {}

    def step(self, action):
        state, reward, over = self.game.move(action)
        return np.array(state, np.float32), reward, False, over, {}


def train(env, steps):
    net = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 2))
    optimizer = torch.optim.SGD(net.parameters(), 1e-3, foreach=True)
    state, _ = env.reset(seed=23)
    states, actions, rewards = [], [], []
    for _ in range(steps):
        with torch.no_grad():
            action = int(torch.multinomial(net(torch.from_numpy(state)).softmax(-1), 1))
        states.append(state)
        state, reward, _, over, _ = env.step(action)
        actions.append(action)
        rewards.append(reward)
        if over:
            scores = net(torch.from_numpy(np.stack(states))).log_softmax(-1)
            chosen = scores.gather(1, torch.tensor(actions)[:, None]).squeeze(1)
            loss = -(chosen * torch.tensor(rewards)).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            states, actions, rewards = [], [], []
            state, _ = env.reset()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--serve", action="store_true")
    parser.add_argument("--inside", action="store_true")
    parser.add_argument("--steps", type=int, default=6000)
    options = parser.parse_args()
    if options.serve:
        serve()
        sys.exit()
    torch.manual_seed(23)
    torch.set_num_threads(1)
    game = Game() if options.inside else Outside()
    game.restart()  # answers once the other program has started
    began = stopwatch.now()
    train(Walker(game), options.steps)
    print(f"loop {stopwatch.now() - began:.6f}")
    if not options.inside:
        game.close()
