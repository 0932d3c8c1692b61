"""A program under rls-prof whose cases are forks of it: it prints their numbers, one a line."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import rlscope as rls
from support.process.traced_python import TracedPython, untraced_environment


def operations_of_forks(
    traced: TracedPython, folder: Path, program: str, cases: Iterable[str], *options: str
) -> dict[str, dict[str, int]]:
    """How often each operation, and `gc`, a collection, was found in each case."""
    (folder / "train.py").write_text(program)
    command = (*options, traced.python, str(folder / "train.py"))
    done = traced.run("-o", "run", *command, cwd=folder, env=untraced_environment(), timeout=120)
    assert done.returncode == 0, done.stderr
    pids = [int(line) for line in done.stdout.splitlines()]
    with rls.load(folder / "run") as trace:
        rows = trace.sql(
            "SELECT os_pid, path, COUNT(*) FROM operation_instance JOIN operation"
            " USING (operation_id) JOIN process USING (process_id) GROUP BY ALL"
            " UNION ALL SELECT os_pid, 'gc', SUM(calls) FROM native_call JOIN process"
            " USING (process_id) WHERE function LIKE 'gc:%' GROUP BY ALL"
        )
        counts = {(pid, path): count for pid, path, count in rows}
    return {
        name: {path: count for (other, path), count in counts.items() if other == pid}
        for name, pid in zip(cases, pids, strict=True)
    }
