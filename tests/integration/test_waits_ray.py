"""Ray: a program waits for results, an actor for tasks, and the rest of the time both work."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.process.installed import need
from support.process.traced_python import TracedPython

from rlscope.opening import load

pytestmark = pytest.mark.usefixtures("clean_environment")

_ACTOR = """
import json, os, sys, time
import ray

class Actor:
    def __init__(self):
        self.working = 0

    def spin(self):
        began = time.monotonic_ns()
        while time.monotonic_ns() < began + 150_000_000:
            pass
        self.working += time.monotonic_ns() - began
        return self.working

ray.init(num_cpus=1, include_dashboard=False)
actor = ray.remote(Actor).remote()
ray.get(actor.spin.remote())
waited = working = 0
for turn in range(5):
    began = time.monotonic_ns()
    read = ray.get(actor.spin.remote()) if turn % 2 else ray.wait([actor.spin.remote()])
    waited += time.monotonic_ns() - began
    began = time.monotonic_ns()
    while time.monotonic_ns() < began + 100_000_000:
        pass
    working += time.monotonic_ns() - began
print(json.dumps({"waited": waited, "working": working, "actor": ray.get(actor.spin.remote())}))
"""


def test_a_program_waits_for_results_and_an_actor_for_tasks(
    traced: TracedPython, directory: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    need("ray")
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")  # or it writes a token into the home directory
    done = traced.run("-o", directory, traced.python, "-c", _ACTOR, cwd=tmp_path, timeout=240)
    assert done.returncode == 0, done.stderr
    read = json.loads(done.stdout.splitlines()[-1])
    with load(directory) as trace:
        rows = trace.sql(
            "SELECT process.role, kind, SUM(self_ns) AS self_ns FROM wait"
            " JOIN process USING (process_id) WHERE kind IN ('result', 'task') GROUP BY ALL"
        ).to_dicts()
        waits = {(row["role"], row["kind"]): row["self_ns"] for row in rows}
        (life,) = trace.sql(
            "SELECT SUM(duration_ns) FILTER (layer = 'python') AS python_ns,"
            " SUM(duration_ns) AS all_ns FROM breakdown JOIN process USING (process_id)"
            " WHERE process.role = 'actor'"
        ).to_dicts()
    # The first spin, and the last, lie outside of the stopwatch of the program.
    assert waits["main", "result"] > 0.97 * (read["waited"] + read["actor"] * 2 / 7)
    assert life["python_ns"] > 0.99 * read["actor"]
    # While the program works, and until it is asked for the first time, the actor waits.
    assert waits["actor", "task"] > 0.97 * read["working"]
    assert waits["actor", "task"] + life["python_ns"] < 1.01 * life["all_ns"]
