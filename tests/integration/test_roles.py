"""Names and roles of the processes of real programs."""

from __future__ import annotations

import itertools
import subprocess
from pathlib import Path

import pytest
from support.process.installed import need
from support.process.traced_python import TracedPython

from rlscope.opening import load

pytestmark = pytest.mark.usefixtures("clean_environment")

Roles = dict[str, str]

_WORKERS = """
import multiprocessing, os, signal, sys
import rlscope as rls

def collect(worker_id, queue):
    for _ in range(3):
        with rls.operation("simulation"):
            pass
    queue.put(worker_id)

def learn(queue):
    with rls.operation("learning"):
        queue.put(0)

class Evaluator(multiprocessing.Process):
    def run(self):
        pass

def killed():
    os.kill(os.getpid(), signal.SIGKILL)

if __name__ == "__main__":
    context = multiprocessing.get_context(sys.argv[1])
    multiprocessing.set_start_method(sys.argv[1])
    queue = context.SimpleQueue()
    children = [
        context.Process(target=collect, args=(4,), kwargs={"queue": queue}),
        context.Process(target=collect, args=(3, queue)),
        context.Process(target=learn, args=(queue,)),
        context.Process(target=learn, args=(queue,)),
        context.Process(target=learn, args=(queue,), name="critic"),
        Evaluator(),
        context.Process(target=killed),
    ]
    for child in children:
        child.start()
    for child in children:
        child.join()
    with context.Pool(2) as pool:
        pool.map(abs, range(4))
        pool.close()
        pool.join()
    with context.Manager() as manager:
        manager.dict()[1] = 2
"""

_OF_WORKERS = {
    "program.py": "main",
    "collect 3": "environment worker",
    "collect 4": "environment worker",
    "learn 0": "worker",
    "learn 1": "worker",
    "critic": "worker",
    "Evaluator 0": "worker",
    "killed 0": "worker",
    "pool worker 0": "worker",
    "pool worker 1": "worker",
    "manager": "helper",
}
_SERVERS = {
    "fork": {},
    "spawn": {"resource tracker": "helper"},
    "forkserver": {"resource tracker": "helper", "fork server": "helper"},
}

_ENVIRONMENTS = """
import sys
import gymnasium

def make():
    return gymnasium.make("CartPole-v1")

def make_torchrl():
    from torchrl.envs import GymEnv
    return GymEnv("CartPole-v1")

if __name__ == "__main__":
    library, method = sys.argv[1:]
    if library == "torchrl":
        from torchrl.envs import ParallelEnv
        envs = ParallelEnv(3, make_torchrl, mp_start_method=method)
        envs.rollout(2)
    else:
        if library == "stable_baselines3":
            from stable_baselines3.common.vec_env import SubprocVecEnv
            envs = SubprocVecEnv([make] * 3, start_method=method)
        else:
            envs = gymnasium.vector.AsyncVectorEnv([make] * 3, context=method)
        envs.reset()
        envs.step([0] * 3)
    envs.close()
"""

_LOADER = """
import torch
from torch.utils.data import DataLoader

class Numbers(torch.utils.data.Dataset):
    def __len__(self):
        return 8
    def __getitem__(self, index):
        return index

if __name__ == "__main__":
    loader = DataLoader(Numbers(), batch_size=2, num_workers=2)
    for epoch in range(2):
        assert sum(batch.sum().item() for batch in loader) == 28
"""

_RANK = """
import multiprocessing, subprocess, sys

def collect():
    subprocess.run([sys.executable, "-c", "pass"], check=True)

if __name__ == "__main__":
    child = multiprocessing.get_context("spawn").Process(target=collect)
    child.start()
    child.join()
"""


_RAY = """
import ray

@ray.remote(num_cpus=1)
class Runner:
    def step(self):
        return 1

@ray.remote(num_cpus=1)
def evaluate():
    return 2

if __name__ == "__main__":
    ray.init(num_cpus=3, include_dashboard=False)
    runners = [Runner.remote() for _ in range(2)]
    assert ray.get([runner.step.remote() for runner in runners]) == [1, 1]
    assert ray.get(evaluate.remote()) == 2
"""


_TESTS = """
import multiprocessing, random, sys
import gymnasium, torch

def act(env, net):
    observation, _ = env.reset()
    for _ in range(8):
        action = int(net(torch.from_numpy(observation)).argmax())
        observation = env.step(action)[0]

def train(weights, scores):
    net, env = torch.nn.Linear(4, 2), gymnasium.make("CartPole-v1")
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(3):
        act(env, net)
        net(torch.zeros(4)).sum().backward()
        optimizer.step()
        if weights is not None:
            weights.put(1)

def test(weights, scores):
    net, env = torch.nn.Linear(4, 2), gymnasium.make("CartPole-v1")
    for _ in range(3):
        if weights is not None:
            weights.get()
        act(env, net)
        if scores is not None:
            scores.put(1)

if __name__ == "__main__":
    context = multiprocessing.get_context("fork")
    for how in sys.argv[1:]:
        weights, scores = (context.Queue() if how == name else None for name in ("ask", "tell"))
        children = [context.Process(target=each, args=(weights, scores)) for each in (train, test)]
        for child in children:
            child.start()
        for _ in range(0 if scores is None else 3):
            scores.get()
        for child in children:
            child.join()
"""


def run(
    traced: TracedPython, directory: str, tmp_path: Path, program: str, *arguments: str
) -> Roles:
    """Runs the program; name -> role of each process."""
    script = tmp_path / "program.py"
    script.write_text(program)
    return record(traced, directory, traced.python, str(script), *arguments)


def record(traced: TracedPython, directory: str, *command: str) -> Roles:
    result = traced.run("-o", directory, *command, timeout=300)
    assert result.returncode == 0, result.stderr
    rows = load(directory).sql("SELECT name, role FROM process ORDER BY process_id").to_dicts()
    found = {row["name"]: row["role"] for row in rows}
    assert len(found) == len(rows)
    return found


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
@pytest.mark.parametrize("automatic", ["0", "1"])
def test_children_of_multiprocessing(
    traced: TracedPython,
    directory: str,
    tmp_path: Path,
    method: str,
    automatic: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("RLSCOPE_AUTO", automatic)
    monkeypatch.setenv("RLSCOPE_WAITS", automatic)
    found = run(traced, directory, tmp_path, _WORKERS, method)
    assert found == _OF_WORKERS | _SERVERS[method]


def test_a_process_that_only_acts_evaluates(
    traced: TracedPython, directory: str, tmp_path: Path
) -> None:
    """Alone, or with the weights of another one; but not one whose scores are waited for."""
    need("torch", "gymnasium")
    found = run(traced, directory, tmp_path, _TESTS, "alone", "ask", "tell")
    trains = ("train 0", "train 1", "train 2")
    tests = {"test 0": "evaluator", "test 1": "evaluator", "test 2": "worker"}
    assert found == {"program.py": "main", **dict.fromkeys(trains, "worker"), **tests}
    rows = load(directory).sql(
        "SELECT DISTINCT name FROM training_loop JOIN process USING (process_id)"
    )
    assert set(rows["name"]) == {*trains, "test 2"}


@pytest.mark.parametrize(
    ("library", "method"),
    [
        *itertools.product(["gymnasium"], ["fork", "spawn", "forkserver"]),
        ("stable_baselines3", "fork"),
        # Each worker imports PyTorch.
        pytest.param("stable_baselines3", "spawn", marks=pytest.mark.slow),
        pytest.param("stable_baselines3", "forkserver", marks=pytest.mark.slow),
        ("torchrl", "fork"),
    ],
)
def test_vector_environments(
    traced: TracedPython, directory: str, tmp_path: Path, library: str, method: str
) -> None:
    pytest.importorskip(library)
    found = run(traced, directory, tmp_path, _ENVIRONMENTS, library, method)
    workers = [name for name, role in found.items() if role == "environment worker"]
    assert sorted(workers) == ["env worker 0", "env worker 1", "env worker 2"]
    others = {name: role for name, role in found.items() if name not in workers}
    # Gymnasium's shared memory has a resource tracker under fork, too.
    others.setdefault("resource tracker", "helper")
    assert others == {"program.py": "main", "resource tracker": "helper"} | _SERVERS[method]


def test_workers_of_a_data_loader(traced: TracedPython, directory: str, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    found = run(traced, directory, tmp_path, _LOADER)
    workers = {name for name, role in found.items() if role == "data loader worker"}
    numbers = ["0", "1", "0 (2)", "1 (2)"]
    assert workers == {f"data loader {number}" for number in numbers}


def test_ranks_and_what_they_start(traced: TracedPython, directory: str, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    script = tmp_path / "program.py"
    script.write_text(_RANK)
    launcher = [traced.python, "-m", "torch.distributed.run", "--standalone"]
    found = record(traced, directory, *launcher, "--nproc-per-node", "2", str(script))
    roles = {name: role for name, role in found.items() if role not in ("helper", "program")}
    assert roles == {
        "rank 0": "rank",
        "rank 1": "rank",
        "collect 0": "worker",
        "collect 0 (2)": "worker",
    }
    assert found["torchrun"] == "helper"
    assert list(found.values()).count("program") == 2


def test_workers_of_ray(traced: TracedPython, directory: str, tmp_path: Path) -> None:
    pytest.importorskip("ray")
    found = run(traced, directory, tmp_path, _RAY)
    working = {name: role for name, role in found.items() if role != "helper"}
    assert working == {
        "program.py": "main",
        "Runner 0": "actor",
        "Runner 1": "actor",
        "evaluate": "task",
    }
    assert {"gcs_server", "raylet", "ray log monitor"} <= set(found)


def test_a_script_that_a_shell_runs_is_main(
    traced: TracedPython, directory: str, tmp_path: Path
) -> None:
    script = tmp_path / "train.py"
    script.write_text("import time\ntime.sleep(0.001)\n")
    found = record(traced, directory, "bash", "-c", f"{traced.python} {script}; true")
    assert found == {"bash": "helper", "train.py": "main"}


_FRAMES = """
import inspect, multiprocessing, sys

def tell(path):
    with open(path, "w") as file:
        print([frame.function for frame in inspect.stack()], file=file)

if __name__ == "__main__":
    for method in ("fork", "spawn", "forkserver"):
        path = f"{sys.argv[1]}-{method}"
        process = multiprocessing.get_context(method).Process(target=tell, args=(path,))
        process.start()
        process.join()
"""


def test_no_frame_of_a_child_is_ours(traced: TracedPython, directory: str, tmp_path: Path) -> None:
    script = tmp_path / "program.py"
    script.write_text(_FRAMES)
    subprocess.run([traced.python, str(script), f"{tmp_path}/plain"], check=True, timeout=60)
    record(traced, directory, traced.python, str(script), f"{tmp_path}/traced")
    for method in ("fork", "spawn", "forkserver"):
        plain, traced_frames = (tmp_path / f"{kind}-{method}" for kind in ("plain", "traced"))
        assert plain.read_text() == traced_frames.read_text()


_SILENT = """
import subprocess, sys
for arguments in (["-c", "pass  # of no record"], ["-m", "json.tool", "--help"], [sys.argv[1]]):
    subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
"""


def test_interpreters_that_record_nothing_are_named_by_what_they_run(
    traced: TracedPython, directory: str, tmp_path: Path
) -> None:
    job = tmp_path / "job.py"
    job.touch()
    traced.record(directory, tmp_path / "silent.py", _SILENT, str(job))
    rows = load(directory).sql("SELECT name, role FROM process ORDER BY process_id")
    assert list(rows) == [
        ("silent.py", "main"),
        ("-c pass # of no record", "program"),
        ("-m json.tool", "program"),
        ("job.py", "program"),
    ]
