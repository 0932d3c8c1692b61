"""Proximal policy optimization on pixels, with the convolutions of Mnih et al., 2015."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from loops.proximal import ProximalPolicy
from loops.worlds import Catchers

GAMES, STEPS, WIDTH = 8, 16, 512


class Pixels(nn.Module):
    """Bytes to features."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(Catchers.FRAMES, 32, 8, 4), nn.ReLU(), nn.Conv2d(32, 64, 4, 2), nn.ReLU(),
            nn.Conv2d(64, 64, 3), nn.ReLU(), nn.Flatten(), nn.Linear(64 * 7 * 7, WIDTH), nn.ReLU(),
        )  # fmt: skip

    def forward(self, pixels: Tensor) -> Tensor:
        features: Tensor = self.layers(pixels / 255)
        return features


def make() -> Callable[[], None]:
    torch.manual_seed(1)
    body = Pixels().cuda()
    return ProximalPolicy(Catchers(GAMES), body, WIDTH, Catchers.ACTIONS, STEPS).iterate
