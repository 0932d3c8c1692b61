"""Functions that PyTorch and JAX make while a program runs have the names that its author knows,
with automatic operations and without."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from support.process.installed import need
from support.process.traced_python import TracedPython

from rlscope.opening import load

pytestmark = pytest.mark.usefixtures("clean_environment")

_TORCH = """
import torch
x = torch.ones(2)
relu, default = torch.ops.aten.relu, torch.ops.aten.relu.default
def use():
    relu(x), default(x), torch.ops.aten.add.Tensor(x, x)
"""
_JAX = """
import functools
import jax

@jax.jit
def update(x):
    return x * 2

class Policy:
    @functools.partial(jax.jit, static_argnums=0)
    def act(self, x):
        return x + 1

def loss(scale, x):
    return x * scale

policy, losses = Policy(), [jax.jit(functools.partial(loss, 2.0)), jax.jit(loss)]
def use():
    update(1.0), policy.act(1.0), losses[0](1.0), losses[1](2.0, 1.0)
"""
_USE = """
import rlscope as rls
with rls.operation("compile"):
    use()
with rls.operation("use"):
    use()
"""
_PROFILE_EACH = """
import sys
import rlscope as rls
use()
for directory in sys.argv[1:]:
    with rls.profile(directory), rls.operation("use"):
        use()
"""
_EXPECTED = {
    "torch": (
        _TORCH,
        {
            "torch.ops.aten:relu": 1,
            "torch.ops.aten:relu.default": 1,
            "torch.ops.aten:add.Tensor": 1,
        },
    ),
    "jax": (_JAX, {"__main__:update": 1, "__main__:Policy.act": 1, "__main__:loss": 2}),
}


@pytest.mark.parametrize("options", [[], ["--no-auto"]], ids=["automatic", "plain"])
@pytest.mark.parametrize("library", _EXPECTED)
def test_what_a_library_makes_has_the_name_that_programs_call(
    traced: TracedPython, directory: str, library: str, options: list[str]
) -> None:
    need(library)
    program, expected = _EXPECTED[library]
    command = [traced.python, "-c", program + _USE]
    done = traced.run(*options, "-o", directory, *command, timeout=300)
    assert done.returncode == 0, done.stderr
    calls = _calls_in_use(directory)
    assert expected.items() <= calls.items(), calls
    assert not [name for name in calls if "(unnamed)" in name], calls


@pytest.mark.parametrize("library", _EXPECTED)
def test_what_was_made_before_a_recording_has_its_name_in_each(
    traced: TracedPython, tmp_path: Path, library: str
) -> None:
    need(library)
    program, expected = _EXPECTED[library]
    runs = [str(tmp_path / "first"), str(tmp_path / "second")]
    command = [traced.python, "-c", program + _PROFILE_EACH, *runs]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    for run in runs:
        calls = _calls_in_use(run)
        assert expected.items() <= calls.items(), (run, calls)


def _calls_in_use(run: str) -> dict[str, int]:
    with load(run) as trace:
        rows = trace.sql(
            "SELECT function, calls FROM native_call"
            " WHERE operation = 'use' AND function NOT LIKE 'gc:%'"
        )
        return dict(zip(rows["function"], rows["calls"], strict=True))
