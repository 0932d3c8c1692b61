"""The first sentence about programs of eager Keras and of JAX, which nobody annotated.

The programs are those of the benchmark; their stopwatch stands in the place of annotations.
"""

from __future__ import annotations

import json
import re
import statistics
from pathlib import Path
from typing import Any

import pytest
from support.process.installed import need
from support.process.recorded_child import ROOT
from support.process.traced_python import TracedPython

import rlscope as rls
from rlscope.analysis import coverage, groups, operations
from rlscope.opening import Trace
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
    expected = r"(The training loop completed only .* To judge it, .*\. )?"
    expected += rf"{title} takes [0-9.]+ % of the training loop: {time} of {span}[.,]"
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
    """Its functions are compiled by their first calls, which are no share of the loop."""
    need("jax")
    read = run(traced, directory, tmp_path, "dqn_jax", 600)
    warm_up = read["first"]["warm-up"]
    assert warm_up > sum(read["total"].values())
    with rls.load(directory) as trace:
        (facts,) = coverage.coverage(trace).to_dicts()
        assert facts["span_ns"] == pytest.approx(read["loop"] - warm_up, rel=0.1)
        assert {"inference", "learning", "simulation"} <= group_times(trace).keys()
        rows = operations.around_loop(trace).to_dicts()
    found = {row["stage"]: row["duration_ns"] for row in rows if row["operation"] == "compilation"}
    assert found.keys() <= {"start-up", "warm-up"}
    # Making the network compiles, too.
    assert sum(found.values()) > 0.85 * warm_up


# DQN with Keras's own functions of a batch; a stopwatch around each has all calls one by one.
_KERAS_DQN = """
import collections, json, os, random, sys, time, warnings
os.environ["KERAS_BACKEND"] = sys.argv[1]
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"
warnings.simplefilter("ignore")
import gymnasium, keras, numpy

times = collections.defaultdict(list)

def timed(name, function, *arguments):
    start = time.perf_counter_ns()
    found = function(*arguments)
    times[name].append(time.perf_counter_ns() - start)
    return found

def network():
    layers = [keras.layers.Dense(128, activation="relu") for _ in range(2)]
    model = keras.Sequential([keras.Input((4,)), *layers, keras.layers.Dense(2)])
    model.compile(optimizer=keras.optimizers.Adam(1e-3), loss="mse")
    return model

env = gymnasium.make("CartPole-v1")
model, target = network(), network()
memory = []
obs, _ = timed("simulation", env.reset)
for step in range(150):
    values = timed("inference", model.predict_on_batch, obs[None])
    action = int(numpy.argmax(values[0]))
    after, reward, ended, cut, _ = timed("simulation", env.step, action)
    memory.append((obs, action, reward, after, ended))
    obs = timed("simulation", env.reset)[0] if ended or cut else after
    if step >= 32 and step % 2 == 0:
        seen, actions, rewards, later, last = map(numpy.array, zip(*random.sample(memory, 32)))
        best = timed("target", target.predict_on_batch, later).max(1)
        wanted = timed("target", model.predict_on_batch, seen)
        wanted[numpy.arange(32), actions] = rewards + 0.99 * best * (1 - last)
        timed("backprop", model.train_on_batch, seen, wanted)
print(json.dumps(times))
"""


def run_keras_dqn(
    traced: TracedPython, directory: str, folder: Path, backend: str
) -> dict[str, list[int]]:
    """Nanoseconds of each call, by what it is for."""
    need("tensorflow")
    need(backend)
    script = folder / "train.py"
    script.write_text(_KERAS_DQN)
    command = ("-o", directory, traced.python, str(script), backend)
    done = traced.run(*command, cwd=folder, timeout=400)
    assert done.returncode == 0, done.stderr
    times: dict[str, list[int]] = json.loads(done.stdout.splitlines()[-1])
    return times


@pytest.mark.parametrize("backend", ["jax", "tensorflow", "torch"])
def test_a_dqn_of_keras(traced: TracedPython, directory: str, tmp_path: Path, backend: str) -> None:
    """Whatever Keras compiles: its own methods of models are inference and updates, as a whole."""
    times = run_keras_dqn(traced, directory, tmp_path, backend)
    with rls.load(directory) as trace:
        groups = group_times(trace)
        # On PyTorch both take about as long.
        largest = max(("inference", "learning"), key=lambda name: groups[name])
        assert headline.read(trace).sentence.startswith(f"{largest.capitalize()} takes ")
        assert "compilation" not in groups
        found = _medians(trace)
    read = {name: statistics.median(each) for name, each in times.items()}
    assert {name: found[name] for name in ("simulation", "inference", "update")} == {
        "simulation": pytest.approx(read["simulation"], rel=0.1),
        "inference": pytest.approx(read["inference"], rel=0.2),
        "update": pytest.approx(read["backprop"], rel=0.1),
    }
    # The values that the update is given have no gradients.
    assert found["backprop"] == pytest.approx(read["target"], rel=0.2)


def _medians(trace: Trace) -> dict[str, float]:
    """Length of an instance of each operation, which a busy machine does not move."""
    rows = trace.sql(
        "SELECT path, MEDIAN(duration_ns) FROM operation_instance"
        " JOIN operation USING (operation_id) GROUP BY ALL"
    )
    return {path: float(ns) for path, ns in rows}
