"""Ray under rls-prof: the workers of one that the program starts, and of one that ran before."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.process import tree_runs
from support.process.installed import need
from support.process.traced_python import TracedPython
from support.process.tree_runs import PROGRAMS, check_all_done
from tree_programs import work

from rlscope.opening import load
from rlscope.report.renderers.terminal import render_summary

pytestmark = pytest.mark.usefixtures("clean_environment")

WORKERS = str(PROGRAMS / "ray_workers.py")


@pytest.fixture(autouse=True)
def ray_without_token(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ray would write a token into the home directory."""
    need("ray")
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")


@pytest.fixture
def cluster(traced: TracedPython) -> Iterator[str]:
    """The address of a Ray that was not started under rls-prof."""
    command = [traced.python, str(PROGRAMS / "ray_cluster.py")]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdin is not None and process.stdout is not None
        yield process.stdout.readline().strip()
        process.stdin.close()


@pytest.mark.parametrize("kill", [False, True], ids=["to their end", "one killed"])
@pytest.mark.parametrize("kind", ["actors", "tasks"])
def test_workers_of_a_ray_that_the_program_starts(
    traced: TracedPython, directory: str, tmp_path: Path, kind: str, kill: bool
) -> None:
    program = (WORKERS, kind, *["--kill"] * kill)
    tree = tree_runs.run(traced, directory, tmp_path / "counts", *program)
    check_all_done(tree, kill=kill)
    (raylet,) = {counted.parent for counted in tree.workers.values()}
    assert {row["short_name"] for row in tree.rows if row["os_pid"] == raylet} == {"raylet"}
    assert tree.parents[raylet] == tree.rows[0]["os_pid"]
    assert "still running" not in tree.stderr
    assert "was running already" not in summary(directory)


def test_workers_of_a_cluster_that_runs_already_are_recorded_if_asked_for(
    traced: TracedPython, directory: str, tmp_path: Path, cluster: str
) -> None:
    program = (WORKERS, "actors", "--address", cluster, "--recorded")
    tree = tree_runs.run(traced, directory, tmp_path / "counts", *program)
    assert tree.losses == []
    expected = {work.operations(worker, kill=False) for worker in range(work.WORKERS)}
    assert {counted.ended for counted in tree.workers.values()} == expected
    assert {pid: tree.instances.get(pid) for pid in tree.workers} == {
        pid: counted.ended for pid, counted in tree.workers.items()
    }
    assert {tree.parents[pid] for pid in tree.workers} == {None}  # it is not of the run
    assert "was running already" not in summary(directory)


def test_a_cluster_that_runs_already_is_said_where_its_workers_are_not_recorded(
    traced: TracedPython, directory: str, tmp_path: Path, cluster: str
) -> None:
    program = (WORKERS, "actors", "--address", cluster)
    tree = tree_runs.run(traced, directory, tmp_path / "counts", *program)
    assert len(tree.workers) == work.WORKERS
    assert not tree.instances
    said = "connected to a Ray cluster that was running already. Its workers are not in this trace"
    assert said in summary(directory)


def summary(directory: str) -> str:
    """In one line."""
    with load(directory) as trace:
        return " ".join(render_summary(trace, width=100).split())
