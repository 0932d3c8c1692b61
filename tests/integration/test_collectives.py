"""Ranks that meet in collectives of PyTorch, one of which comes late by a known time."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.process.traced_python import TracedPython, untraced_environment

from rlscope.opening import load

pytest.importorskip("torch.distributed")
pytestmark = pytest.mark.usefixtures("clean_environment")

_LATE_S = 0.02
_MEETINGS = 12
# The ranks begin each turn together; one sleeps. Each writes when its own calls began, and how long
# they took.
_PROGRAM = f"""
import json, os, sys, time
import torch
import torch.distributed as dist
from multiprocessing import get_context

def rank(number, store):
    dist.init_process_group("gloo", init_method="file://" + store, rank=number, world_size=2)
    torch.set_num_threads(1)
    found = {{how: meet(number, how) for how in ("backward", "collective")}}
    with open(f"{{store}}.{{number}}", "w") as file:
        json.dump([os.getpid(), found], file)
    dist.destroy_process_group()

def meet(number, how):
    model = torch.nn.Linear(4, 4)
    if how == "backward":
        model = torch.nn.parallel.DistributedDataParallel(model)
    begins, spent = [], 0
    for turn in range({_MEETINGS}):
        time.sleep({_LATE_S} * (number == 1))
        loss = model(torch.ones(1, 4)).sum()
        if how == "collective":
            loss.backward()
        begins.append(time.monotonic_ns())
        if how == "backward":
            loss.backward()
        else:
            dist.all_reduce(model.weight.grad)
        spent += time.monotonic_ns() - begins[-1]
    return begins, spent

if __name__ == "__main__":
    ranks = [get_context("spawn").Process(target=rank, args=(n, sys.argv[1])) for n in range(2)]
    for each in ranks:
        each.start()
    for each in ranks:
        each.join()
        assert each.exitcode == 0
"""


@pytest.fixture(scope="module")
def met(traced: TracedPython, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, list[Any]]:
    """The trace of two ranks, and what each said of its meetings."""
    folder = tmp_path_factory.mktemp("met")
    directory, store = str(folder / "run"), str(folder / "store")
    options = {"env": untraced_environment(), "timeout": 180}
    traced.record(directory, folder / "ranks.py", _PROGRAM, store, **options)
    return directory, [json.loads(Path(f"{store}.{n}").read_text()) for n in range(2)]


@pytest.mark.parametrize("how", ["backward", "collective"])
def test_a_rank_waits_for_the_one_that_comes_late(met: tuple[str, list[Any]], how: str) -> None:
    directory, said = met
    with load(directory) as trace:
        rows: list[dict[str, Any]] = trace.sql(
            "SELECT collective.*, os_pid FROM collective"
            " JOIN process USING (process_id) WHERE collective.name = $how",
            {"how": how},
        ).to_dicts()
    pids = [pid for pid, _ in said]
    begins, spent = zip(*(found[how] for _, found in said), strict=True)
    rows.sort(key=lambda row: pids.index(row["os_pid"]))
    early, late = rows
    assert [row["meetings"] for row in rows] == [_MEETINGS] * 2
    for row, own_ns in zip(rows, spent, strict=True):
        assert row["waited_ns"] <= row["duration_ns"] <= own_ns
    later = [second - first for first, second in zip(*begins, strict=True) if second > first]
    assert early["waited_ns"] > 0.5 * sum(later)
    assert late["last"] > len(later) / 2
    assert early["last"] + late["last"] == _MEETINGS
