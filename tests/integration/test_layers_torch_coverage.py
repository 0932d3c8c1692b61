"""Every native call of PyTorch is seen: two witnesses that know nothing of the engine agree.

PyTorch's own record functions name each top-level ATen operator, CPython's profile function each
call of a builtin. Nothing here is a list of functions of ours.
"""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest
from layer_programs.oracle_build import build_oracle
from support.process.traced_python import ROOT, TracedPython, untraced_environment

PROGRAM = ROOT / "tests" / "layer_programs" / "torch_coverage.py"
WORKLOADS = (
    "ppo",
    "cnn",
    "lstm",
    "custom_autograd",
    "operators",
    "functorch",
    "fused_optimizer",
    "scripted",
    "storage",
    "data_loader",
)

pytestmark = [
    pytest.mark.skipif(
        importlib.util.find_spec("torch") is None, reason="PyTorch is not installed"
    ),
]


@pytest.fixture(scope="module")
def oracle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of the witnesses, compiled against the installed PyTorch."""
    return build_oracle(tmp_path_factory.mktemp("oracle")).parent


def _run(
    traced: TracedPython, oracle: Path, directory: Path, *arguments: str
) -> dict[str, dict[str, Any]]:
    command = ["-o", str(directory), traced.python, str(PROGRAM), str(oracle), *arguments]
    done = traced.run(*command, env=untraced_environment(), timeout=300)
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    return {line["workload"]: line for line in lines}


@pytest.fixture(scope="module")
def witnesses(
    traced: TracedPython, oracle: Path, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, dict[str, Any]]:
    return _run(traced, oracle, tmp_path_factory.mktemp("coverage") / "run")


@pytest.mark.parametrize("workload", WORKLOADS)
def test_every_top_level_operator_is_inside_a_recorded_call(
    witnesses: dict[str, dict[str, Any]], workload: str
) -> None:
    said = witnesses[workload]
    assert said["top_level"] > 0 or workload == "storage"
    assert said["inside"] == said["top_level"], said["missed"]


@pytest.mark.parametrize("workload", WORKLOADS)
def test_no_builtin_of_torch_is_called_past_a_stub(
    witnesses: dict[str, dict[str, Any]], workload: str
) -> None:
    said = witnesses[workload]
    assert said["builtins"] > 0
    assert said["unpatched"] == 0, said["unseen"]


@pytest.mark.slow
def test_sampled_framework_time_is_inside_recorded_calls(
    traced: TracedPython, oracle: Path, tmp_path: Path
) -> None:
    """At least 93 % with 95 % confidence, in each of three kinds of training."""
    found = _run(traced, oracle, tmp_path / "run", "--sample", "8")
    for workload, said in found.items():
        assert said["samples"] >= 2000, workload
        assert lower_bound(said["inside"], said["native"]) >= 0.93, (workload, said)


def lower_bound(hits: int, trials: int) -> float:
    """The least that a share is with 95 % confidence: Wilson's score interval, one side."""
    z = 1.645
    share = hits / trials
    middle = share + z * z / (2 * trials)
    margin = z * ((share * (1 - share) + z * z / (4 * trials)) / trials) ** 0.5
    return float((middle - margin) / (1 + z * z / trials))
