"""Rewards that a program computes by networks, in functions whose names say so."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.process.automatic_programs import names
from support.process.recorded_child import record

_PROGRAM = """
import rlscope.auto
rlscope.auto.begin()
import gymnasium, torch

environment = gymnasium.make("CartPole-v1")
policy, target, guess = (torch.nn.Linear(4, 2) for _ in range(3))


def {name}(observation):
    {body}


def act(observation):
    with torch.no_grad():
        return int(policy(torch.as_tensor(observation)[None]).argmax())


seen, _ = environment.reset(seed=0)
for _ in range(8):
    seen = {cycle}
"""
_ERROR = "return float((target(torch.as_tensor(observation)) - guess(torch.ones(4))).sum())"
_IN_BLOCK = f"with torch.no_grad():\n        {_ERROR}"
_GRADIENTS_OFF = f"torch.set_grad_enabled(False)\n    {_ERROR}"
_AFTER = "environment.step(act(seen))[0]; {name}(seen)"


@pytest.mark.parametrize(
    ("name", "body", "found"),
    [
        ("compute_intrinsic_reward", _IN_BLOCK, ["inference", "simulation", "reward"] * 8),
        ("novelty", _GRADIENTS_OFF, ["inference", "simulation", *["reward"] * 3] * 8),
        ("error_of", _IN_BLOCK, [*["inference", "simulation"] * 8, "inference"]),
        ("mean_reward", _IN_BLOCK, [*["inference", "simulation"] * 8, "inference"]),
    ],
)
def test_a_reward_is_neither_inference_nor_learning(
    tmp_path: Path, name: str, body: str, found: list[str]
) -> None:
    cycle = _AFTER.format(name=name)
    run = record(str(tmp_path), _PROGRAM.format(name=name, body=body, cycle=cycle))
    assert [each for each in names(run) if each != "import"][1:] == found


def test_a_function_that_steps_an_environment_computes_no_reward(tmp_path: Path) -> None:
    body = "with torch.no_grad(): return environment.step(act(observation))[0]"
    text = _PROGRAM.format(name="get_reward", body=body, cycle="get_reward(seen)")
    found = [each for each in names(record(str(tmp_path), text)) if each != "import"]
    assert found == ["simulation", "reward", "simulation", *["inference", "simulation"] * 7]
