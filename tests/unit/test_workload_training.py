"""What the workloads compute, without a profiler."""

from __future__ import annotations

import hashlib
import importlib
from collections.abc import Iterator
from dataclasses import fields
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
gymnasium = pytest.importorskip("gymnasium")

from rlscope.workloads import (  # noqa: E402
    a2c_cartpole,
    arguments,
    ddpg_pendulum,
    dqn_cartpole,
    ppo_cartpole,
    sac_pendulum,
    td3_pendulum,
    torch_networks,
    torch_training,
)
from rlscope.workloads.replay import Batch, Replay  # noqa: E402

_BRIEF: dict[Any, dict[str, int]] = {
    a2c_cartpole: {"total_timesteps": 400},
    ddpg_pendulum: {"total_timesteps": 201, "batch_size": 8, "hidden": 16},
    dqn_cartpole: {"total_timesteps": 200, "batch_size": 8},
    ppo_cartpole: {"total_timesteps": 256, "num_steps": 16},
    sac_pendulum: {"total_timesteps": 201, "batch_size": 8, "hidden": 16},
    td3_pendulum: {"total_timesteps": 201, "batch_size": 8, "hidden": 16},
}
_LIMITED = "LimitedCartPole-v0"


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Networks this small are slower with more, many times so on a busy machine."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture
def limited_environment() -> Iterator[str]:
    """CartPole that is cut off after three steps."""
    cart_pole = "gymnasium.envs.classic_control:CartPoleEnv"
    gymnasium.register(_LIMITED, entry_point=cart_pole, max_episode_steps=3)
    yield _LIMITED
    del gymnasium.registry[_LIMITED]


def _name(module: Any) -> str:
    return module.__name__.rpartition(".")[2]


def _trained(module: Any, **options: Any) -> tuple[list[float], str]:
    """Returns of all episodes, and a digest of all weights."""
    trainer = module.Trainer(module.Args(print_every=0, **_BRIEF[module], **options))
    trainer.train()
    networks = [each for each in vars(trainer).values() if isinstance(each, torch.nn.Module)]
    weights = [value.numpy().tobytes() for each in networks for value in each.state_dict().values()]
    assert trainer.returns
    return trainer.returns, hashlib.sha256(b"".join(weights)).hexdigest()


@pytest.mark.parametrize("module", _BRIEF, ids=_name)
def test_same_seed_trains_the_same(module: Any) -> None:
    assert _trained(module) == _trained(module)
    assert _trained(module, seed=2) != _trained(module)


@pytest.mark.parametrize("module", _BRIEF, ids=_name)
def test_annotations_change_nothing(module: Any) -> None:
    assert _trained(module, annotate=False) == _trained(module)


@pytest.mark.parametrize("name", [*map(_name, _BRIEF), "dqn_pong", "ppo_pong"])
def test_every_option_explains_itself(name: str) -> None:
    module = importlib.import_module(f"rlscope.workloads.{name}")
    meanings = arguments.field_docstrings(module.Args)
    assert set(meanings) == {field.name for field in fields(module.Args)}
    args = arguments.parse_args(module.Args, name, ["--no-annotate", "--seed", "3"])
    assert args == module.Args(annotate=False, seed=3)


def test_options_of_a_derived_workload_have_its_own_help() -> None:
    dqn_pong = importlib.import_module("rlscope.workloads.dqn_pong")
    of_pong, of_cart_pole = map(arguments.field_docstrings, (dqn_pong.Args, dqn_cartpole.Args))
    assert of_pong["env_id"] != of_cart_pole["env_id"]
    assert of_pong["gamma"] == of_cart_pole["gamma"]


def test_a_brief_run_from_pixels_has_a_short_rollout() -> None:
    ppo_pong = importlib.import_module("rlscope.workloads.ppo_pong")
    assert ppo_pong.Args(total_timesteps=250, num_envs=8).num_steps == 32
    assert ppo_pong.Args().num_steps == 128


def test_all_steps_that_were_asked_for_are_trained() -> None:
    args = ppo_cartpole.Args(total_timesteps=33, num_envs=2, num_steps=8, print_every=0)
    trainer = ppo_cartpole.Trainer(args)
    iterations = []
    trainer.run_iteration = lambda factor: iterations.append(factor)
    trainer.train()
    assert len(iterations) == 3, "16 steps each"


@pytest.mark.parametrize("module", [a2c_cartpole, ppo_cartpole], ids=_name)
def test_a_time_limit_is_no_end_of_the_task(module: Any, limited_environment: str) -> None:
    args = module.Args(env_id=limited_environment, num_envs=1, num_steps=7, gamma=0.5)
    trainer = module.Trainer(args)
    trainer.value = lambda observation: torch.full(observation.shape[:1], 8.0)
    trainer.collect()
    assert trainer.rollout.reward.flatten().tolist() == [1, 1, 1 + 0.5 * 8, 1, 1, 1 + 0.5 * 8, 1]
    assert trainer.returns == [3, 3]


def test_returns_of_a2c_end_with_the_episode() -> None:
    trainer = a2c_cartpole.Trainer(a2c_cartpole.Args(num_envs=1, num_steps=4, gamma=0.5))
    trainer.value = lambda observation: torch.full((1,), 8.0)
    trainer.rollout.reward[:, 0] = torch.tensor([1.0, 2.0, 3.0, 4.0])
    trainer.rollout.done[:, 0] = torch.tensor([0.0, 1.0, 0.0, 0.0])
    assert trainer._returns().flatten().tolist() == [1 + 0.5 * 2, 2, 3 + 0.5 * (4 + 0.5 * 8), 8]


def test_replay_forgets_the_oldest() -> None:
    replay = Replay(3, observation=(np.float32, (1,)), action=(np.float32, (1,)))
    for number in range(5):
        replay.add([number], [number], number, [number], False)
    batch = replay.sample(100)
    assert set(batch.reward.tolist()) == {2, 3, 4}
    assert batch.observation.flatten().tolist() == batch.reward.tolist()


@pytest.mark.parametrize(("terminated", "expected"), [(True, 1.0), (False, 1.0 + 0.5 * 8)])
def test_what_follows_counts_until_the_task_ends(terminated: bool, expected: float) -> None:
    args = dqn_cartpole.Args(gamma=0.5, batch_size=1, max_grad_norm=1e9)
    trainer = dqn_cartpole.Trainer(args)
    for network, value in ((trainer.network, expected - 0.5), (trainer.target_network, 8.0)):
        for parameter in network.parameters():
            torch.nn.init.zeros_(parameter)
        torch.nn.init.constant_(network.layers[-1].bias, value)
    trainer.replay.add(trainer.observation, 1, 1.0, trainer.observation, terminated)
    trainer.learn()
    assert trainer.network.layers[-1].bias.grad.tolist() == [0, -0.5]


def test_log_probability_of_a_squashed_action() -> None:
    """Compared with the change of variables as PyTorch's own distributions do it."""
    from torch.distributions import AffineTransform, Normal, TanhTransform, TransformedDistribution

    torch.manual_seed(1)
    actor = sac_pendulum.Actor(3, np.full(2, 2, np.float32), np.full(2, 1, np.float32), 16)
    observation = torch.randn(5, 3)
    action, log_prob = actor(observation)
    mean, log_std = actor.layers(observation).chunk(2, dim=-1)
    steps = [TanhTransform(), AffineTransform(1.0, 2.0)]
    squashed = TransformedDistribution(Normal(mean, log_std.exp()), steps)
    torch.testing.assert_close(log_prob, squashed.log_prob(action).sum(dim=-1))
    assert (action >= -1.0).all()
    assert (action <= 3.0).all()


@pytest.mark.parametrize("module", [ddpg_pendulum, td3_pendulum], ids=_name)
def test_explored_actions_vary_inside_the_bounds(module: Any) -> None:
    trainer = module.Trainer(module.Args(exploration_noise=0.5))
    tried = np.stack([trainer.act(trainer.observation) for _ in range(200)])
    assert tried.min() == -2.0, "Pendulum's bounds"
    assert tried.max() == 2.0
    assert 0.7 < tried.std() < 1.2, "half of the half range, some of it cut off"


def test_slow_networks_follow() -> None:
    slow, fast = [torch.zeros(2)], [torch.ones(2)]
    for _ in range(2):
        torch_networks.follow(slow, fast, 0.25)
    assert slow[0].tolist() == [0.4375, 0.4375]


def test_td3_updates_its_policy_every_second_time() -> None:
    args = td3_pendulum.Args(learning_starts=1, batch_size=4, hidden=8)
    trainer = td3_pendulum.Trainer(args)
    weights = trainer.actor.layers[0].weight
    trainer.step()
    changed = []
    for _ in range(4):
        before = weights.clone()
        trainer.learn()
        changed.append(not torch.equal(before, weights))
    assert changed == [False, True, False, True]


def test_noise_of_the_td3_target_is_clipped(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pendulum's half range is 2: its actions may be off by 2 * 0.5, and are at most 2."""
    trainer = td3_pendulum.Trainer(td3_pendulum.Args(hidden=8))
    monkeypatch.setattr(trainer, "_noise", lambda action: torch.tensor([[1.0], [9.0], [-9.0]]))
    monkeypatch.setattr(trainer, "slow_actor", lambda following: torch.full((3, 1), 1.5))
    seen: list[Any] = []

    def value(_following: Any, action: Any) -> Any:
        seen.append(action.flatten())
        return torch.stack([torch.full((3,), 5.0), torch.full((3,), 3.0)])

    monkeypatch.setattr(trainer, "slow_critics", value)
    zeros = torch.zeros(3)
    batch = Batch(torch.zeros(3, 3), None, zeros, torch.zeros(3, 3), zeros)
    torch.testing.assert_close(trainer._target(batch), torch.full((3,), 0.99 * 3.0))
    torch.testing.assert_close(seen[0], torch.tensor([1.9, 2.0, 0.5]))


def test_a_rate_falls_alike_with_and_without_compilation() -> None:
    rates = []
    for compiled in (False, True):
        args = ppo_cartpole.Args(learning_rate=0.5, compile=compiled)
        weight = torch.zeros(1, requires_grad=True)
        optimizer = torch.optim.SGD([weight], torch_training.rate(args))
        torch_training.set_rate(optimizer, 0.125)
        weight.grad = torch.ones(1)
        optimizer.step()
        rates.append(weight.item())
    assert rates == [-0.125, -0.125]
