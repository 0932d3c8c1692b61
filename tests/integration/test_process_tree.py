"""Trees of processes, however they are started: each process is there, with its parent and all of
its operations, and one that is killed costs nothing but what it did not do."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.process import tree_runs
from support.process.installed import need
from support.process.traced_python import TracedPython
from support.process.tree_runs import PROGRAMS, Tree, check, check_all_done
from tree_programs import work

import rlscope as rls

pytestmark = pytest.mark.usefixtures("clean_environment")

METHODS = ("fork", "spawn", "forkserver")
KILL = pytest.mark.parametrize("kill", [False, True], ids=["to their end", "one killed"])


def check_ends(tree: Tree, *, kill: bool) -> None:
    """All ended in order, but for the one that was killed."""
    ends = sorted(tree.ended(pid) for pid in tree.workers)
    assert ends == ["exit"] * (work.WORKERS - kill) + ["gone"] * kill


@KILL
@pytest.mark.parametrize("method", [*METHODS, "subprocess"])
def test_processes(
    traced: TracedPython, directory: str, tmp_path: Path, method: str, kill: bool
) -> None:
    program = (str(PROGRAMS / "processes.py"), method, *["kill"] * kill)
    tree = tree_runs.run(traced, directory, tmp_path / "counts", *program)
    check_all_done(tree, kill=kill)
    check_ends(tree, kill=kill)


@pytest.mark.parametrize(
    ("method", "kill"), [("fork", True), *((method, False) for method in METHODS)]
)
def test_vectors_of_gymnasium(
    traced: TracedPython, directory: str, tmp_path: Path, method: str, kill: bool
) -> None:
    program = (str(PROGRAMS / "environments.py"), "gymnasium", method, *["kill"] * kill)
    tree = tree_runs.run(traced, directory, tmp_path / "counts", *program)
    check_all_done(tree, kill=kill)
    check_ends(tree, kill=kill)


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_environments_whose_class_the_program_defines(
    traced: TracedPython, tmp_path: Path, method: str
) -> None:
    """It comes to the workers by cloudpickle, which makes it without methods at first."""
    program = tmp_path / "program.py"
    program.write_text(
        f"""
import gymnasium, numpy

class Own(gymnasium.Env):
    observation_space = gymnasium.spaces.Box(-1, 1, (4,), numpy.float32)
    action_space = gymnasium.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        return numpy.zeros(4, numpy.float32), {{}}

    def step(self, action):
        return numpy.zeros(4, numpy.float32), 0.0, False, False, {{}}

if __name__ == "__main__":
    envs = gymnasium.vector.AsyncVectorEnv([Own, Own], context={method!r})
    envs.reset()
    for _ in range(7):
        envs.step(numpy.zeros(2, int))
    envs.close()
"""
    )
    done = traced.run("-o", "run", traced.python, str(program), cwd=tmp_path, timeout=120)
    assert done.returncode == 0, done.stderr
    with rls.load(tmp_path / "run") as trace:
        steps = trace.sql(
            "SELECT process.name, path, count(*) FROM operation_instance"
            " JOIN process USING (process_id) JOIN operation USING (operation_id)"
            " WHERE path = 'simulation' AND role = 'environment worker' GROUP BY ALL ORDER BY ALL"
        )
        assert list(steps) == [(f"env worker {n}", "simulation", 8) for n in range(2)]


@pytest.mark.parametrize(
    ("method", "kill"),
    [
        ("fork", False),
        ("forkserver", True),
        # Each worker imports PyTorch.
        pytest.param("spawn", True, marks=pytest.mark.slow),
        pytest.param("spawn", False, marks=pytest.mark.slow),
        pytest.param("forkserver", False, marks=pytest.mark.slow),
    ],
)
def test_vectors_of_stable_baselines3(
    traced: TracedPython, directory: str, tmp_path: Path, method: str, kill: bool
) -> None:
    need("stable_baselines3")
    program = (str(PROGRAMS / "environments.py"), "stable_baselines3", method, *["kill"] * kill)
    tree = tree_runs.run(traced, directory, tmp_path / "counts", *program)
    check_all_done(tree, kill=kill)
    check_ends(tree, kill=kill)


@pytest.mark.parametrize(
    "method", ["fork", pytest.param("spawn", marks=pytest.mark.slow), "forkserver"]
)
def test_data_loader(traced: TracedPython, directory: str, tmp_path: Path, method: str) -> None:
    need("torch")
    program = (str(PROGRAMS / "data_loader.py"), method)
    tree = tree_runs.run(traced, directory, tmp_path / "counts", *program)
    check_all_done(tree, kill=False)
    check_ends(tree, kill=False)


@pytest.mark.parametrize("method", ["fork", pytest.param("spawn", marks=pytest.mark.slow)])
def test_data_loader_whose_worker_is_killed(
    traced: TracedPython, directory: str, tmp_path: Path, method: str
) -> None:
    """The loader ends the other workers then, wherever they are."""
    need("torch")
    program = (str(PROGRAMS / "data_loader.py"), method, "kill")
    tree = tree_runs.run(traced, directory, tmp_path / "counts", *program)
    check(tree)
    assert len(tree.workers) == work.WORKERS
    assert work.operations(0, kill=True) in tree.instances.values()
    assert [tree.ended(pid) for pid in tree.workers].count("gone") >= 1


@KILL
def test_torchrun(traced: TracedPython, directory: str, tmp_path: Path, kill: bool) -> None:
    need("torch")
    options = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2")
    program = (*options, str(PROGRAMS / "ranks.py"), *["kill"] * kill)
    tree = tree_runs.run(traced, directory, tmp_path / "counts", *program, code=int(kill))
    check_all_done(tree, kill=kill, workers=2)
    (agent,) = {counted.parent for counted in tree.workers.values()}
    assert agent == tree.rows[0]["os_pid"]
