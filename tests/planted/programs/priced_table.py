"""A trader that takes its prices out of a table in each step; or out of arrays."""

import argparse

import numpy as np
import pandas as pd
import stopwatch
import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--arrays", action="store_true")
parser.add_argument("--steps", type=int, default=2000)
args = parser.parse_args()


class Market:
    def __init__(self, table):
        self.table = table
        self.prices = table["price"].to_numpy()
        self.marks = table[["price", "volume", "spread"]].to_numpy()

    def reset(self):
        self.at = 20
        return self.seen()

    def seen(self):
        if args.arrays:
            return self.marks[self.at - 8 : self.at].ravel().astype(np.float32)
        part = self.table.iloc[self.at - 8 : self.at]  # planted
        return part[["price", "volume", "spread"]].to_numpy().ravel().astype("f4")  # planted

    def step(self, held):
        before = self.price()
        self.at += 1
        return self.seen(), held * (self.price() - before), self.at >= len(self.table) - 1

    def price(self):
        return self.prices[self.at] if args.arrays else self.table.iloc[self.at]["price"]  # planted


random = np.random.default_rng(11)
table = pd.DataFrame(random.normal(size=(400, 3)), columns=["price", "volume", "spread"])
torch.manual_seed(11)
net = nn.Sequential(nn.Linear(24, 64), nn.Tanh(), nn.Linear(64, 3))
optimizer = torch.optim.Adam(net.parameters(), 1e-3, fused=True)
market = Market(table)
seen, logs, rewards = market.reset(), [], []
began = stopwatch.now()
for step in range(args.steps):
    logits = torch.log_softmax(net(torch.from_numpy(seen)), 0)
    held = int(torch.multinomial(logits.detach().exp(), 1))
    logs.append(logits[held])
    seen, reward, over = market.step(held - 1)
    rewards.append(reward)
    if len(rewards) == 16 or over:
        gained = torch.tensor(np.cumsum(rewards[::-1])[::-1].astype(np.float32))
        loss = -(torch.stack(logs) * gained).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        logs, rewards = [], []
    if over:
        seen = market.reset()
print(f"loop {stopwatch.now() - began:.6f}")
