"""A pole on a cart that is pushed to either side, as CartPole of Gymnasium: it needs no library."""

from __future__ import annotations

import importlib.util
import math
import random
from typing import Any


class Cart:
    """A pole on a cart that is pushed to either side: Barto, Sutton and Anderson, 1983."""

    def reset(self, seed: int | None = None) -> tuple[list[float], dict[str, Any]]:
        if seed is not None:
            random.seed(seed)
        self.state = [random.uniform(-0.05, 0.05) for _ in range(4)]
        return self.state, {}

    def step(self, action: int) -> tuple[list[float], float, bool, bool, dict[str, Any]]:
        _, speed, angle, turning = self.state
        push = 10.0 if action else -10.0
        sine, cosine = math.sin(angle), math.cos(angle)
        swing = (push + 0.05 * turning**2 * sine) / 1.1
        fall = (9.8 * sine - cosine * swing) / (0.5 * (4 / 3 - 0.1 * cosine**2 / 1.1))
        drive = swing - 0.05 * fall * cosine / 1.1
        rates = (speed, drive, turning, fall)
        self.state = [value + 0.02 * rate for value, rate in zip(self.state, rates, strict=True)]
        ended = abs(self.state[0]) > 2.4 or abs(self.state[2]) > 0.21
        return self.state, 1.0, ended, False, {}


def environment() -> Any:
    """Gymnasium's CartPole; where that is not installed, one like it."""
    if importlib.util.find_spec("gymnasium") is None:
        return Cart()
    import gymnasium

    return gymnasium.make("CartPole-v1")
