"""Trees of processes, however they are started: each process is there, with its parent and all of
its operations, and one that is killed costs nothing but what it did not do."""

from __future__ import annotations

from pathlib import Path

import pytest
import tree_runs
from installed import need
from traced_python import TracedPython
from tree_programs import work
from tree_runs import PROGRAMS, Tree, check, check_all_done

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


@KILL
@pytest.mark.parametrize("method", METHODS)
def test_vectors_of_gymnasium(
    traced: TracedPython, directory: str, tmp_path: Path, method: str, kill: bool
) -> None:
    program = (str(PROGRAMS / "environments.py"), "gymnasium", method, *["kill"] * kill)
    tree = tree_runs.run(traced, directory, tmp_path / "counts", *program)
    check_all_done(tree, kill=kill)
    check_ends(tree, kill=kill)


@pytest.mark.parametrize(
    ("method", "kill"),
    [
        ("fork", False),
        ("fork", True),
        ("spawn", True),
        ("forkserver", True),
        pytest.param("spawn", False, marks=pytest.mark.slow),  # each worker imports PyTorch
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


@pytest.mark.parametrize("method", METHODS)
def test_data_loader(traced: TracedPython, directory: str, tmp_path: Path, method: str) -> None:
    need("torch")
    program = (str(PROGRAMS / "data_loader.py"), method)
    tree = tree_runs.run(traced, directory, tmp_path / "counts", *program)
    check_all_done(tree, kill=False)
    check_ends(tree, kill=False)


@pytest.mark.parametrize(
    "method", ["fork", pytest.param("spawn", marks=pytest.mark.slow), "forkserver"]
)
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
