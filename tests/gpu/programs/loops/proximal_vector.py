"""Proximal policy optimization of many carts that are stepped at once, with a small network."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import nn

from loops.proximal import ProximalPolicy
from loops.worlds import Carts

CARTS, STEPS, WIDTH = 64, 16, 64


def make() -> Callable[[], None]:
    torch.manual_seed(1)
    body = nn.Sequential(nn.Linear(4, WIDTH), nn.Tanh(), nn.Linear(WIDTH, WIDTH), nn.Tanh()).cuda()
    return ProximalPolicy(Carts(CARTS), body, WIDTH, 2, STEPS).iterate
