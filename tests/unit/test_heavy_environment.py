"""What the drone's camera sees, against rays that are followed step by step."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium")

from gymnasium.utils.env_checker import check_env  # noqa: E402

from rlscope.workloads.heavy_environment import DroneDepth  # noqa: E402


def test_environment_is_one_of_gymnasium() -> None:
    env = gymnasium.make("DroneDepth-v0", resolution=12, obstacles=5)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        check_env(env.unwrapped, skip_render_check=True)


def test_depth_is_where_a_ray_first_meets_something() -> None:
    env = DroneDepth(resolution=12, obstacles=10)
    env.reset(seed=3)
    env.position[:] = (5.0, 0.5, -0.5)
    depth = env.depth().ravel()
    step = 0.01
    for ray, found in zip(env.rays.T, depth, strict=True):
        along = np.arange(0.0, 30.0, step)[:, None]
        points = env.position + along * ray
        in_sphere = (np.linalg.norm(points[:, None] - env.centres, axis=2) < env.radii).any(axis=1)
        in_wall = (np.abs(points[:, 1:]) > 3.0).any(axis=1)
        met = np.flatnonzero(in_sphere | in_wall)
        expected = met[0] * step if len(met) else 30.0
        # A step can jump over the edge of a sphere.
        assert found <= expected + 1e-3
        if expected - found > 2 * step:
            touched = env.position + (found + 1e-3) * ray
            apart = np.linalg.norm(touched - env.centres, axis=1) - env.radii
            assert apart.min() < 2e-3


def test_left_and_above_are_where_they_belong() -> None:
    env = DroneDepth(resolution=12, obstacles=1)
    env.reset(seed=1)
    env.centres[:] = (6.0, 1.0, 0.0)  # to the left
    env.radii[:] = 0.9
    columns = env.depth().mean(axis=0)
    assert columns[:6].mean() < columns[6:].mean()
    env.centres[:] = (6.0, 0.0, 1.0)  # above
    rows = env.depth().mean(axis=1)
    assert rows[:6].mean() < rows[6:].mean()


def test_episode_ends_at_an_obstacle_at_a_wall_and_at_the_end() -> None:
    env = DroneDepth(resolution=12, obstacles=1)

    def steps_until_the_end(action: int, *centre: float) -> int:
        env.reset(seed=1)
        env.centres[:] = centre
        for steps in range(1, 200):
            _, reward, terminated, truncated, _ = env.step(action)
            assert reward == pytest.approx(0.3)
            assert not truncated
            if terminated:
                return steps
        raise AssertionError("it never ended")

    assert steps_until_the_end(0, 15.0, 2.9, 2.9) in (100, 101)
    assert 40 < steps_until_the_end(0, 15.0, 0.0, 0.0) < 50
    assert steps_until_the_end(1, 15.0, 2.9, 2.9) < 20
