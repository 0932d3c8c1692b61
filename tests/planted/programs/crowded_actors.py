"""A3C: actors that learn, each with as many threads for its operators as were asked for."""

import argparse
import multiprocessing

import gymnasium as gym
import stopwatch
import torch
from torch import nn
from torch.nn import functional as F


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 256)
        self.chances = nn.Linear(256, 2)
        self.value = nn.Linear(256, 1)

    def forward(self, state):
        seen = F.relu(self.body(state))
        return self.chances(seen), self.value(seen)[..., 0]


def act(policy, state):
    with torch.no_grad():
        chances = F.softmax(policy(torch.from_numpy(state))[0], -1)
    return int(torch.multinomial(chances, 1))


def rollout(env, policy, state):
    """Some steps, and whether the episode goes on."""
    states, actions, rewards, over = [], [], [], False
    while len(rewards) < 20 and not over:
        states.append(torch.from_numpy(state))
        actions.append(act(policy, state))
        state, reward, dead, cut, _ = env.step(actions[-1])
        rewards.append(reward)
        over = dead or cut
    return states, actions, rewards, state, over


def loss_of(policy, states, actions, rewards, last):
    gains = []
    for reward in reversed(rewards):
        last = reward + 0.99 * last
        gains.insert(0, last)
    logits, values = policy(torch.stack(states))
    better = torch.tensor(gains) - values
    cost = F.cross_entropy(logits, torch.tensor(actions), reduction="none")
    return (cost * better.detach() + better.square()).mean()


def train(rank, shared, ready, options):
    torch.set_num_threads(options.threads)  # planted
    torch.manual_seed(rank)
    env, policy = gym.make("CartPole-v1"), Policy()
    optimizer = torch.optim.SGD(shared.parameters(), 1e-3, foreach=True)
    state, _ = env.reset(seed=rank)
    ready.wait()
    began = stopwatch.now()
    for _ in range(options.updates):
        policy.load_state_dict(shared.state_dict())
        states, actions, rewards, state, over = rollout(env, policy, state)
        with torch.no_grad():
            last = 0.0 if over else float(policy(torch.from_numpy(state))[1])
        loss = loss_of(policy, states, actions, rewards, last)
        policy.zero_grad()
        loss.backward()
        for ours, theirs in zip(policy.parameters(), shared.parameters(), strict=True):
            theirs.grad = ours.grad
        optimizer.step()
        if over:
            state, _ = env.reset()
    ready.wait()
    if rank == 0:
        print(f"loop {stopwatch.now() - began:.6f}", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--actors", type=int, default=4)
    parser.add_argument("--updates", type=int, default=300)
    options = parser.parse_args()
    spawned = multiprocessing.get_context("spawn")
    ready = spawned.Barrier(options.actors)
    shared = Policy().share_memory()
    given = (shared, ready, options)
    actors = [spawned.Process(target=train, args=(rank, *given)) for rank in range(options.actors)]
    for actor in actors:
        actor.start()
    for actor in actors:
        actor.join()


if __name__ == "__main__":
    main()
