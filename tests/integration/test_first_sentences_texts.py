"""The first sentence about programs without an environment of a library, which nobody annotated:
they write texts, or have an environment of their own.

Each program reads the clock around the parts that operations are found for.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from support.files.facts import assert_says
from support.process import forked_scripts
from support.process.installed import need
from support.process.traced_python import TracedPython

import rlscope as rls
from rlscope.analysis import operations
from rlscope.report import headline

pytestmark = pytest.mark.usefixtures("clean_environment")

STOPWATCH = """
import json, sys, time
spent, clock = {}, time.monotonic_ns()

def lap(name=None):
    global clock
    now = time.monotonic_ns()
    if name:
        spent[name] = spent.get(name, 0) + now - clock
    clock = time.monotonic_ns()
"""

# A policy that writes texts, a frozen one, and a model that gives each text a reward.
TEXTS = """
import torch
from torch import nn
torch.set_num_threads(1)
torch.manual_seed(0)

# What the model goes on with: the whole text, a cache, what it returned; or its parts are called.
how = sys.argv[1]

class Model(nn.Module):
    def __init__(self, outputs=64):
        super().__init__()
        self.embed, self.body = nn.Embedding(64, 64), nn.GRU(64, 64, batch_first=True)
        self.head = nn.Linear(64, outputs)

    def forward(self, tokens, cache=None):
        state = cache.get("state") if isinstance(cache, dict) else cache
        found, state = self.body(self.embed(tokens), state)
        if isinstance(cache, dict):
            cache["state"] = state
        return (self.head(found), state) if how == "returned" else self.head(found)

class Reward(nn.Module):
    def __init__(self):
        super().__init__()
        self.model = Model(1)

    def forward(self, tokens):
        return first(self.model(tokens))[:, -1]

def first(found):
    return found[0] if how == "returned" else found

policy, frozen, reward = Model(), Model(), Reward()
optimizer = torch.optim.AdamW(policy.parameters())
for iteration in range(24):
    lap()
    with torch.no_grad():
        tokens = torch.randint(0, 64, (16, 4))
        given, cache = tokens, {} if how in ("cache", "parts") else None
        ask = policy.forward if how == "parts" else policy
        for _ in range(32):
            found = ask(given) if how == "whole" else ask(given, cache)
            if how == "returned":
                found, cache = found
            chosen = torch.multinomial(found[:, -1].softmax(-1), 1)
            tokens = torch.cat([tokens, chosen], 1)
            given = tokens if how == "whole" else chosen
    lap("generation")
    with torch.no_grad():
        rewards = reward(tokens)
        lap("reward")
        before = first(frozen(tokens)).log_softmax(-1)
    lap("reference")
    logits = first(policy(tokens)).log_softmax(-1)
    loss = -(logits * rewards[:, :, None]).mean() + (logits - before).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    lap("backprop")
print(json.dumps(spent))
"""

# Acting has gradients, too.
OWN_ENVIRONMENT = """
import torch
from torch import nn
torch.set_num_threads(1)

class Market:
    def reset(self):
        self.time = 0
        return [0.0] * 4

    def step(self, action):
        self.time += 1
        prices = 0
        for trade in range(3000):
            prices += trade * action
        return [float(prices % 7)] * 4, 1.0, self.time >= 20

net = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 2))
optimizer = torch.optim.Adam(net.parameters())
market = Market()
for episode in range(60):
    if episode == 1:  # before the first forward rlscope looks for environments
        spent.clear()
    lap()
    seen, over, batch = market.reset(), False, []
    lap("simulation")
    while not over:
        action = int(net(torch.tensor(seen)).argmax())
        lap("inference")
        seen, reward, over = market.step(action)
        lap("simulation")
        batch.append(seen)
    lap()
    loss = net(torch.tensor(batch)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    lap("backprop")
print(json.dumps(spent))
"""
# Pairs of texts from a data set, and a frozen model to compare with: nothing is generated.
PREFERENCES = """
import copy, torch
from torch import nn
torch.set_num_threads(1)

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.body = nn.Embedding(64, 96), nn.GRU(96, 96, batch_first=True)
        self.head = nn.Linear(96, 64)

    def forward(self, tokens):
        return self.head(self.body(self.embed(tokens))[0])

policy = Model()
frozen = copy.deepcopy(policy)
optimizer = torch.optim.AdamW(policy.parameters())
for iteration in range(40):
    tokens = torch.randint(0, 64, (32, 24))
    lap()
    with torch.no_grad():
        if "parts" in sys.argv:
            before = torch.cat([frozen.forward(some) for some in tokens.split(5)]).log_softmax(-1)
        else:
            before = frozen(tokens).log_softmax(-1)
    lap("reference")
    loss = (policy(tokens).log_softmax(-1) - before).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    lap("backprop")
print(json.dumps(spent))
"""

WRITES = ("whole", "cache", "returned", "parts")
LEARNS = ("whole", "parts")
_GROUPS = {"backprop": "learning"}
ALLOWED = 0.05
"""A share of the loop's time."""


@pytest.fixture(scope="module")
def written(traced: TracedPython, tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Path]:
    """Folders of the programs, by what they do and how: each has a trace of one process. They are
    forks of one, which imports PyTorch for all."""
    pytest.importorskip("torch")
    folder = tmp_path_factory.mktemp("written")
    texts = {"texts": TEXTS, "preferences": PREFERENCES, "environment": OWN_ENVIRONMENT}
    for name, text in texts.items():
        (folder / f"{name}.py").write_text(STOPWATCH + text)
    programs = {
        **{f"texts-{how}": ("texts", how) for how in WRITES},
        **{f"preferences-{how}": ("preferences", how) for how in LEARNS},
        "environment": ("environment",),
    }
    commands = {
        program: (str(folder / f"{name}.py"), *arguments)
        for program, (name, *arguments) in programs.items()
    }
    python = traced.command("-o", str(folder / "run"), traced.python)
    modules = ["torch", forked_scripts.COMPILER]
    ended = forked_scripts.run(python, folder, commands, modules=modules)
    for program, child in ended.items():
        assert child.code == 0, child.stderr
        forked_scripts.alone(folder / "run", child.pid, folder / program / "run")
    return {program: folder / program for program in programs}


def check(folder: Path) -> set[str]:
    """Compares the time in each operation of a program, and the first sentence, with its stopwatch.
    Returns the operations."""
    read = json.loads((folder / "stdout").read_text().splitlines()[-1])
    with rls.load(folder / "run") as trace:
        rows = trace.sql(
            "SELECT operation, SUM(duration_ns)::BIGINT FROM breakdown"
            " WHERE stage = 'loop' GROUP BY ALL"
        )
        found = dict(tuple(row) for row in rows)
        sentence = headline.read(trace).sentence
    assert found.keys() <= {*read, "(none)", "import"}
    allowed = ALLOWED * sum(read.values())
    for name, time in read.items():
        assert found[name] == pytest.approx(time, abs=allowed), name
    # Either may be the largest where two are as long.
    first = max(read.values())
    largest = [
        _GROUPS.get(name, name) for name, time in read.items() if first - time <= 2 * allowed
    ]
    assert sentence.startswith(tuple(f"{name.capitalize()} takes " for name in largest)), sentence
    return set(read)


@pytest.mark.parametrize("how", WRITES)
def test_a_program_that_writes_texts(written: Mapping[str, Path], how: str) -> None:
    folder = written[f"texts-{how}"]
    assert check(folder) == {"generation", "reward", "reference", "backprop"}
    says_tokens(folder / "run", tokens=24 * 32 * 16, generations=24)


@pytest.mark.parametrize("how", LEARNS)
def test_a_program_that_learns_from_given_texts(written: Mapping[str, Path], how: str) -> None:
    assert check(written[f"preferences-{how}"]) == {"reference", "backprop"}


def says_tokens(run: Path, *, tokens: int, generations: int) -> None:
    """Its tokens, and the sentence about them, beside the time of its generations."""
    with rls.load(run) as trace:
        (row,) = operations.generations(trace, rows=9).to_dicts()
        whole_ns = trace.sql(
            "SELECT SUM(duration_ns)::BIGINT AS ns FROM breakdown WHERE operation = 'generation'"
        )["ns"][0]
        texts = [detail.text for detail in headline.read(trace).details]
    assert row == {**row, "tokens": tokens, "generations": generations, "duration_ns": whole_ns}
    (said,) = (text for text in texts if text.startswith("Models wrote"))
    assert_says(
        said,
        *(f"{tokens:,} tokens", f"{generations} generations", f"{tokens // generations:,} in each"),
        f"{tokens * 1e9 / whole_ns:,.1f} a second",
    )


TRANSFORMERS = """
import torch
from transformers import GPT2Config, GPT2LMHeadModel
torch.manual_seed(0)
config = GPT2Config(vocab_size=64, n_positions=64, n_embd=16, n_layer=1, n_head=2)
model = GPT2LMHeadModel(config)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
prompts = torch.randint(3, 64, (3, 7))
for number in range(4):
    texts = model.generate(
        prompts, do_sample=True, max_new_tokens=11, min_new_tokens=11, pad_token_id=0,
        num_return_sequences=2, return_dict_in_generate=number % 2 == 1,
    )
    texts = getattr(texts, "sequences", texts)
    optimizer.zero_grad()
    model(input_ids=texts, labels=texts).loss.backward()
    optimizer.step()
"""


def test_tokens_of_transformers(traced: TracedPython, tmp_path: Path) -> None:
    need("transformers")
    (tmp_path / "train.py").write_text(TRANSFORMERS)
    done = traced.run("-o", "run", traced.python, "train.py", cwd=tmp_path, timeout=240)
    assert done.returncode == 0, done.stderr
    says_tokens(tmp_path / "run", tokens=4 * 6 * 11, generations=4)


def test_an_environment_of_the_program(written: Mapping[str, Path]) -> None:
    assert check(written["environment"]) == {"simulation", "inference", "backprop"}
