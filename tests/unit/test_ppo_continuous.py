"""What PPO with continuous actions adds: running moments, scaled environments, a Gaussian."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
gymnasium = pytest.importorskip("gymnasium")

from rlscope.workloads.ppo_continuous import Args, RunningMoments, Scaled, Trainer  # noqa: E402

_PUSHED = "Pushed-v0"


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """More are many times slower on a busy machine."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


class Pushed(gymnasium.Env):  # type: ignore[misc, name-defined]
    """Shows its steps, rewards the action; an episode is three steps."""

    observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (2,), np.float64)
    action_space = gymnasium.spaces.Box(-1.0, 1.0, (1,), np.float32)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, Any]:
        super().reset(seed=seed)
        self.steps = 0
        return self._observation(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, Any]:
        self.steps += 1
        return self._observation(), float(action[0]), self.steps == 3, False, {}

    def _observation(self) -> Any:
        return np.array([100.0 + self.steps, -self.steps])


@pytest.fixture
def scaled() -> Iterator[Scaled]:
    gymnasium.register(_PUSHED, entry_point=Pushed)
    same_step = {"autoreset_mode": gymnasium.vector.AutoresetMode.SAME_STEP}
    yield Scaled(gymnasium.make_vec(_PUSHED, 2, vector_kwargs=same_step), gamma=0.5)
    del gymnasium.registry[_PUSHED]


def test_running_moments_are_those_of_all_numbers() -> None:
    chance = np.random.default_rng(1)
    moments = RunningMoments((3,))
    batches = [chance.normal(5.0, 2.0, (size, 3)) for size in (1, 8, 3, 50)]
    for batch in batches:
        moments.add(batch)
    everything = np.concatenate(batches)
    np.testing.assert_allclose(moments.mean, everything.mean(axis=0))
    np.testing.assert_allclose(moments.variance, everything.var(axis=0))


def test_actions_are_cut_and_returns_are_those_before_scaling(scaled: Scaled) -> None:
    scaled.reset(seed=1)
    for _ in range(3):
        step = scaled.step(np.array([[7.0], [0.25]], np.float32))
    assert scaled.returns == [3.0, 0.75]
    observation, _, terminated, _, info = step
    assert terminated.all()
    assert observation.dtype == info["final_obs"][0].dtype == np.float32
    # The third step of an episode is above the mean of what was seen, the first one below.
    assert info["final_obs"][0][0] > 0 > observation[0][0]


def test_rewards_are_divided_by_the_deviation_of_discounted_returns(scaled: Scaled) -> None:
    scaled.reset(seed=1)
    rewards = [(1.0, -1.0), (0.5, 1.0)]
    returns = [np.array([1.0, -1.0]), np.array([1.0, 0.5])]
    for index, reward in enumerate(rewards):
        found = scaled.step(np.array(reward, np.float32)[:, None])[1]
        deviation = np.concatenate(returns[: index + 1]).std()
        np.testing.assert_allclose(found, np.array(reward) / deviation, rtol=1e-5)


def test_chances_are_those_of_independent_gaussians() -> None:
    trainer = Trainer(Args(num_envs=2, annotate=False))
    mean = torch.tensor([[0.5, -1.0]])
    policy = trainer.policy((mean, torch.tensor([2.0, 0.5])))
    action = torch.tensor([[1.5, -1.5]])
    expected = sum(
        -0.5 * ((a - m) / d) ** 2 - math.log(d) - 0.5 * math.log(2 * math.pi)
        for a, m, d in ((1.5, 0.5, 2.0), (-1.5, -1.0, 0.5))
    )
    assert policy.log_prob(action).item() == pytest.approx(expected)


def test_same_seed_trains_the_same() -> None:
    args = Args(total_timesteps=512, num_envs=2, num_steps=128, print_every=0, annotate=False)
    runs = []
    for _ in range(2):
        trainer = Trainer(args)
        trainer.train()
        runs.append(trainer.returns)
    assert runs[0] == runs[1] != []
