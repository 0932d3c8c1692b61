"""A process tree under rls-prof: what its workers counted themselves, and what the trace has."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tree_programs import work

from rlscope.opening import load
from support.process.traced_python import TracedPython

PROGRAMS = Path(__file__).resolve().parents[2] / "tree_programs"

_INSTANCES = """
SELECT process.os_pid, count(*)
FROM operation_instance
JOIN operation USING (operation_id)
JOIN process ON process.process_id = operation_instance.process_id
WHERE operation.path = $operation AND operation_instance.ended = 'exit'
GROUP BY ALL
"""
_PARENTS = """
SELECT child.os_pid, parent.os_pid
FROM process AS child LEFT JOIN process AS parent
    ON parent.process_id = child.parent_process_id
"""


@dataclass(frozen=True)
class Counted:
    """What a worker wrote last."""

    parent: int
    begun: int
    ended: int


@dataclass(frozen=True)
class Tree:
    """A run whose program has ended."""

    workers: Mapping[int, Counted]
    """By pid."""
    rows: list[dict[str, Any]]
    """Rows of the relation process; a pid has one for each image that it executed."""
    parents: Mapping[int, int | None]
    instances: Mapping[int, int]
    losses: list[tuple[Any, ...]]
    stderr: str

    def ended(self, pid: int) -> str:
        """How the last image of a process ended."""
        return str([row["ended"] for row in self.rows if row["os_pid"] == pid][-1])


def run(traced: TracedPython, directory: str, counts: Path, *program: str, code: int = 0) -> Tree:
    """Runs `python PROGRAM...` under rls-prof; `code` is the exit code that it must have."""
    counts.mkdir()
    environ = {**os.environ, "TREE_COUNTS": str(counts)}
    command = [traced.python, *program]
    result = traced.run("-o", directory, *command, env=environ, timeout=300)
    assert result.returncode == code, result.stderr
    return read(directory, counts, result.stderr)


def read(directory: str, counts: Path, stderr: str = "") -> Tree:
    """What workers wrote into `counts`, and the trace."""
    workers = {
        int(file.name): Counted(*map(int, file.read_text().split())) for file in counts.iterdir()
    }
    with load(directory) as trace:
        return Tree(
            workers,
            list(trace.table("process").to_dicts()),
            dict(trace.sql(_PARENTS)),
            dict(trace.sql(_INSTANCES, {"operation": work.OPERATION})),
            list(trace.sql("SELECT kind, count, detail FROM loss")),
            stderr,
        )


def check(tree: Tree) -> None:
    """The trace has what the workers counted, to the operation, and every process a parent."""
    assert tree.workers
    assert tree.losses == []
    for pid, counted in tree.workers.items():
        assert counted.begun == counted.ended  # the one that is killed is between two operations
        assert tree.instances.get(pid) == counted.ended, tree
        assert tree.parents[pid] == counted.parent
    root = tree.rows[0]["os_pid"]
    assert {pid for pid, parent in tree.parents.items() if parent is None} == {root}


def check_all_done(tree: Tree, *, kill: bool, workers: int = work.WORKERS) -> None:
    """Every worker but the killed one did all of its work."""
    expected = sum(work.operations(worker, kill=kill) for worker in range(workers))
    assert sum(counted.ended for counted in tree.workers.values()) == expected
    check(tree)
