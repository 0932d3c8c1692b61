"""DroneDepth-v0: a simulator that is expensive as those are that render what a robot sees.

    env = gym.make("DroneDepth-v0", resolution=128, obstacles=60)

A drone flies along a corridor between spheres. It moves ahead by itself, and steers up, down, left
and right. A camera casts a ray for each of resolution x resolution pixels against every obstacle,
in NumPy on one core: the time of a step grows with both numbers, the observation does not.

The observation is 12 x 12 pixels of inverse distance, from 0 (far) to 1 (a metre or less), each the
nearest of the rays in its part of the picture, then the position across the corridor and the speed
there, in half widths and in metres per second.
"""

import math
from typing import Any

import gymnasium as gym
import numpy as np

ENV_ID = "DroneDepth-v0"

_LENGTH = 30.0
_HALF_WIDTH = 3.0
_RADII = (0.4, 0.9)
_FREE_START = 4.0
"""No obstacle is nearer to the start. All of these are in metres."""
_DRONE_RADIUS = 0.2
_SENSOR = 12
_FAR = 30.0
_FIELD_OF_VIEW = math.radians(100)
_STEP_SECONDS = 0.1
_SPEED = 3.0
_THRUST = 8.0
_DRAG = 1.5
_STEERING = np.array([(0, 0), (1, 0), (-1, 0), (0, 1), (0, -1)], np.float32)
"""Coast, left, right, up, down."""


class DroneDepth(gym.Env):  # type: ignore[misc]
    """Reward is 1 for each metre; an episode ends at a collision or at the end of the corridor.

    resolution is a multiple of 12; obstacles is how many spheres there are.
    """

    def __init__(self, resolution: int = 60, obstacles: int = 30) -> None:
        if resolution < _SENSOR or resolution % _SENSOR:
            raise gym.error.Error(f"resolution must be a multiple of {_SENSOR}, not {resolution}")
        if obstacles < 1:
            raise gym.error.Error(f"there must be at least 1 obstacle, not {obstacles}")
        pixels = _SENSOR * _SENSOR
        low = np.array([0.0] * pixels + [-2.0] * 2 + [-_THRUST] * 2, np.float32)
        high = np.array([1.0] * pixels + [2.0] * 2 + [_THRUST] * 2, np.float32)
        self.observation_space = gym.spaces.Box(low, high)
        self.action_space = gym.spaces.Discrete(len(_STEERING))
        self.resolution = resolution
        self.obstacles = obstacles
        self.rays = _rays(resolution)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        """A new corridor."""
        super().reset(seed=seed)
        self.centres = np.stack(
            [
                self.np_random.uniform(_FREE_START, _LENGTH, self.obstacles),
                self.np_random.uniform(-_HALF_WIDTH, _HALF_WIDTH, self.obstacles),
                self.np_random.uniform(-_HALF_WIDTH, _HALF_WIDTH, self.obstacles),
            ],
            axis=1,
        ).astype(np.float32)
        self.radii = self.np_random.uniform(*_RADII, self.obstacles).astype(np.float32)
        self.position = np.zeros(3, np.float32)
        self.speed = np.zeros(2, np.float32)
        return self._observe(), {}

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """A tenth of a second."""
        self.speed += (_THRUST * _STEERING[action] - _DRAG * self.speed) * _STEP_SECONDS
        self.position[0] += _SPEED * _STEP_SECONDS
        self.position[1:] += self.speed * _STEP_SECONDS
        ended = self._collides() or bool(self.position[0] >= _LENGTH)
        return self._observe(), _SPEED * _STEP_SECONDS, ended, False, {}

    def depth(self) -> Any:
        """Metres to what each ray meets first, float32 of shape (resolution, resolution)."""
        x, y, z = (component[:, None] for component in self.rays)
        away = self.position - self.centres
        # |position + t ray - centre| = radius, solved for t: t^2 + 2 along t + beyond = 0.
        along = x * away[:, 0] + y * away[:, 1] + z * away[:, 2]
        beyond = np.square(away).sum(axis=1) - np.square(self.radii)
        discriminant = along * along - beyond
        distance = -along - np.sqrt(np.maximum(discriminant, 0.0))
        met = (discriminant > 0.0) & (distance > 0.0)
        nearest = np.where(met, distance, _FAR).min(axis=1)
        picture = np.minimum(nearest, self._walls())
        return picture.reshape(self.resolution, self.resolution)

    def _walls(self) -> Any:
        """Metres to the wall that each ray meets."""
        nearest = np.full(self.rays.shape[1], _FAR, np.float32)
        for place, component in zip(self.position[1:], self.rays[1:], strict=True):
            wall = np.copysign(np.float32(_HALF_WIDTH), component)
            steep = np.abs(component) > 1e-6
            distance = np.divide(wall - place, component, out=nearest.copy(), where=steep)
            nearest = np.minimum(nearest, distance)
        return np.maximum(nearest, 0.0)

    def _collides(self) -> bool:
        outside = np.abs(self.position[1:]).max() > _HALF_WIDTH - _DRONE_RADIUS
        apart = np.linalg.norm(self.centres - self.position, axis=1) - self.radii
        return bool(outside or apart.min() < _DRONE_RADIUS)

    def _observe(self) -> Any:
        part = self.resolution // _SENSOR
        parts = self.depth().reshape(_SENSOR, part, _SENSOR, part).min(axis=(1, 3))
        seen = 1.0 / np.maximum(parts, 1.0)
        return np.concatenate([seen.ravel(), self.position[1:] / _HALF_WIDTH, self.speed])


def _rays(resolution: int) -> Any:
    """Directions of length 1 through the pixels, row by row, float32 of shape (3, pixels)."""
    edge = math.tan(_FIELD_OF_VIEW / 2)
    centres = (np.arange(resolution) + 0.5) / resolution * 2 - 1
    up, left = np.meshgrid(-centres * edge, -centres * edge, indexing="ij")
    rays = np.stack([np.ones_like(up), left, up]).reshape(3, -1)
    return (rays / np.linalg.norm(rays, axis=0)).astype(np.float32)


if ENV_ID not in gym.registry:
    gym.register(ENV_ID, entry_point="rlscope.workloads.heavy_environment:DroneDepth")
