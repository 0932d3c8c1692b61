"""The first sentence about programs of eager Keras and of JAX, which nobody annotated.

The programs are those of the benchmark; their stopwatch stands in the place of annotations.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from installed import need
from recorded_child import ROOT
from traced_python import TracedPython

import rlscope as rls
from rlscope.analysis import coverage, groups
from rlscope.load import Trace
from rlscope.report import headline, units

pytestmark = pytest.mark.usefixtures("clean_environment")

_TRAIN = """
import json, os, sys, warnings
warnings.simplefilter("ignore")
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"
sys.path.insert(0, {benchmarks!r})
import importlib
program = importlib.import_module("automatic.{name}")
from automatic_truth import Truth
truth = program.operation = Truth()
program.train({length})
times = list(truth.times)
first = {{truth.names[0]: times[1] - times[0]}}
print(json.dumps({{"total": truth.total(), "first": first, "loop": times[-1] - times[0]}}))
"""
_GROUPS = {"backprop": "learning"}


def run(traced: TracedPython, directory: str, folder: Path, name: str, length: int) -> Any:
    """Nanoseconds of each operation, of the first block and of all, by the stopwatch."""
    script = folder / "train.py"
    benchmarks = str(ROOT / "tests" / "benchmarks")
    script.write_text(_TRAIN.format(benchmarks=benchmarks, name=name, length=length))
    done = traced.run("-o", directory, traced.python, str(script), cwd=folder, timeout=400)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def group_times(trace: Trace) -> dict[str, int]:
    return {row["group"]: row["group_ns"] for row in groups.group_time(trace).to_dicts()}


def check_sentence(trace: Trace, largest: str, loop_ns: int) -> None:
    """It names this group, with its time and the loop's; `loop_ns` by the stopwatch."""
    (facts,) = coverage.coverage(trace).to_dicts()
    title = largest.capitalize() if largest in groups.GROUPS else largest
    time, span = units.duration(group_times(trace)[largest]), units.duration(facts["span_ns"])
    expected = rf"{title} takes [0-9.]+ % of the training loop: {time} of {span}[.,]"
    assert re.match(expected, headline.read(trace).sentence), headline.read(trace).sentence
    assert facts["span_ns"] == pytest.approx(loop_ns, rel=0.1)
    texts = [each.text for each in headline.read(trace).details]
    assert any(re.match(r"Outside the training loop: start-up .*import ", text) for text in texts)


def test_an_actor_critic_of_eager_keras(
    traced: TracedPython, directory: str, tmp_path: Path
) -> None:
    need("tensorflow")
    read = run(traced, directory, tmp_path, "keras_actor_critic", 8)
    by_hand = {_GROUPS.get(name, name): ns for name, ns in read["total"].items()}
    with rls.load(directory) as trace:
        check_sentence(trace, max(by_hand, key=lambda name: by_hand[name]), read["loop"])
        found = group_times(trace)
        assert {name: found[name] for name in by_hand} == {
            name: pytest.approx(ns, rel=0.1) for name, ns in by_hand.items()
        }


def test_a_q_network_of_jax_whose_compilation_takes_longest(
    traced: TracedPython, directory: str, tmp_path: Path
) -> None:
    """Its functions are compiled by their first calls, with which the loop begins."""
    need("jax")
    read = run(traced, directory, tmp_path, "dqn_jax", 600)
    warm_up = read["first"]["warm-up"]
    assert warm_up > sum(read["total"].values())
    with rls.load(directory) as trace:
        check_sentence(trace, "compilation", read["loop"])
        found = group_times(trace)
        assert found["compilation"] == pytest.approx(warm_up, rel=0.15)
        assert {"compiled:act", "compiled:update", "simulation"} <= found.keys()
