"""Garbage collections are recorded as the program's own callbacks see them, wherever they begin."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from support.files.exact_sums import check_directory
from support.process.traced_python import TracedPython, untraced_environment

import rlscope as rls

pytestmark = pytest.mark.usefixtures("clean_environment")

# With "brief" it has no finaliser, which needs PyTorch. Collections are recorded where there is a
# library to record.
PROGRAM = """
import gc, json, pickle, sys, time
if "brief" in sys.argv:
    import gymnasium
else:
    import torch

said = []
def own(phase, info):
    said.append((phase, info["generation"], time.monotonic_ns(), time.thread_time_ns()))
gc.callbacks.append(own)
kept = [[number] for number in range(200_000)]
content = pickle.dumps([[number] for number in range(50_000)])

class Computes:
    def __init__(self):
        self.itself = self
    def __del__(self):
        torch.ones(3) + 1

def spans():
    found = [
        (begin[1], begin[2], end[3] - begin[3]) for begin, end in zip(said[::2], said[1::2])
    ]
    said.clear()
    return found

import rlscope as rls
gc.collect()
gc.disable()
told = {}
with rls.operation("direct"):
    said.clear()
    for generation in (0, 1, 2, 2):
        gc.collect(generation)
    told["direct"] = spans()
if "brief" not in sys.argv:
    gc.enable()
    with rls.operation("inside"):
        pickle.loads(content)
        told["inside"] = spans()
    gc.disable()
    with rls.operation("finaliser"):
        Computes()
        gc.collect()
        told["finaliser"] = spans()
if "leave" in sys.argv:
    gc.callbacks.clear()
with rls.operation("left"):
    gc.collect()
print(json.dumps({"told": told, "callbacks": len(gc.callbacks)}))
"""

SHORTEST_NS = 20_000  # CPU time of a collection that must have a record; its callbacks are inside


def collections(directory: str, operation: str) -> list[dict[str, Any]]:
    with rls.load(directory) as trace:
        rows = trace.sql(
            "SELECT event.name, start_ns, duration_ns, layer FROM event JOIN operation USING "
            "(operation_id) WHERE event.name LIKE 'gc:%' AND path = $operation ORDER BY start_ns",
            {"operation": operation},
        )
        return [dict(zip(rows.columns, row, strict=True)) for row in rows]


def reasons(directory: str) -> Counter[tuple[str, str]]:
    sums: Counter[tuple[str, str]] = Counter()
    with rls.load(directory) as trace:
        rows = trace.sql("SELECT operation, reason, duration_ns FROM idle")
        for operation, reason, ns in rows:
            sums[operation, reason] += ns
    return sums


def record(traced: TracedPython, directory: str, *arguments: str, **options: Any) -> dict[str, Any]:
    script = Path(directory).parent / "script.py"
    output = traced.record(directory, script, PROGRAM, *arguments, **options)
    said: dict[str, Any] = json.loads(output)
    return said


@dataclass(frozen=True)
class Ran:
    """The whole program, recorded once for all tests of what it does."""

    directory: str
    told: dict[str, Any]


@pytest.fixture(scope="module")
def ran(traced: TracedPython, tmp_path_factory: pytest.TempPathFactory) -> Ran:
    directory = str(tmp_path_factory.mktemp("collections") / "run")
    return Ran(directory, record(traced, directory, env=untraced_environment())["told"])


@pytest.mark.parametrize("operation", ["direct", "inside", "finaliser"])
def test_each_long_collection_is_recorded_once_in_its_place(ran: Ran, operation: str) -> None:
    found = collections(ran.directory, operation)
    told = ran.told[operation]
    assert any(cpu_ns > SHORTEST_NS for _, _, cpu_ns in told)
    for generation, begin, cpu_ns in told:
        inside = [row for row in found if begin >= row["start_ns"]
                  and cpu_ns <= row["duration_ns"] + SHORTEST_NS
                  and begin < row["start_ns"] + row["duration_ns"]]  # fmt: skip
        if cpu_ns > SHORTEST_NS:
            assert [row["name"] for row in inside] == [f"gc:generation {generation}"]
            assert inside[0]["layer"] == "python"
    assert len(found) <= len(told)


def test_events_of_collections_have_layer_python(ran: Ran) -> None:
    with rls.load(ran.directory) as trace:
        rows = trace.sql("SELECT DISTINCT layer FROM event WHERE name LIKE 'gc:%'")
        assert list(rows) == [("python",)]


def test_idle_has_the_time_of_collections(ran: Ran) -> None:
    sums = reasons(ran.directory)
    for operation in ("direct", "inside", "finaliser"):
        recorded = sum(row["duration_ns"] for row in collections(ran.directory, operation))
        assert sums[operation, "collection"] == recorded
    check_directory(Path(ran.directory))


def test_a_program_that_removes_the_entry_is_recorded_on(
    traced: TracedPython, directory: str
) -> None:
    said = record(traced, directory, "brief", "leave")
    assert said["callbacks"] == 0
    assert collections(directory, "direct") and not collections(directory, "left")


def test_collections_can_be_left_out(
    traced: TracedPython, directory: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RLSCOPE_GC", "0")
    said = record(traced, directory, "brief")
    assert said["callbacks"] == 1
    assert not collections(directory, "direct")
