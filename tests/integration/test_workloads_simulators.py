"""The workloads whose simulators are native code: make test-simulators installs those."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass

import pytest
from installed import need
from traced_python import ROOT, TracedPython
from workload_traces import instances

from rlscope.load import load

pytestmark = pytest.mark.usefixtures("clean_environment")

pytest.importorskip("torch")
pytest.importorskip("gymnasium")


@dataclass(frozen=True)
class Workload:
    """A brief run, and what its trace must hold."""

    name: str
    modules: tuple[str, ...]
    """What must be installed."""
    options: str
    steps: int
    updates: dict[str, int]


WORKLOADS = [
    Workload(
        "sac_pendulum",
        ("mujoco",),
        "--env-id Hopper-v5 --total-timesteps 64 --learning-starts 16 --batch-size 8 --hidden 16",
        steps=64,
        updates={"sample": 48, "target": 48},
    ),
    # 16 iterations of 4 steps; the update after step 20 is the first of 12.
    Workload(
        "dqn_pong",
        ("ale_py", "cv2"),
        "--total-timesteps 64 --learning-starts 16 --batch-size 4",
        steps=64,
        updates={"sample": 12, "target": 12},
    ),
    # 2 iterations of 4 steps of 8 games.
    Workload(
        "ppo_pong",
        ("ale_py", "cv2"),
        "--total-timesteps 64 --num-steps 4 --num-minibatches 2",
        steps=8,
        updates={"advantage": 2, "forward": 12, "backprop": 12, "optimizer": 12},
    ),
]
_each = pytest.mark.parametrize("workload", WORKLOADS, ids=lambda each: each.name)


@_each
def test_workload_by_path_and_by_name(traced: TracedPython, workload: Workload) -> None:
    need(*workload.modules)
    script = f"workloads/{workload.name}.py"
    for how in ([script], ["-m", f"rlscope.workloads.{workload.name}"]):
        command = [traced.python, *how, *workload.options.split()]
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
        assert done.returncode == 0, done.stderr
        assert done.stdout.splitlines()[-1].startswith("trained in ")


@_each
def test_steps_of_a_workload_are_in_its_simulator(
    traced: TracedPython, directory: str, workload: Workload
) -> None:
    need(*workload.modules)
    script = str(ROOT / "workloads" / f"{workload.name}.py")
    command = [traced.python, script, *workload.options.split()]
    done = traced.run("-o", directory, *command, timeout=120)
    assert done.returncode == 0, done.stderr
    from rlscope._trace import Directory

    counts = instances(Directory(directory).sweep(0), "explicit")
    assert counts["inference"] == counts["simulation"] == workload.steps
    assert counts.items() >= workload.updates.items()
    with load(directory) as trace:
        calls = dict(
            trace.sql(
                "SELECT operation, SUM(calls)::BIGINT FROM native_call "
                "WHERE layer = 'simulator' AND source = 'explicit' GROUP BY operation"
            )
        )
    assert set(calls) == {"simulation"}
    assert calls["simulation"] >= workload.steps
