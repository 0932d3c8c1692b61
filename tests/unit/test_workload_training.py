"""What the workloads compute, without a profiler."""

from __future__ import annotations

import hashlib
import importlib
from collections.abc import Iterator
from dataclasses import fields
from typing import Any

import pytest

torch = pytest.importorskip("torch")
gymnasium = pytest.importorskip("gymnasium")

from rlscope.workloads import arguments, ppo_cartpole  # noqa: E402

_BRIEF: dict[Any, dict[str, int]] = {
    ppo_cartpole: {"total_timesteps": 256, "num_steps": 16},
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


@pytest.mark.parametrize("name", [*map(_name, _BRIEF)])
def test_every_option_explains_itself(name: str) -> None:
    module = importlib.import_module(f"rlscope.workloads.{name}")
    meanings = arguments.field_docstrings(module.Args)
    assert set(meanings) == {field.name for field in fields(module.Args)}
    args = arguments.parse_args(module.Args, name, ["--no-annotate", "--seed", "3"])
    assert args == module.Args(annotate=False, seed=3)


def test_all_steps_that_were_asked_for_are_trained() -> None:
    args = ppo_cartpole.Args(total_timesteps=33, num_envs=2, num_steps=8, print_every=0)
    trainer = ppo_cartpole.Trainer(args)
    iterations = []
    trainer.run_iteration = lambda factor: iterations.append(factor)
    trainer.train()
    assert len(iterations) == 3, "16 steps each"


@pytest.mark.parametrize("module", _BRIEF, ids=_name)
def test_a_time_limit_is_no_end_of_the_task(module: Any, limited_environment: str) -> None:
    args = module.Args(env_id=limited_environment, num_envs=1, num_steps=7, gamma=0.5)
    trainer = module.Trainer(args)
    trainer.agent.value = lambda observation: torch.full(observation.shape[:1], 8.0)
    trainer.collect()
    assert trainer.rollout.reward.flatten().tolist() == [1, 1, 1 + 0.5 * 8, 1, 1, 1 + 0.5 * 8, 1]
    assert trainer.returns == [3, 3]
