"""The first sentence about PPO of RLlib, which nobody annotated.

Subclasses of its runner and its learner read the clock around what the sentence is about.
"""

from __future__ import annotations

import json
import re
import statistics
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from support.files.facts import assert_says
from support.process.installed import need
from support.process.traced_python import TracedPython

import rlscope as rls
from rlscope.analysis import coverage, groups
from rlscope.opening import Trace
from rlscope.report import headline, units

pytestmark = pytest.mark.usefixtures("clean_environment")

PPO = """
import json, os, sys, time
import ray
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.algorithms.ppo.torch.ppo_torch_learner import PPOTorchLearner
from ray.rllib.env.single_agent_env_runner import SingleAgentEnvRunner

RUNNERS, FOLDER = int(sys.argv[1]), sys.argv[2]

def timed(function, name, sums):
    def call(*args, **named):
        began = time.monotonic_ns()
        try:
            return function(*args, **named)
        finally:
            took = time.monotonic_ns() - began
            sums[name] = sums.get(name, 0) + took
            sums.setdefault(f"each {name}", []).append(took)
            sums.setdefault(f"{name} began", began)
            sums[f"{name} ended"] = time.monotonic_ns()
    return call

class Runner(SingleAgentEnvRunner):
    def make_env(self):
        super().make_env()
        self.sums = {"pid": os.getpid()}
        self.env.step = timed(self.env.step, "simulation", self.sums)
        self.env.reset = timed(self.env.reset, "simulation", self.sums)

    def sample(self, **named):
        result = timed(super().sample, "sample", self.sums)(**named)
        with open(f"{FOLDER}/runner{self.worker_index}.json", "w") as file:
            json.dump(self.sums, file)
        return result

class Learner(PPOTorchLearner):
    def _update(self, batch):  # one minibatch: forward, loss, backward, optimizer step
        return timed(super()._update, "minibatches", self.sums)(batch)

    def _make_batch_if_necessary(self, training_data):  # by its connectors, mostly
        return timed(super()._make_batch_if_necessary, "batch", self.sums)(training_data)

    def update(self, *args, **named):
        self.sums = getattr(self, "sums", {"pid": os.getpid()})
        result = timed(super().update, "update", self.sums)(*args, **named)
        with open(f"{FOLDER}/learner.json", "w") as file:
            json.dump(self.sums, file)
        return result

if __name__ == "__main__":
    config = (
        PPOConfig()
        .environment("CartPole-v1")
        .env_runners(num_env_runners=RUNNERS, env_runner_cls=Runner)
        .learners(num_learners=0, learner_class=Learner)
        .training(train_batch_size_per_learner=500, minibatch_size=125, num_epochs=4)
    )
    ray.init(num_cpus=2, include_dashboard=False)
    algorithm = config.build_algo()
    for iteration in range(3):
        algorithm.train()
    algorithm.stop()
"""


class Run(NamedTuple):
    """What the clocks of the program say, in nanoseconds."""

    learner: dict[str, Any]
    runner: dict[str, Any]


@pytest.fixture(autouse=True)
def ray_without_token(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ray would write a token into the home directory."""
    need("torch", "ray", "tree")  # which RLlib needs and Ray does not
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")


def record(traced: TracedPython, directory: str, folder: Path, runners: int) -> Run:
    script = folder / "train.py"
    script.write_text(PPO)
    command = [traced.python, str(script), str(runners), str(folder)]
    done = traced.run("-o", directory, *command, cwd=folder, timeout=400)
    assert done.returncode == 0, done.stderr
    runner = f"runner{min(runners, 1)}.json"
    return Run(*(json.loads((folder / name).read_text()) for name in ("learner.json", runner)))


def check_sentence(trace: Trace, of: str) -> dict[str, int]:
    """One of the sentences names the largest group, with its time and the loop's. Returns the times
    by group."""
    (facts,) = coverage.coverage(trace).to_dicts()
    times = groups.group_time(trace, waiting=facts["looping_processes"] > 1).to_dicts()
    sums = {row["group"]: row["group_ns"] for row in times}
    parts = ("simulation", "inference", "learning", "between operations")
    largest = max(parts, key=lambda group: sums[group])
    found = headline.read(trace)
    sentence = " ".join([found.sentence, *(each.text for each in found.details)])
    assert re.search(
        rf"(^|\. ){largest.capitalize()} takes [0-9.]+ % of {of}: "
        rf"{units.duration(sums[largest])} of {units.duration(facts['span_ns'])}[.,]",
        sentence,
    ), sentence
    return {**sums, "loop": facts["span_ns"]}


def check_each(trace: Trace, operation: str, read: list[int]) -> None:
    """Compares each call with the program's clock around it, by the median of the ratios.

    A busy machine adds a thousand microseconds between the two clocks of some calls. The median
    time on one clock may then be another call's than on the other: RLlib's minibatches take from
    3 ms to 10 ms.
    """
    rows = trace.sql(
        "SELECT duration_ns FROM operation_instance JOIN operation USING (operation_id)"
        " WHERE path = $operation ORDER BY start_ns",
        {"operation": operation},
    )
    found = [duration_ns for (duration_ns,) in rows]
    assert len(found) == len(read)
    ratios = [mine / theirs for mine, theirs in zip(found, read, strict=True)]
    assert statistics.median(ratios) == pytest.approx(1, abs=0.1)


def test_ppo_with_one_runner(traced: TracedPython, directory: str, tmp_path: Path) -> None:
    run = record(traced, directory, tmp_path, 1)
    with rls.load(directory) as trace:
        found = check_sentence(trace, "the training loops of 2 processes together")
        check_each(trace, "simulation", run.runner["each simulation"])
        check_each(trace, "backprop", run.learner["each minibatches"])
        check_each(trace, "update", run.learner["each batch"])
        # Each waits while the other works.
        working = found["loop"] - found["waiting between operations"]
        sampled, updated = run.runner["sample"], run.learner["update"]
        whole = run.learner["update ended"] - run.runner["sample began"]
        assert 0.9 * (sampled + updated) <= working <= 1.1 * whole
        waited = units.duration(found["waiting between operations"])
        texts = [each.text for each in headline.read(trace).details]
        (together,) = (t for t in texts if " takes " in t and "processes together: " in t)
        assert_says(together[together.index("etween operations") :], "wait", waited)
        rows = trace.sql("SELECT name, role, os_pid FROM process").to_dicts()
        # "Runner 0" and so on, where a busy machine made Ray start the runner anew.
        roles = {row["name"].split()[0]: row["role"] for row in rows if row["role"] != "helper"}
        assert roles == {"train.py": "main", "Runner": "actor"}
        texts = [each.text for each in headline.read(trace).details]
        assert any(re.fullmatch(r"Shares leave out \d+ helpers; see .*", t) for t in texts)


def test_ppo_whose_runner_is_in_the_program(
    traced: TracedPython, directory: str, tmp_path: Path
) -> None:
    run = record(traced, directory, tmp_path, 0)
    with rls.load(directory) as trace:
        found = check_sentence(trace, "the training loop")
        loop = run.learner["update ended"] - run.runner["sample began"]
        assert found["loop"] == pytest.approx(loop, rel=0.1)
        check_each(trace, "simulation", run.runner["each simulation"])
        check_each(trace, "backprop", run.learner["each minibatches"])
        check_each(trace, "update", run.learner["each batch"])
        roles = {role for (role,) in trace.sql("SELECT role FROM process")}
        assert roles == {"main", "helper"}
        (iterations,) = trace.sql("SELECT COUNT(*) FROM iteration").to_dicts()[0].values()
        assert iterations == 3
        assert re.match(r".* (only|in) 2 iterations", headline.read(trace).sentence)
