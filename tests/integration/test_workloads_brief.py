"""Every workload does a run of 256 steps, with no other option, from its first to its last line."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from support.process import forked_scripts
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
# Its workers import the program by its name, which a fork has not.
_SPAWNS = "self_play_connect_four"
_ENDS = "trained in "


def _needs(name: str) -> tuple[str, ...]:
    by_name = [library for library in ("tensorflow", "jax") if library in name]
    return (*_NEEDS.get(name, ()), *by_name)


def _is_forked(name: str) -> bool:
    """Whether it needs nothing but PyTorch and Gymnasium."""
    return name != _SPAWNS and not _needs(name)


def test_all_workloads_are_found() -> None:
    assert len(_PROGRAMS) >= 20
    assert set(_NEEDS) <= set(_PROGRAMS)


def _program(name: str) -> list[str]:
    return [str(_FOLDER / f"{name}.py"), "--total-timesteps", "256"]


@pytest.fixture(scope="module")
def with_torch(
    traced: TracedPython, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, forked_scripts.Ended]:
    """The workloads that are forks of one process."""
    programs = {name: _program(name) for name in _PROGRAMS if _is_forked(name)}
    folder = tmp_path_factory.mktemp("brief")
    modules = ["torch", forked_scripts.COMPILER, "gymnasium"]
    return forked_scripts.run([traced.python], folder, programs, modules=modules)


@pytest.mark.parametrize("name", _PROGRAMS)
def test_a_workload_runs_for_256_steps(
    request: pytest.FixtureRequest, traced: TracedPython, tmp_path: Path, name: str
) -> None:
    if not is_for(*_needs(name)):
        pytest.skip("make test runs it")
    need(*_needs(name))
    if not _is_forked(name):
        command = [traced.python, *_program(name)]
        alone = subprocess.run(
            command, capture_output=True, text=True, check=False, cwd=tmp_path, timeout=300
        )
        code, stdout, stderr = alone.returncode, alone.stdout, alone.stderr
    else:
        forked = request.getfixturevalue("with_torch")[name]
        code, stdout, stderr = forked.code, forked.stdout, forked.stderr
    assert code == 0, stderr
    assert any(line.startswith(_ENDS) for line in stdout.splitlines()), stdout
