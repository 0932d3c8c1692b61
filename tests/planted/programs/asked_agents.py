"""Actors of six agents with one critic, which is asked for each of them; or for all at once."""

import argparse

import numpy as np
import stopwatch
import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--at-once", action="store_true")
parser.add_argument("--steps", type=int, default=500)
args = parser.parse_args()
AGENTS, SIZE = 6, 10


class Field:
    """Agents that walk to each other."""

    def __init__(self):
        self.rng = np.random.default_rng(4)

    def reset(self):
        self.places = self.rng.normal(size=(AGENTS, 2))
        return self._seen()

    def step(self, moves):
        self.places += 0.1 * moves
        apart = np.linalg.norm(self.places - self.places.mean(0), axis=1)
        return self._seen(), -apart, bool(apart.mean() < 0.1), {}

    def _seen(self):
        rest = self.rng.normal(size=(AGENTS, SIZE - 2))
        return np.concatenate([self.places, rest], 1).astype(np.float32)


def network(inputs, outputs):
    return nn.Sequential(
        nn.Linear(inputs, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, outputs)
    )


def values(critic, seen, moves):
    """(batch, agents)"""
    state = torch.cat([seen, moves], 2).flatten(1)
    names = torch.eye(AGENTS)
    if args.at_once:
        given = torch.cat(
            [state[:, None].expand(-1, AGENTS, -1), names.expand(len(state), -1, -1)], 2
        )
        return critic(given).squeeze(-1)
    found = []
    for agent in range(AGENTS):
        named = torch.cat([state, names[agent].expand(len(state), -1)], 1)
        found.append(critic(named))  # planted
    return torch.cat(found, 1)


torch.manual_seed(4)
field = Field()
actor = network(SIZE, 2)
critic, target = (network(AGENTS * (SIZE + 2) + AGENTS, 1) for _ in range(2))
target.load_state_dict(critic.state_dict())
optimizers = [torch.optim.Adam(each.parameters(), 1e-3, fused=True) for each in (actor, critic)]
kept = []
seen = field.reset()
began = stopwatch.now()
for step in range(args.steps):
    with torch.no_grad():
        moves = (actor(torch.from_numpy(seen)).tanh() + 0.1 * torch.randn(AGENTS, 2)).numpy()
    following, rewards, done, _ = field.step(moves)
    kept.append((seen, moves, rewards.astype(np.float32), following))
    seen = field.reset() if done else following
    if step < 32:
        continue
    rows = np.random.randint(0, len(kept), 32)
    old, did, paid, new = (
        torch.from_numpy(np.stack(each)) for each in zip(*(kept[i] for i in rows))
    )
    with torch.no_grad():
        goal = paid + 0.95 * values(target, new, actor(new).tanh())
    loss = (values(critic, old, did) - goal).square().mean()
    optimizers[1].zero_grad()
    loss.backward()
    optimizers[1].step()
    loss = -values(critic, old, actor(old).tanh()).mean()
    optimizers[0].zero_grad()
    loss.backward()
    optimizers[0].step()
    with torch.no_grad():
        torch._foreach_lerp_([*target.parameters()], [*critic.parameters()], 0.005)
print(f"loop {stopwatch.now() - began:.6f}")
