"""REINFORCE with an LSTM that has to remember; it reads the whole episode, or keeps its state."""

import argparse

import numpy as np
import stopwatch
import torch
from torch import nn
from torch.nn import functional

parser = argparse.ArgumentParser()
parser.add_argument("--keep-state", action="store_true")
parser.add_argument("--updates", type=int, default=10)
options = parser.parse_args()
torch.manual_seed(2)
torch.set_num_threads(1)
CUES, LENGTH = 3, 120
SHOWN = np.eye(CUES, dtype=np.float32)


class Recall:
    """The cue of the first step is the right answer in the last ones."""

    def __init__(self):
        self.rng = np.random.default_rng(2)

    def seen(self):
        cue = SHOWN[self.cue] * (self.age == 0)
        return np.concatenate([cue, self.rng.normal(size=3).astype(np.float32)])

    def reset(self):
        self.cue, self.age = int(self.rng.integers(CUES)), 0
        return self.seen()

    def step(self, action):
        self.age += 1
        reward = float(action == self.cue) if self.age > LENGTH - 5 else 0.0
        return self.seen(), reward, self.age >= LENGTH, {}


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.memory = nn.LSTM(CUES + 3, 64, batch_first=True)
        self.head = nn.Linear(64, CUES)

    def forward(self, seen, state=None):
        found, state = self.memory(seen, state)
        return self.head(found), state


class Trainer:
    def __init__(self):
        self.env, self.policy = Recall(), Policy()
        self.optimizer = torch.optim.Adam(self.policy.parameters(), 2e-3, fused=True)

    @torch.no_grad()
    def act(self, history, state):
        if options.keep_state:
            scores, state = self.policy(torch.from_numpy(history[-1])[None, None], state)
        else:
            scores, _ = self.policy(torch.from_numpy(np.stack(history))[None])  # planted
        chances = functional.softmax(scores[0, -1], -1)
        return int(torch.multinomial(chances, 1)), state

    def episode(self):
        history, actions, rewards = [self.env.reset()], [], []
        state, done = None, False
        while not done:
            action, state = self.act(history, state)
            seen, reward, done, _ = self.env.step(action)
            history.append(seen)
            actions.append(action)
            rewards.append(reward)
        return np.stack(history[:-1]), actions, sum(rewards)

    def learn(self, episodes):
        seen = torch.from_numpy(np.stack([each[0] for each in episodes]))
        actions = torch.tensor([each[1] for each in episodes])
        gained = torch.tensor([each[2] for each in episodes])
        scores, _ = self.policy(seen)
        chosen = functional.log_softmax(scores, -1).gather(-1, actions[..., None]).squeeze(-1)
        loss = -(chosen.sum(1) * (gained - gained.mean())).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


trainer = Trainer()
began = stopwatch.now()
for _ in range(options.updates):
    trainer.learn([trainer.episode() for _ in range(4)])
print(f"loop {stopwatch.now() - began:.6f}")
