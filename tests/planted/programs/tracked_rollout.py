"""A recurrent actor whose rollout records for autograd what nobody differentiates."""

import argparse
import contextlib

import gymnasium as gym
import stopwatch
import torch
from torch import nn
from torch.nn import functional

parser = argparse.ArgumentParser()
parser.add_argument("--no-grad-rollout", action="store_true")
parser.add_argument("--updates", type=int, default=20)
args = parser.parse_args()
torch.manual_seed(12)
torch.set_num_threads(1)

NUM_ENVS, NUM_STEPS, WIDTH, LAYERS = 64, 128, 96, 6
envs = gym.make_vec("CartPole-v1", NUM_ENVS, vectorization_mode="vector_entry_point")


class Layer(nn.Module):
    """A gated mixture of what comes in and what was remembered."""

    def __init__(self, inputs):
        super().__init__()
        self.inputs = nn.Linear(inputs, WIDTH)
        self.decay = nn.Parameter(torch.zeros(WIDTH))
        self.scale = nn.Parameter(torch.ones(WIDTH))

    def forward(self, x, memory):
        x, rate = self.inputs(x), self.decay.sigmoid()
        memory = memory * rate + x * (1 - rate)
        return x + torch.tanh(memory * self.scale) * x.sigmoid(), memory


layers = nn.ModuleList([Layer(4), *(Layer(WIDTH) for _ in range(LAYERS - 1))])
head = nn.Linear(WIDTH, 3)
model = nn.ModuleList([layers, head])
optimizer = torch.optim.RMSprop(model.parameters(), 7e-4, foreach=True)
rollout_mode = torch.no_grad if args.no_grad_rollout else contextlib.nullcontext


def forward(x, memories):
    after = []
    for layer, memory in zip(layers, memories):
        x, memory = layer(x, memory)
        after.append(memory)
    return head(x), after


observation, _ = envs.reset(seed=12)
began = stopwatch.now()
for _ in range(args.updates):
    states, befores, actions, rewards = [], [], [], []
    memories = [torch.zeros(NUM_ENVS, WIDTH) for _ in layers]
    for _ in range(NUM_STEPS):
        state = torch.from_numpy(observation)
        befores.append(memories)
        with rollout_mode():
            output, memories = forward(state, memories)  # planted
            action = (torch.rand(NUM_ENVS) < output[:, :2].softmax(-1)[:, 1]).long()
        observation, reward, _, _, _ = envs.step(action.numpy())
        states.append(state)
        actions.append(action)
        rewards.append(torch.from_numpy(reward).float())
    rows = range(0, NUM_STEPS, 16)
    before = [torch.cat([befores[t][i] for t in rows]).detach() for i in range(LAYERS)]
    output, _ = forward(torch.cat([states[t] for t in rows]), before)
    taken = torch.cat([actions[t] for t in rows])[:, None]
    gain = torch.cat([rewards[t] for t in rows]) - output[:, 2]
    chosen = functional.log_softmax(output[:, :2], -1).gather(-1, taken).squeeze(-1)
    loss = gain.square().mean() - (chosen * gain.detach()).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"loop {stopwatch.now() - began:.6f}")
