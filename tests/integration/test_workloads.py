"""The workloads run as a user would run them, briefly."""

import subprocess
import sys
from pathlib import Path

import pytest
from traced_python import ROOT, TracedPython

pytestmark = pytest.mark.usefixtures("clean_environment")

pytest.importorskip("torch")
pytest.importorskip("gymnasium")

_SHORT = [
    "--total-timesteps",
    "128",
    "--num-envs",
    "2",
    "--num-steps",
    "32",
    "--update-epochs",
    "1",
]


def _ppo(python: str, *how: str) -> str:
    command = [python, *how, *_SHORT]
    result = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_ppo_by_path_and_by_name(traced: TracedPython) -> None:
    by_path = _ppo(traced.python, str(ROOT / "workloads" / "ppo_cartpole.py"))
    by_name = _ppo(traced.python, "-m", "rlscope.workloads.ppo_cartpole")
    for text in (by_path, by_name):
        assert text.splitlines()[-1].startswith("trained in ")


def test_ppo_under_the_profiler(traced: TracedPython, directory: str) -> None:
    script = str(ROOT / "workloads" / "ppo_cartpole.py")
    result = traced.run("-o", directory, traced.python, script, *_SHORT, timeout=120)
    assert result.returncode == 0, result.stderr
    from rlscope._trace import Directory

    trace = Directory(directory)
    (process,) = trace.processes
    assert process["name"] == "trainer"
    assert process["metadata"]["algorithm"] == '"PPO"'
    swept = trace.sweep(0)
    columns = (swept["operation"][name] for name in ("name", "source", "instances"))
    rows = [(name, source, int(count)) for name, source, count in zip(*columns, strict=True)]
    counts = {name: count for name, source, count in rows if source == "explicit"}
    steps, iterations, minibatches = 32, 2, 4
    assert {name: count for name, count in counts.items() if name != "(none)"} == {
        "inference": steps * iterations,
        "simulation": steps * iterations,
        "advantage": iterations,
        "forward": minibatches * iterations,
        "backprop": minibatches * iterations,
        "optimizer": minibatches * iterations,
    }
    # Imports, and the reset before the first annotated operation.
    found = [row for row in rows if row[1] == "automatic" and row[0] != "import"]
    assert found == [("simulation", "automatic", 1)]
    assert list(swept["iteration"]["source"]) == ["automatic", *["explicit"] * iterations]
    assert set(swept["phase_name"]["name"]) == {"(none)", "data_collection", "training"}


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        ("--num-envs 0", 2, "--num-envs: '0' is not a whole number, at least 1"),
        ("--device meta", 2, "--device: 'meta' cannot be used: "),
        ("--env-id NoSuchTask-v0", 1, "Environment `NoSuchTask` doesn't exist"),
        ("--env-id Pendulum-v1", 1, "needs actions of kind Discrete, not Box("),
    ],
)
def test_wrong_argument_is_one_line(
    traced: TracedPython, options: str, code: int, said: str
) -> None:
    command = [traced.python, "workloads/ppo_cartpole.py", *options.split()]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == code
    (line,) = done.stderr.splitlines()
    assert said in line


def test_top_level_import_is_refused() -> None:
    command = [sys.executable, "-c", "import workloads"]
    result = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert result.returncode == 1
    assert "import this package as rlscope.workloads" in result.stderr


@pytest.mark.slow
def test_ppo_learns(traced: TracedPython) -> None:
    script = str(Path(ROOT, "workloads", "ppo_cartpole.py"))
    result = subprocess.run([traced.python, script], capture_output=True, text=True, check=True)
    final = float(result.stdout.split()[-1])
    assert final > 300, "CartPole pays 20 for random actions, 500 after learning"
