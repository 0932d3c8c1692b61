"""Steps of the GPU acceptance that need PyTorch: its CUDA wheel, on simulated CUDA."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from gpu.kit import copy_steps
from support.cuda.simcuda_runs import run_simulated
from support.cuda.torch_cuda_runs import torch_python

pytestmark = pytest.mark.torch_cuda

TESTS = Path(__file__).parent.parent
PASSING = (
    "attaching-torch",
    "same-training",
    "learner",
    "learner-graph",
    "learner-amp",
    "what-if",
    "graphs-torch",
    "golden-loops",
    "ending-quick",
    "ending-fork",
    "ending-spawn",
    "ending-threads",
    "ending-memory",
    "ending-profiler",
    "profiler-yield",
    "profiler-torn-down",
    "kill",
)
# These programs end where kernels compute nothing, or in the stand-in for cuDNN.
SKIPPED = ("same-libraries", "kernel-table", "learner-compile", "ppo", "stable-baselines")


def accept(folder: Path, script: Path, *steps: str) -> dict[str, dict[str, Any]]:
    results = folder / "results"
    command = [torch_python(), str(script), "--results", str(results), "--minutes", "30", *steps]
    done = run_simulated(folder, command, truth=False, seconds=1800)
    lines = (results / "results.jsonl").read_text().splitlines()
    assert done.err == ""
    return {row["step"]: row for row in map(json.loads, lines)}


def test_steps_of_pytorch_pass_or_say_why_not(tmp_path: Path) -> None:
    found = accept(tmp_path, TESTS / "gpu" / "acceptance.py", *PASSING, *SKIPPED)
    verdicts = {step: (row["status"], row["reason"]) for step, row in found.items()}
    assert {step: verdicts[step] for step in PASSING} == dict.fromkeys(PASSING, ("PASS", ""))
    assert {verdicts[step][0] for step in SKIPPED} == {"SKIP"}
    assert all(verdicts[step][1] for step in SKIPPED)
    assert found["golden-loops"]["figures"]["torch-training"]["kernels"] > 0
    assert isinstance(found["what-if"]["figures"]["graph"], dict)


def test_costs_are_measured_against_plain_and_kineto(tmp_path: Path) -> None:
    """One process of each kind; the figures mean nothing here, the verdict neither."""
    copy_steps(tmp_path)
    gpu = tmp_path / "tests" / "gpu"
    steps = gpu / "cost_steps.py"
    text = steps.read_text()
    assert "PROCESSES = {False: 4," in text
    steps.write_text(text.replace("PROCESSES = {False: 4,", "PROCESSES = {False: 1,"))
    found = accept(tmp_path, gpu / "acceptance.py", "cost-of-calls", "cost-of-training")
    calls, training = (found[step]["figures"] for step in ("cost-of-calls", "cost-of-training"))
    assert calls["cudaMemcpyAsync"].keys() >= {"plain_ns", "ours", "kineto"}
    assert calls["parts"]["cuLaunchKernel"].keys() >= {"callbacks", "activities", "both"}
    assert training["cpu"].keys() == {"plain_us", "all", "without-cuda", "kineto"}
