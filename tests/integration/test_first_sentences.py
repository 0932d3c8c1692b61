"""The first sentence about programs of many processes, which nobody annotated.

Each program reads the clock around what the sentence is about.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from support.process.traced_python import TracedPython, untraced_environment

import rlscope as rls
from rlscope.analysis import coverage, groups
from rlscope.opening import Trace
from rlscope.report import headline, units

pytestmark = pytest.mark.usefixtures("clean_environment")

A2C = """
import json, multiprocessing, sys, time
from stable_baselines3 import A2C
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.vec_env import SubprocVecEnv

STEPPED = 0

class Timed(SubprocVecEnv):
    def step(self, actions):
        global STEPPED
        began = time.monotonic_ns()
        try:
            return super().step(actions)
        finally:
            STEPPED += time.monotonic_ns() - began

if __name__ == "__main__":
    multiprocessing.set_forkserver_preload(["stable_baselines3"])
    env = make_vec_env("CartPole-v1", n_envs=2, vec_env_cls=Timed,
                       vec_env_kwargs={"start_method": sys.argv[1]})
    model = A2C("MlpPolicy", env, device="cpu")
    began = time.monotonic_ns()
    model.learn(total_timesteps=1_000)
    print(json.dumps({"simulation": STEPPED, "loop": time.monotonic_ns() - began}))
    env.close()
"""

RANKS = """
import json, os, sys, time
import gymnasium, torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank = dist.get_rank()
torch.set_num_threads(1)
env = gymnasium.make("CartPole-v1")
net = torch.nn.Sequential(torch.nn.Linear(4, 256), torch.nn.Tanh(), torch.nn.Linear(256, 2))
net = torch.nn.parallel.DistributedDataParallel(net)
optimizer = torch.optim.Adam(net.parameters())
stepped = 0
began = time.monotonic_ns()
observation, _ = env.reset(seed=rank)
for iteration in range(60):
    observations = []
    for step in range(32):
        with torch.no_grad():
            logits = net.module(torch.as_tensor(observation))
            action = int(logits.argmax())
        before = time.monotonic_ns()
        observation, _, ended, cut, _ = env.step(action)
        if ended or cut:
            observation, _ = env.reset()
        stepped += time.monotonic_ns() - before
        observations.append(torch.as_tensor(observation))
    loss = net(torch.stack(observations)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
with open(f"rank{rank}.json", "w") as file:
    json.dump({"simulation": stepped, "loop": time.monotonic_ns() - began}, file)
dist.destroy_process_group()
sys.path.insert(0, os.environ["TESTS"])
from support.process import gloo_threads
gloo_threads.wait_until_idle()
"""

C51 = """
import json, random, time
import gymnasium, numpy, torch

class Network(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("atoms", torch.linspace(0, 100, 51))
        self.layers = torch.nn.Sequential(torch.nn.Linear(4, 120), torch.nn.ReLU(),
                                          torch.nn.Linear(120, 84), torch.nn.ReLU(),
                                          torch.nn.Linear(84, 2 * 51))
    def act(self, x, action=None):
        shares = self.layers(x).view(len(x), 2, 51).softmax(dim=2)
        if action is None:
            action = (shares * self.atoms).sum(2).argmax(1)
        return action, shares[torch.arange(len(x)), action]

torch.set_num_threads(1)
env = gymnasium.make("CartPole-v1")
network, target = Network(), Network()
target.load_state_dict(network.state_dict())
optimizer = torch.optim.Adam(network.parameters(), lr=2.5e-4)
memory, spent = [], {"simulation": 0, "inference": 0, "learning": 0}
began = clock = time.monotonic_ns()

def lap(name):
    global clock
    now = time.monotonic_ns()
    if name:
        spent[name] += now - clock
    clock = now

state, _ = env.reset(seed=1)
for step in range(2_000):
    lap(None)
    action, _ = network.act(torch.Tensor(state)[None])
    action = int(action)
    lap("inference")
    after, reward, ended, cut, _ = env.step(action)
    lap("simulation")
    memory.append((state, action, reward, after, ended))
    state = after
    if ended or cut:
        lap(None)
        state, _ = env.reset()
        lap("simulation")
    if step < 200 or step % 4:
        continue
    rows = random.sample(memory, 64)
    states, actions, rewards, afters, ends = (
        torch.as_tensor(numpy.array(column)) for column in zip(*rows))
    lap(None)
    with torch.no_grad():
        _, following = target.act(afters)
        wanted = rewards[:, None] + 0.99 * target.atoms * ~ends[:, None]
        place = (wanted.clamp(0, 100) / 2).float()
        low, high = place.floor().long().clamp(max=49), place.floor().long().clamp(max=49) + 1
        shares = torch.zeros_like(following)
        for row in range(len(rows)):
            shares[row].index_add_(0, low[row], (high - place)[row] * following[row])
            shares[row].index_add_(0, high[row], (place - low)[row] * following[row])
    _, found = network.act(states, actions)
    loss = -(shares * found.clamp(1e-5, 1 - 1e-5).log()).sum(1).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    lap("learning")
print(json.dumps({**spent, "loop": time.monotonic_ns() - began}))
"""


def _write(folder: Path, program: str) -> str:
    script = folder / "train.py"
    script.write_text(program)
    return str(script)


def _check_sentence(trace: Trace, of: str) -> dict[str, int]:
    """The sentence names the largest group with its time and the loop's; times by group."""
    times = groups.group_time(trace).to_dicts()
    sums = {row["group"]: row["group_ns"] for row in times}
    (facts,) = coverage.coverage(trace).to_dicts()
    largest = max(sums, key=lambda group: sums[group])
    sentence = headline.read(trace).sentence
    assert re.match(
        rf"{largest.capitalize()} takes [0-9.]+ % of {of}: {units.duration(sums[largest])} of "
        rf"{units.duration(facts['span_ns'])}[.,]",
        sentence,
    ), sentence
    assert sums["simulation"] + sums["inference"] + sums["learning"] > 0.7 * facts["span_ns"]
    return {**sums, "loop": facts["span_ns"]}


@pytest.mark.parametrize("method", ["fork", "forkserver"])
def test_a2c_with_a_vector_of_subprocesses(
    traced: TracedPython, directory: str, tmp_path: Path, method: str
) -> None:
    pytest.importorskip("stable_baselines3")
    done = traced.run(
        "-o", directory, traced.python, _write(tmp_path, A2C), method, cwd=tmp_path, timeout=240
    )
    assert done.returncode == 0, done.stderr
    read = json.loads(done.stdout.splitlines()[-1])
    with rls.load(directory) as trace:
        found = _check_sentence(trace, "the training loop")
        assert found["loop"] == pytest.approx(read["loop"], rel=0.1)
        assert found["simulation"] == pytest.approx(read["simulation"], rel=0.1)
        texts = [each.text for each in headline.read(trace).details]
        assert any(re.match(r"train\.py spends .* in simulation\. ", text) for text in texts)
        (uncounted,) = (text for text in texts if text.startswith("Shares leave out "))
        assert "2 environment workers" in uncounted
        roles = dict(tuple(row) for row in trace.sql("SELECT name, role FROM process"))
        helpers = {name for name, role in roles.items() if role == "helper"}
        assert ("helper" in uncounted) == bool(helpers)
        assert ("fork server" in helpers) == (method == "forkserver")
        workers = {name for name, role in roles.items() if role == "environment worker"}
        assert (roles["train.py"], workers) == ("main", {"env worker 0", "env worker 1"})


def test_ranks_of_torchrun(traced: TracedPython, directory: str, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    script = _write(tmp_path, RANKS)
    command = [traced.python, "-m", "torch.distributed.run", "--nproc-per-node", "2", script]
    env = {**untraced_environment(), "TESTS": str(Path(__file__).parents[1])}
    done = traced.run("-o", directory, *command, cwd=tmp_path, timeout=240, env=env)
    assert done.returncode == 0, done.stderr
    read = [json.loads((tmp_path / f"rank{rank}.json").read_text()) for rank in range(2)]
    with rls.load(directory) as trace:
        found = _check_sentence(trace, "the training loops of 2 processes together")
        assert found["loop"] == pytest.approx(sum(each["loop"] for each in read), rel=0.1)
        stepped = sum(each["simulation"] for each in read)
        assert found["simulation"] == pytest.approx(stepped, rel=0.1)
        roles = dict(tuple(row) for row in trace.sql("SELECT name, role FROM process"))
        assert roles["rank 0"] == roles["rank 1"] == "rank"


def test_c51_learns_most_of_the_time(traced: TracedPython, directory: str, tmp_path: Path) -> None:
    """As much in targets as in backprop, neither of which is the largest part by itself."""
    pytest.importorskip("torch")
    command = [traced.python, _write(tmp_path, C51)]
    done = traced.run("-o", directory, *command, cwd=tmp_path, timeout=240)
    assert done.returncode == 0, done.stderr
    read = json.loads(done.stdout.splitlines()[-1])
    with rls.load(directory) as trace:
        found = _check_sentence(trace, "the training loop")
        operations = {row[0] for row in trace.sql("SELECT DISTINCT operation FROM breakdown")}
    assert {"target", "backprop"} <= operations
    assert max(found, key=lambda name: found[name] * (name != "loop")) == "learning"
    assert found["loop"] == pytest.approx(read["loop"], rel=0.1)
    assert found["learning"] == pytest.approx(read["learning"], rel=0.1)
