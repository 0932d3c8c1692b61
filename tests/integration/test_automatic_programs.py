"""Training programs without annotation: each block that somebody would annotate is found once."""

from __future__ import annotations

from collections import Counter

import pytest
from support.process.automatic_records import instances, read_track
from support.process.recorded_child import ROOT, record

pytest.importorskip("torch")

# Blocks are counted and do nothing else. A warning is none of the program's own.
TRAIN = """
import contextlib, importlib, sys, warnings
warnings.simplefilter("ignore")
sys.path.insert(0, {benchmarks!r})
import rlscope.auto
rlscope.auto.begin()
import torch
torch.set_num_threads(1)
program = importlib.import_module("automatic.{name}")
blocks = []

@contextlib.contextmanager
def operation(name):
    blocks.append(name)
    yield

program.operation = operation
program.train({length})
from collections import Counter
print(*(f"{{name}}={{count}}" for name, count in Counter(blocks).items()))
"""
PROGRAMS = {"dqn": 300, "c51": 260, "ddpg": 120, "td3": 120, "sac": 110, "ppo": 1, "a2c": 3}
"""Name of each program, and for how long it trains."""


@pytest.mark.parametrize("name", PROGRAMS)
def test_each_block_is_found_once(directory: str, name: str) -> None:
    benchmarks = str(ROOT / "tests" / "benchmarks")
    script = TRAIN.format(benchmarks=benchmarks, name=name, length=PROGRAMS[name])
    recorded = record(directory, script, timeout=300)
    row = recorded.process()
    items = recorded.reader.items(row["index"], recorded.threads()[0])
    records = list(zip(items["time_ns"], items["kind"], items["id"], strict=True))
    found = Counter(name for name, _, _ in instances(read_track(records, row["end_ns"])))
    annotated = {
        name: int(count)
        for name, _, count in (each.partition("=") for each in recorded.output.split())
    }
    assert annotated.get("target", 0) > 1 or annotated["advantage"] >= 1
    exact = ["simulation", "target", "advantage"]
    # The no-grad block for the temperature of SAC divides the update that is annotated as one.
    exact += ["backprop"] if name != "sac" else []
    assert {each: found[each] for each in exact} == {each: annotated.get(each, 0) for each in exact}
