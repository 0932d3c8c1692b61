"""Automatic operations against a stopwatch in the program, block by block.

Every block is compared with what was found in it: the ratio is of one run and one moment, and its
median over the blocks does not depend on how fast the machine is, or what else it does.
"""

from __future__ import annotations

import json
import statistics

import pytest
from support.process.automatic_records import Segment, read_track
from support.process.installed import need
from support.process.recorded_child import ROOT, Recorded, record

# The stopwatch is that of the benchmark, which compares sums.
_TRAIN = """
import json, os, sys, warnings
warnings.simplefilter("ignore")
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"
sys.path.insert(0, {benchmarks!r})
import rlscope.auto
rlscope.auto.begin()
import importlib
program = importlib.import_module("automatic.{name}")
from automatic_truth import Truth
truth = program.operation = Truth()
program.train({length})
print(json.dumps(truth.blocks()))
"""
_PROGRAMS = {"dqn_jax": (900, "jax"), "keras_actor_critic": (6, "tensorflow")}
"""Name of each program, for how long it trains, and its library."""


@pytest.mark.parametrize("name", _PROGRAMS)
def test_a_stopwatch_with_the_same_boundaries_agrees(directory: str, name: str) -> None:
    length, library = _PROGRAMS[name]
    need(library)
    benchmarks = str(ROOT / "tests" / "benchmarks")
    script = _TRAIN.format(benchmarks=benchmarks, name=name, length=length)
    recorded = record(directory, script, timeout=300)
    blocks: dict[str, list[tuple[int, int]]] = {}
    for operation, begin, end in json.loads(recorded.output.splitlines()[-1]):
        blocks.setdefault(operation, []).append((begin, end))
    segments = _segments(recorded)
    ratios = {
        operation: statistics.median(_ratio(block, operation, segments) for block in each)
        for operation, each in blocks.items()
    }
    assert all(len(each) >= 5 for each in blocks.values())
    assert ratios == {operation: pytest.approx(1.0, abs=0.05) for operation in blocks}


def _segments(recorded: Recorded) -> list[Segment]:
    row = recorded.process()
    items = recorded.reader.items(row["index"], recorded.threads()[0])
    rows = list(zip(items["time_ns"], items["kind"], items["id"], strict=True))
    return [each for each in read_track(rows, row["end_ns"], recorded.names()) if each.name]


def _ratio(block: tuple[int, int], operation: str, segments: list[Segment]) -> float:
    """Time of the operation's segments whose middle lies in the block, by the time of the block."""
    begin, end = block
    found = sum(
        each.end - each.start
        for each in segments
        if each.name == operation and begin <= (each.start + each.end) / 2 < end
    )
    return float(found) / (end - begin)
