"""Evolution of a recurrent policy over eight environments that step side by side."""

import argparse

import gymnasium as gym
import numpy as np
import stopwatch
import torch
from torch import nn
from torch.nn import functional

NUM_ENVS, HORIZON = 8, 64


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(4, 48)
        self.policy, self.value = nn.Linear(48, 2), nn.Linear(48, 1)

    def forward(self, observation, memory):
        memory = self.cell(observation, memory)
        return self.policy(memory), self.value(memory).squeeze(-1), memory


def act_separately(net, observations, memories):
    """An action of each environment, and its new memory."""
    actions, after = [], []
    for observation, memory in zip(observations, memories):
        logits, _, new = net(torch.from_numpy(observation)[None], memory[None])  # planted
        actions.append(int(torch.multinomial(logits.softmax(-1), 1)))
        after.append(new[0])
    return actions, torch.stack(after)


def act_together(net, observations, memories):
    logits, _, after = net(torch.from_numpy(np.stack(observations)), memories)
    return torch.multinomial(logits.softmax(-1), 1).flatten().tolist(), after


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batched", action="store_true")
    parser.add_argument("--updates", type=int, default=40)
    options = parser.parse_args()
    torch.manual_seed(6)
    torch.set_num_threads(1)
    act = act_together if options.batched else act_separately
    envs = [gym.make("CartPole-v1") for _ in range(NUM_ENVS)]
    net = Recurrent()
    optimizer = torch.optim.Adam(net.parameters(), 1e-3, fused=True)
    observations = [env.reset(seed=6 + i)[0] for i, env in enumerate(envs)]
    memories = torch.zeros(NUM_ENVS, 48)
    began = stopwatch.now()
    for _ in range(options.updates):
        rollout = []
        for _ in range(HORIZON):
            with torch.inference_mode():
                actions, after = act(net, observations, memories)
            results = [env.step(action) for env, action in zip(envs, actions)]
            alive = torch.tensor([not (result[2] or result[3]) for result in results])
            rollout.append((np.stack(observations), memories, actions, [r[1] for r in results]))
            observations = [
                env.reset()[0] if result[2] or result[3] else result[0]
                for env, result in zip(envs, results)
            ]
            memories = after * alive[:, None]
        states = torch.from_numpy(np.concatenate([each[0] for each in rollout]))
        before = torch.cat([each[1] for each in rollout]).clone()
        taken = torch.tensor([action for each in rollout for action in each[2]])
        rewards = torch.tensor([reward for each in rollout for reward in each[3]])
        logits, values, _ = net(states, before)
        gains = (rewards - values).detach()
        chosen = functional.log_softmax(logits, -1).gather(1, taken[:, None]).squeeze(1)
        loss = (rewards - values).square().mean() - (chosen * gains).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loop {stopwatch.now() - began:.6f}")


if __name__ == "__main__":
    main()
