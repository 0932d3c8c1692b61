"""The workloads of TensorFlow and JAX run as a user would run them, briefly.

make test-frameworks installs the two.
"""

from __future__ import annotations

import subprocess

import pytest
from support.process.installed import need
from support.process.traced_python import ROOT, TracedPython
from support.process.workload_traces import Workload, check_profile, steps_of

pytestmark = pytest.mark.usefixtures("clean_environment")

_FRAMEWORKS = ("torch", "tensorflow", "jax")
# 64 iterations of one step; the update after step 17 is the first of 48.
_PENDULUM = "--total-timesteps 64 --learning-starts 16 --batch-size 8 --hidden 16"
_STEPS = {"inference": 64, "simulation": 64, "sample": 48}
_EACH_TIME = steps_of("critic", 48) | {"target": 48}
# 2 environments, 2 rollouts of 32 steps.
_CARTPOLE = "--total-timesteps 128 --num-envs 2 --num-steps 32 --update-epochs 1"
_ROLLOUTS = {"data_collection", "training"}

DDPG_EAGER = _STEPS | _EACH_TIME | steps_of("actor", 48) | {"target_update": 48}
# The policy is updated every third time.
TD3_EAGER = _STEPS | _EACH_TIME | steps_of("actor", 16) | {"target_update": 16}
DDPG = Workload("DDPG", _PENDULUM, 64, _STEPS | {"update": 48})
TD3 = Workload("TD3", f"{_PENDULUM} --policy-frequency 3", 64, _STEPS | {"update": 48 + 16})
_PPO = {"inference": 64, "simulation": 64, "advantage": 2, "update": 2}


def _in_mode(mode: str, workload: Workload) -> Workload:
    instances = workload.instances
    if mode == "eager":
        instances = {"DDPG": DDPG_EAGER, "TD3": TD3_EAGER}[workload.algorithm]
    options = f"{workload.options} --mode {mode}"
    return Workload(workload.algorithm, options, workload.iterations, instances)


WORKLOADS = [
    *(
        (f"{workload.algorithm.lower()}_pendulum_tensorflow", _in_mode(mode, workload))
        for workload in (DDPG, TD3)
        for mode in ("eager", "function", "graph")
    ),
    ("ddpg_pendulum_jax", DDPG),
    ("td3_pendulum_jax", TD3),
    ("ppo_cartpole_jax", Workload("PPO", _CARTPOLE, 2, _PPO, _ROLLOUTS)),
    (
        "ppo_cartpole_jax_scan",
        Workload("PPO", _CARTPOLE, 2, {"rollout": 2, "update": 2}, _ROLLOUTS),
    ),
]
_names = sorted({name for name, _ in WORKLOADS})


def _framework_of(name: str) -> str:
    return "tensorflow" if "tensorflow" in name else "jax"


def _run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)


@pytest.mark.parametrize(("name", "workload"), WORKLOADS)
def test_workload_under_the_profiler(
    traced: TracedPython, directory: str, name: str, workload: Workload
) -> None:
    need(_framework_of(name))
    check_profile(traced, directory, name, workload, may_compile=True)


@pytest.mark.parametrize("name", _names)
def test_workload_imports_one_framework(traced: TracedPython, name: str) -> None:
    """TensorFlow imports JAX itself where it is installed, and does without where it is not."""
    framework = _framework_of(name)
    need(framework)
    others = [each for each in _FRAMEWORKS if each != framework]
    without = f"import sys; sys.modules.update(dict.fromkeys({others}))\n"
    options = (_CARTPOLE if "cartpole" in name else _PENDULUM).split()
    program = f"from rlscope.workloads.{name} import main; main()"
    done = _run(traced.python, "-c", without + program, *options)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1].startswith("trained in ")


@pytest.mark.parametrize(
    ("name", "options", "code", "said"),
    [
        ("ddpg_pendulum_tensorflow", "--mode lazy", 2, "--mode: invalid choice: 'lazy'"),
        ("td3_pendulum_jax", "--env-id CartPole-v1", 1, "needs actions of kind Box"),
        (
            "ppo_cartpole_jax",
            "--num-steps 5 --num-minibatches 3",
            1,
            "of 40 steps has no 3 equal minibatches",
        ),
        ("ppo_cartpole_jax_scan", "--env-id Acrobot-v1", 2, "--env-id: invalid choice"),
    ],
)
def test_wrong_argument_is_one_line(
    traced: TracedPython, name: str, options: str, code: int, said: str
) -> None:
    need(_framework_of(name))
    done = _run(traced.python, f"workloads/{name}.py", *options.split())
    assert done.returncode == code
    assert said in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr
