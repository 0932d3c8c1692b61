"""Every workload does a run of 256 steps, with no other option, from its first to its last line."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from support.process.installed import is_for, need
from support.process.traced_python import ROOT, TracedPython

pytestmark = pytest.mark.usefixtures("clean_environment")

pytest.importorskip("torch")
pytest.importorskip("gymnasium")

_FOLDER = ROOT / "workloads"
_PROGRAMS = sorted(
    path.stem for path in _FOLDER.glob("*.py") if "\ndef main(" in path.read_text(encoding="utf-8")
)
_NEEDS = {
    "dqn_pong": ("ale_py", "cv2"),
    "ppo_pong": ("ale_py", "cv2"),
    "sb3": ("stable_baselines3",),
}
_ENDS = "trained in "


def _needs(name: str) -> tuple[str, ...]:
    by_name = [library for library in ("tensorflow", "jax") if library in name]
    return (*_NEEDS.get(name, ()), *by_name)


def test_all_workloads_are_found() -> None:
    assert len(_PROGRAMS) >= 20
    assert set(_NEEDS) <= set(_PROGRAMS)


@pytest.mark.parametrize("name", _PROGRAMS)
def test_a_workload_runs_for_256_steps(traced: TracedPython, tmp_path: Path, name: str) -> None:
    if not is_for(*_needs(name)):
        pytest.skip("make test runs it")
    need(*_needs(name))
    command = [traced.python, str(_FOLDER / f"{name}.py"), "--total-timesteps", "256"]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=tmp_path, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert any(line.startswith(_ENDS) for line in done.stdout.splitlines()), done.stdout
