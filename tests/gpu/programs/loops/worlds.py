"""Environments in NumPy, as quick as environments get: what remains of an iteration is PyTorch."""

from __future__ import annotations

from typing import Any

import numpy

Array = Any


def finite(values: Array) -> Array:
    """Numbers that a network on the GPU answered; where that computes nothing they may be any."""
    return numpy.clip(numpy.nan_to_num(values), -1.0, 1.0)


class Carts:
    """Poles on carts, all stepped at once; a fallen one stands up again."""

    def __init__(self, count: int) -> None:
        self._made = numpy.random.default_rng(1)
        self.states = self._made.uniform(-0.05, 0.05, (count, 4)).astype(numpy.float32)

    def step(self, actions: Array) -> tuple[Array, Array, Array]:
        """States, rewards, and which poles have fallen."""
        _, speed, angle, turning = self.states.T
        push = numpy.where(actions % 2 == 1, 10.0, -10.0)
        sine, cosine = numpy.sin(angle), numpy.cos(angle)
        swing = (push + 0.05 * turning**2 * sine) / 1.1
        fall = (9.8 * sine - cosine * swing) / (0.5 * (4 / 3 - 0.1 * cosine**2 / 1.1))
        rates = numpy.stack([speed, swing - 0.05 * fall * cosine / 1.1, turning, fall], 1)
        self.states = (self.states + 0.02 * rates).astype(numpy.float32)
        fallen = (abs(self.states[:, 0]) > 2.4) | (abs(self.states[:, 2]) > 0.21)
        self.states[fallen] = self._made.uniform(-0.05, 0.05, (int(fallen.sum()), 4))
        return self.states, numpy.ones(len(fallen), numpy.float32), fallen


class Point:
    """A mass in a plane that is pushed towards the middle."""

    INPUTS, ACTIONS = 4, 2

    def __init__(self) -> None:
        self._made = numpy.random.default_rng(1)
        self._steps = 0
        self.state = self._made.normal(size=self.INPUTS).astype(numpy.float32)

    def step(self, action: Array) -> tuple[Array, float]:
        place, speed = self.state[:2], self.state[2:]
        speed = 0.95 * speed + 0.1 * finite(action)
        self.state = numpy.concatenate([place + 0.1 * speed, speed]).astype(numpy.float32)
        self._steps += 1
        if self._steps % 200 == 0:
            self.state = self._made.normal(size=self.INPUTS).astype(numpy.float32)
        return self.state, -float((place**2).sum())


class Catchers:
    """Frames of falling balls above a bat, four in a stack: pixels that an environment draws."""

    FRAMES, SIDE, ACTIONS = 4, 84, 3

    def __init__(self, count: int) -> None:
        self._made = numpy.random.default_rng(1)
        self._balls = self._made.integers(0, self.SIDE - 4, (count, 2))
        self._bats = numpy.full(count, self.SIDE // 2)
        self.states = numpy.zeros((count, self.FRAMES, self.SIDE, self.SIDE), numpy.uint8)

    def step(self, actions: Array) -> tuple[Array, Array, Array]:
        """States, rewards, and which balls have reached the ground."""
        self._bats = numpy.clip(self._bats + 4 * (actions % 3 - 1), 0, self.SIDE - 12)
        self._balls[:, 1] += 4
        ended = self._balls[:, 1] >= self.SIDE - 4
        caught = ended & (abs(self._balls[:, 0] - self._bats - 4) < 8)
        self._balls[ended] = self._made.integers(0, self.SIDE // 2, (int(ended.sum()), 2))
        self.states = numpy.roll(self.states, -1, 1)
        self.states[:, -1] = 0
        for picture, ball, bat in zip(self.states[:, -1], self._balls, self._bats, strict=True):
            picture[ball[1] : ball[1] + 4, ball[0] : ball[0] + 4] = 255
            picture[-4:, bat : bat + 12] = 128
        return self.states, caught.astype(numpy.float32), ended
