"""Advice on environments that compute with tensors of a few numbers."""

from __future__ import annotations

import json
from typing import Any

import pytest
from support.files.loop_rows import FILE, Time, calls, found_by, loop_rows
from support.files.relation_rows import SECOND, Relations

NETWORK = ("/lib/torch/nn/modules/module.py", "Module._call_impl")


def stepping(
    calls_made: int = 100_000,
    calls_ns: int = SECOND // 2,
    rewards: tuple[int, int] = (256, 0),
    inside: Any = (),
) -> Relations:
    """1000 steps take 3 s in the framework and 1 s in Python."""
    return loop_rows(
        Time("simulation", "framework", 3 * SECOND, 7, inside),
        Time("simulation", "python", SECOND, 8),
        entries={"simulation": 1000},
        native_call=[calls("simulation", "torch._C:TensorBase.__rmul__", calls_made, calls_ns)],
        metadata=[{"process_id": 0, "key": "rlscope.rewards", "value": json.dumps(rewards)}],
    )


def test_an_environment_of_small_tensors_could_use_numbers():
    (finding,) = found_by("tensor_steps", stepping())
    assert (finding.file, finding.line, finding.operation) == (FILE, 7, "simulation")
    assert finding.price is not None
    assert finding.price.saving_ns == pytest.approx((0.95 * 3 + 0.5) * SECOND)


@pytest.mark.parametrize(
    "silent",
    [
        {"calls_made": 19_000, "calls_ns": SECOND // 100},  # a few calls a step
        {"calls_ns": SECOND},  # larger tensors
        {"rewards": (256, 256)},  # of several environments
        {"rewards": (0, 0)},  # not known
        {"inside": (NETWORK,)},  # a model of the world
    ],
)
def test_other_environments_need_their_tensors(silent: dict[str, Any]):
    assert found_by("tensor_steps", stepping(**silent)) == []
