"""Automatic operations of PyTorch, and that PyTorch does not notice."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from support.process.automatic_records import instances, read_track
from support.process.forked_programs import record_forks
from support.process.recorded_child import ROOT, Recorded, environment, read, record

pytest.importorskip("torch")

LOOP = """
import warnings
warnings.simplefilter("ignore")  # an array in a list
import threading
import rlscope.auto
rlscope.auto.begin()
import gymnasium
import torch
from torch import nn

class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))

    def forward(self, x):
        return self.body(x)

agent, other = Agent(), Agent()
optimizer = torch.optim.Adam(agent.parameters())
env = gymnasium.make("CartPole-v1")
x = torch.zeros(4)

def learn(loss):
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(agent.parameters(), 1.0)
    optimizer.step()

def argmax(x):
    with torch.no_grad():
        return agent(x).argmax()

def total(x):
    return agent(x).sum()

def target(x):
    with torch.no_grad():
        y = agent(x)
    return (agent(x) - y).sum()

def back(x):
    agent(x).sum().backward()

def run(program):
    obs, _ = env.reset(seed=1)
    exec(program, globals() | {"obs": obs})

def in_thread(program):
    thread = threading.Thread(target=run, args=[program])
    thread.start()
    thread.join()
"""

S, I, B, T, A = "simulation", "inference", "backprop", "target", "advantage"  # noqa: E741
C = "compilation"

# The update goes on behind what interrupts it, if that is a part of it.
_LEARN_AND_SAVE = "learn(agent(x).sum())\ntorch.save(x, '/dev/null')\n"
CHANGES = {
    f"{_LEARN_AND_SAVE}{change}\nenv.step(0)": [S, B, "saving", *[B] * is_part, S]
    for change, is_part in {
        "for each in other.parameters(): each.data.mul_(0.5)": True,
        "for i in range(3): other.body[0].bias.data.mul_(0.5)": False,
        "with torch.no_grad():\n for each in other.parameters(): each.lerp_(each, 0.1)": True,
        "other.load_state_dict(agent.state_dict())": True,
        "torch._foreach_mul_([each.data for each in other.parameters()], 0.5)": True,
        "torch._foreach_mul_([other.body[0].bias.data], 0.5)": False,
    }.items()
}
PROGRAMS = {
    **CHANGES,
    "env.step(0)\ntorch.save(x, '/dev/null')\nenv.step(0)": [S, S, "saving", S],
    "import pickle\npickle.dump(x, open('/dev/null', 'wb'))\nenv.step(0)": [S, "saving", S],
    "import io, pickle\npickle.dump(x, io.BytesIO())\nenv.step(0)": [S, S],
    "import io, pickle\npickle.loads(pickle.dumps(x))\ntorch.save(x, f=io.BytesIO())": [S],
    "with torch.no_grad(): agent(x)\nenv.step(0)": [S, I, S],
    "with torch.inference_mode(): agent(x)\nenv.step(0)": [S, I, S],
    "torch.no_grad()(agent)(x)\nenv.step(0)": [S, I, S],
    "agent(x)\nlearn(agent(x).sum())\nenv.step(0)": [S, B, S],
    "with torch.no_grad(): other(x)\nlearn(agent(x).sum())": [S, T, B],
    "with torch.set_grad_enabled(False): other(x)\nlearn(agent(x).sum())": [S, T, B],
    "loss = agent(x).sum()\nwith torch.no_grad(): other(x)\nlearn(loss)": [S, B, T, B],
    "with torch.no_grad(): agent(x)\nlearn(agent(x).sum())": [S, A, B],
    "with torch.no_grad(): agent.body(x)\nlearn(agent(x).sum())": [S, A, B],
    "loss = agent(x).sum()\nwith torch.no_grad(): agent(x)\nlearn(loss)": [S, B],
    "learn(agent(x).sum())\nwith torch.no_grad(): agent(x)\nlearn(agent(x).sum())": [S, B, B, B],
    "with torch.no_grad(): agent(x)\ny = x.clone().requires_grad_()\ny.sum().backward()": [S, B, B],
    "agent(torch.as_tensor(obs))\nenv.step(0)": [S, I, I, S],
    "agent(torch.asarray(obj=obs))\nenv.step(0)": [S, I, I, S],
    "agent(torch.tensor(obs.tolist()))\nenv.step(0)": [S, I, I, S],
    "agent(torch.tensor(obs.tolist()).float().view(4))\nenv.step(0)": [S, I, I, I, I, S],
    "torch.tensor(obs.tolist())\nagent(x)\nenv.step(0)": [S, I, S],  # not for the forward
    "agent(x + torch.tensor(obs.tolist()))\nenv.step(0)": [S, I, S],
    "y = torch.tensor(obs.tolist())\nlearn(agent(y).sum())": [S, B],
    "agent(torch.from_numpy(obs).float().unsqueeze(0))\nenv.step(0)": [S, I, I, I, I, S],
    "torch.from_numpy(obs.copy())\nagent(torch.from_numpy(obs))\nenv.step(0)": [S, I, I, S],
    "agent(torch.Tensor(obs).to('cpu'))\nenv.step(0)": [S, I, I, I, S],
    "agent(torch.FloatTensor(obs))\nenv.step(0)": [S, I, I, S],
    "agent(torch.tensor(obs, dtype=torch.float64).float())\nenv.step(0)": [S, I, I, I, S],
    "agent(torch.tensor([obs.copy()])[0])\nenv.step(0)": [S, I, S],  # of a copy
    "agent(torch.tensor([obs]).view(4))\nenv.step(0)": [S, I, I, I, S],
    "agent(torch.tensor(obs[None]))\nenv.step(0)": [S, I, I, S],
    "stored = torch.tensor(obs), torch.tensor(1.0)\nagent(torch.tensor(obs))\nenv.step(0)": [
        *[S, I, I, S]
    ],
    "with torch.no_grad(): agent(torch.tensor(obs))\nenv.step(0)": [S, I, S],
    "torch.tensor(obs)\nenv.step(0)": [S, S],
    "torch.tensor(obs)\nlearn(agent(x).sum())\nagent(torch.tensor(obs))\nenv.step(0)": [
        *[S, B, I, I, S]
    ],
    "for _ in range(9): obs = env.step(0)[0]; agent(torch.as_tensor(obs))\nenv.step(0)": [
        *[S, S, *[I, I, S] * 9]
    ],
    "torch.autograd.grad(agent(x).sum(), agent.parameters())": [S, B],
    "torch.autograd.backward(agent(x).sum())\nagent(x)": [S, B, I],
    "for _ in range(2): learn(agent(x).sum())": [S, B, B],
    "compiled = torch.compile(agent, backend='eager')\ncompiled(x)\nenv.step(0)": [S, I, C, I, S],
    "act = torch.compile(argmax, backend='eager')\nact(x)\nenv.step(0)\nact(x)\nenv.step(0)": [
        *[S, I, C, I, S, I, S]
    ],
    "loss = torch.compile(total, backend='eager')\nlearn(loss(x))\nlearn(loss(x))\nenv.step(0)": [
        *[S, B, C, B, B, S]
    ],
    "train = torch.compile(back, backend='eager')\nfor _ in range(2): train(x); optimizer.step()": [
        *[S, B, C, B, B]
    ],
    "loss = torch.compile(total, backend='aot_eager')\nlearn(loss(x))\nlearn(loss(x))": [
        *[S, B, C, B, C, B, B]  # the backward is compiled when it runs first
    ],
    "double = torch.compile(lambda x: x * 2, backend='eager')\ndouble(x)\nenv.step(0)": [S, C, S],
    "both = torch.compile(target, backend='eager')\nlearn(both(x))\nlearn(both(x))": [
        *[S, T, C, T, B, B]  # the second call is known to have gradients when it begins
    ],
    "traced = torch.jit.trace(agent, x)\ntraced(x)\nenv.step(0)": [S, I, S],
    "with torch.no_grad(): x + x\nenv.step(0)": [S, S],
}
"""Each runs in a thread of its own, after a reset of its environment."""


Found = list[tuple[str, float, float]]
"""Name, start and end of each instance of an automatic operation."""


def found_in(recorded: Recorded, process: int, thread: int) -> Found:
    row = recorded.process(process)
    items = recorded.reader.items(row["index"], thread)
    rows = list(zip(items["time_ns"], items["kind"], items["id"], strict=True))
    track = instances(read_track(rows, row["end_ns"], recorded.names(process)))
    return [each for each in track if each[0] != "import"]


def names(found: Found) -> list[str]:
    return [name for name, _, _ in found]


BLOCKS = """
import contextlib, time
env.reset()
@torch.compiler.disable
def wait():
    time.sleep(0.002)
@torch.compile(backend="eager")
def choose(x):
    wait()
    return agent(x).argmax()
def enters(stack):
    stack.enter_context(torch.no_grad())
def enters_itself(stack):
    block = torch.inference_mode()
    block.__enter__()
    stack.callback(block.__exit__, None, None, None)
for enter in (enters, enters_itself):
    for _ in range(20):  # specialised, from the eighth call on
        with contextlib.ExitStack() as stack:
            enter(stack)
            time.sleep(0.002)
            agent(x)
        env.reset()
for _ in range(5):
    choose(x)
    env.reset()
"""

OUTPUTS = """
import time
import numpy
env.reset()
for _ in range(20):
    with torch.no_grad():
        y = agent(x)
    time.sleep(0.002)
    numpy.asarray(y)
    y.numpy()
    time.sleep(0.01)
    env.step(0)
"""

SEARCH = """
for _ in range(3):
    for _ in range(4):
        with torch.no_grad():
            y = agent(x)
        {conversion}
    learn(agent(x).sum())
"""

TESTED = """
import time
import numpy
states = torch.zeros(8, 4)
obs, _ = env.reset(seed=1)
for number in range(20):
    for _ in range(3):
{acting}
        obs = env.step(int(y.argmax()))[0]
    old = agent(states)
    learn(old.sum())
    new = agent(states)
    kl = (new - old).mean().item()
    time.sleep(0.02)
"""
ACTING = {
    "tensor": "        y = agent(torch.tensor(numpy.array([obs])))",
    "changed": "        y = agent(torch.tensor(numpy.array([obs])).float().view(1, 4))",
    "observation": "        y = agent(torch.as_tensor(obs))",
    "block": "        with torch.no_grad():\n            y = agent(torch.as_tensor(obs))",
    "made in block": """
        with torch.no_grad():
            y = agent(torch.as_tensor(numpy.array([obs])).to('cpu'))
""",
    "not converted": "        y = agent(states[:1])",
}
"""How each program acts. Only the last one does not act on conversions."""


CONVERSIONS = {
    "y.numpy()": True,
    "y.tolist()": True,
    "y.sum().item()": True,
    "int(y.argmax())": True,
    "float(y.sum())": True,
    "y.sum()": False,
}
"""Each with whether it makes the forward before it inference."""

ODD = """
read = []

class Odd:
    def __getattribute__(self, name):
        read.append(name)
        return object.__getattribute__(self, name)

class Same(nn.Module):
    def forward(self, given):
        return given

same = Same()
for _ in range(8):
    same(Odd())
agent(x).sum().backward()
assert read == [], read
"""

CHILDREN = {
    "calls": "".join(f"in_thread({program!r})\n" for program in PROGRAMS),
    "blocks": BLOCKS,
    "outputs": OUTPUTS,
    "odd": ODD,
    **{each: SEARCH.format(conversion=each) for each in CONVERSIONS},
    **{each: TESTED.format(acting=acting) for each, acting in ACTING.items()},
}


@pytest.fixture(scope="module")
def children(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Found]]:
    """What each thread of each of CHILDREN has: they are forks of one process, which imports
    PyTorch for all."""
    directory = str(tmp_path_factory.mktemp("children") / "run")
    recorded, _ = record_forks(directory, LOOP, CHILDREN, ends="os._exit(0)", timeout=600)
    return {
        name: [found_in(recorded, number, thread) for thread in recorded.threads(number)]
        for number, name in enumerate(CHILDREN, 1)
    }


def test_what_calls_of_pytorch_are(children: dict[str, list[Found]]) -> None:
    tracks = [names(found) for found in children["calls"] if found]
    assert dict(zip(PROGRAMS, tracks, strict=True)) == PROGRAMS


def test_blocks_count_from_their_entry(children: dict[str, list[Found]]) -> None:
    """Those entered without a `with`, and compiled functions."""
    durations = [end - start for name, start, end in children["blocks"][0] if name == I]
    # Compiling interrupts the first call of `choose` before and behind its wait.
    assert len(durations) == 45 + 2
    assert sorted(durations)[2] >= 2_000_000


def test_inference_ends_with_the_last_conversion(children: dict[str, list[Found]]) -> None:
    found = [each for each in children["outputs"][0] if each[0] in (I, S)]
    assert names(found) == [S, *[I, S] * 20]
    for (_, start, end), (_, step, _) in zip(found[1::2], found[2::2], strict=True):
        assert end - start >= 2_000_000
        assert step - end >= 10_000_000


@pytest.mark.parametrize("conversion", CONVERSIONS)
def test_what_a_program_without_an_environment_converts_was_inference(
    children: dict[str, list[Found]], conversion: str
) -> None:
    found = names(children[conversion][0])
    # Of four forwards in a row, the first two belong together.
    assert found.count(I) == (4 + 3 + 3 if CONVERSIONS[conversion] else 0)
    assert found.count(B) >= 3


@pytest.mark.parametrize("acting", ACTING)
def test_statistics_after_the_step_are_a_part_of_the_update(
    children: dict[str, list[Found]], acting: str
) -> None:
    """As in ptan's examples of policy gradients."""
    long = [name for name, start, end in children[acting][0] if end - start >= 20_000_000]
    # Nothing follows the last one. Another operation may last as long on a busy machine.
    name, other = (I, B) if acting == "not converted" else (B, I)
    assert long.count(name) >= 19
    assert long.count(other) <= 5


def test_no_code_of_what_a_module_is_given_or_returns_runs(
    children: dict[str, list[Found]],
) -> None:
    """The child says so itself."""
    assert B in names(children["odd"][0])


def test_hooks_of_libraries_that_are_imported_already(directory: str) -> None:
    before = LOOP.replace("rlscope.auto.begin()", "") + "learn(agent(x).sum())\n"
    recorded = record(
        directory, before + "rlscope.auto.begin()\nlearn(agent(x).sum())\nenv.reset()"
    )
    assert names(found_in(recorded, 0, recorded.threads()[0])) == [B, S]


def test_pytorch_does_not_notice(directory: str, tmp_path: Path) -> None:
    """Losses to the last bit, compilers, scripts, pickles: see torch_habits.py. Code of
    TorchInductor is compared in test_torch_unchanged.py."""
    from rlscope import _runtime
    from rlscope.record.profile import prepare_directory, traced_environment

    program = [sys.executable, str(ROOT / "tests" / "support" / "process" / "torch_habits.py")]
    environ = environment()
    drainer = _runtime.Drainer(prepare_directory(directory))
    drainer.start()
    try:
        recorded = {**environ, **traced_environment(directory, environ)}
        watched = subprocess.run(
            [*program, "--auto"], env=recorded, capture_output=True, text=True, check=False
        )
    finally:
        drainer.stop()
    alone = subprocess.run(program, env=environ, capture_output=True, text=True, check=False)
    assert alone.returncode == 0, alone.stderr
    assert watched.returncode == 0, watched.stderr
    assert watched.stdout.splitlines() == alone.stdout.splitlines()
    trace = read(directory)
    kinds = trace.reader.items(trace.process()["index"], trace.threads()[0])["kind"]
    assert (kinds == 20).sum() > 100
