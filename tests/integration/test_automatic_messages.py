"""Environments in other processes, which a program reaches by messages of its own."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest
from support.process.counted_forks import operations_of_forks
from support.process.traced_python import TracedPython

import rlscope as rls

pytest.importorskip("torch")
pytestmark = pytest.mark.usefixtures("clean_environment")

# Two workers with an environment each, which nothing but a function steps. 5 steps and an update,
# 10 times; a step is two messages and their answers.
PROGRAM = """
import multiprocessing, os
import torch
from torch import nn
torch.set_num_threads(1)
net = nn.Linear(4, 2)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)

def answer(take, give):
    time = 0.0
    while (message := take()) is not None:
        time += 1
        give([time] * 4)

def learn(loss):
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

def pipes():
    pairs = [multiprocessing.Pipe() for _ in range(2)]
    for _, theirs in pairs:
        start(theirs.recv, theirs.send)
    return [ours for ours, _ in pairs]

def start(*functions):
    process = multiprocessing.Process(target=answer, args=functions, daemon=True)
    process.start()
    workers.append(process)

workers = []
learn(net(torch.zeros(1, 4)).sum())  # imports what PyTorch needs
for text in {texts!r}:
    child = os.fork()
    if child == 0:
        exec(text, globals())
        for worker in workers:
            worker.kill()
        os._exit(0)
    print(child)
    assert os.waitpid(child, 0)[1] == 0
"""
ROUNDS, STEPS = 10, 5
# Three exchanges tell, of which the last one is seen to be one by the message after it.
FOUND = {"simulation": ROUNDS * STEPS - 3, "backprop": ROUNDS}
ACTS = """
ends = pipes()
for _ in range(10):
    seen, outputs = [[0.0] * 4] * 2, []
    for _ in range(5):
        {act}
        for end in ends:
            end.send(0)
        seen = [end.recv() for end in ends]
    learn({loss})
"""
THREADS = """
from concurrent.futures import ThreadPoolExecutor
import rlscope
class World:
    def reset(self): return [0.0] * 4
    def step(self, action): return [0.0] * 4, 0.0, False, {{}}
rlscope.environment(World)
worlds = [World(), World()]
seen = [each.reset() for each in worlds]
with ThreadPoolExecutor(2) as pool:
    for _ in range(10):
        for _ in range(5):
            with torch.no_grad():
                actions = net(torch.zeros(2, 4)).argmax(1).tolist()
            {steps}
        learn(net(torch.zeros(2, 4)).sum())
"""
CASES: dict[str, tuple[str, dict[str, int]]] = {
    "a policy that learns from what it acted": (
        ACTS.format(act="outputs.append(net(torch.tensor(seen)))", loss="sum(outputs).sum()"),
        FOUND,
    ),
    "a policy without gradients": (
        ACTS.format(
            act="with torch.no_grad(): net(torch.tensor(seen))",
            loss="net(torch.tensor(seen)).sum()",
        ),
        FOUND,
    ),
    # Its messages are answers to those that it gets.
    "a server of a policy": (
        """
        ours, theirs = multiprocessing.Pipe()
        child = os.fork()
        if child == 0:
            for _ in range(50):
                theirs.send([0.0] * 4)
                theirs.recv()
            theirs.send(None)
            os._exit(0)
        while (seen := ours.recv()) is not None:
            with torch.no_grad():
                ours.send(int(net(torch.tensor(seen)).argmax()))
        """,
        {"simulation": 50 - 3},
    ),
    "one queue for all": (
        """
        tasks, results = multiprocessing.Queue(), multiprocessing.Queue()
        for _ in range(2):
            start(tasks.get, results.put)
        for _ in range(10):
            for _ in range(5):
                with torch.no_grad():
                    net(torch.zeros(2, 4))
                for _ in range(2):
                    tasks.put(0)
                for _ in range(2):
                    results.get()
            learn(net(torch.zeros(2, 4)).sum())
        """,
        FOUND,
    ),
    # Whatever is no message ends an exchange that has no answer.
    "a message without an answer": (
        ACTS.format(
            act="with torch.no_grad(): net(torch.tensor(seen))",
            loss="net(torch.tensor(seen)).sum()",
        )
        + """
    more, other = multiprocessing.Pipe()
    more.send("weights")
for end in ends:
    end.send(None)
for worker in workers:
    worker.join()
learn(net(torch.tensor(seen)).sum())
""",
        {"simulation": ROUNDS * STEPS - 3 + ROUNDS, "backprop": ROUNDS + 1},
    ),
    "batches for a learner, and weights for its actors": (
        """
        (end, _) = pipes()
        for _ in range(10):
            end.send("weights")
            learn(net(torch.tensor(end.recv())).sum())
        """,
        {"backprop": ROUNDS},
    ),
    # A forward lies between what is sent and what is taken, as in a loader of batches.
    "batches that are asked for in advance": (
        """
        (end, _) = pipes()
        end.send(0)
        for _ in range(20):
            batch = end.recv()
            end.send(0)
            with torch.no_grad():
                net(torch.tensor(batch))
        """,
        {},
    ),
    # The tasks of a pool need no policy: their third results are the first to show it.
    "a pool for episodes": (
        """
        with multiprocessing.Pool(2) as pool:
            for _ in range(10):
                pool.map(abs, range(4))
                learn(net(torch.zeros(2, 4)).sum())
        """,
        {"simulation": ROUNDS - 3, "backprop": ROUNDS},
    ),
    "results that are taken one by one": (
        """
        import concurrent.futures
        with concurrent.futures.ProcessPoolExecutor(2) as pool:
            for _ in range(10):
                for task in [pool.submit(abs, -1) for _ in range(4)]:
                    task.result()
        """,
        {"simulation": ROUNDS - 3},
    ),
    "a pool that prepares data": (
        """
        with multiprocessing.Pool(2) as pool:
            data = list(pool.imap(abs, range(40)))
        for _ in range(10):
            learn(net(torch.zeros(2, 4)).sum())
        """,
        {"backprop": ROUNDS},
    ),
    "a pool beside an environment": (
        """
        class World:
            def reset(self): return [0.0] * 4
            def step(self, action): return [0.0] * 4, 1.0, False
        world = World()
        with multiprocessing.Pool(2) as pool:
            for _ in range(10):
                for _ in range(5):
                    world.step(int(net(torch.zeros(4)).argmax()))
                pool.map(abs, range(4))
                learn(net(torch.zeros(2, 4)).sum())
        """,
        FOUND,
    ),
    # Each of the two worlds steps in a thread, too.
    "threads of a pool that step": (
        THREADS.format(steps="list(pool.map(World.step, worlds, actions))"),
        FOUND | {"simulation": 2 + ROUNDS * STEPS * 3 - 3},
    ),
    "threads of a pool that do something else": (
        THREADS.format(
            steps="[each.step(0) for each in worlds]; pool.submit(abs, actions[0]).result()"
        ),
        FOUND | {"simulation": 2 + ROUNDS * STEPS * 2},
    ),
    "a class with a step": (
        """
        class Workers:
            def __init__(self): self.ends = pipes()
            def reset(self): return [[0.0] * 4] * 2
            def step(self, action):
                for end in self.ends:
                    end.send(action)
                return [end.recv() for end in self.ends]
        workers_of_class = Workers()
        for _ in range(10):
            seen = [[0.0] * 4] * 2
            for _ in range(5):
                with torch.no_grad():
                    seen = workers_of_class.step(net(torch.tensor(seen)))
            learn(net(torch.tensor(seen)).sum())
        """,
        FOUND,
    ),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("messages")


@pytest.fixture(scope="module")
def found_in_children(traced: TracedPython, folder: Path) -> dict[str, dict[str, int]]:
    texts = [textwrap.dedent(text) for text, _ in CASES.values()]
    return operations_of_forks(traced, folder, PROGRAM.format(texts=texts), CASES)


@pytest.mark.parametrize("name", CASES)
def test_exchanges_are_steps(found_in_children: dict[str, dict[str, int]], name: str) -> None:
    found = found_in_children[name]
    kinds = ("simulation", "backprop")
    assert {kind: found[kind] for kind in kinds if kind in found} == CASES[name][1]


def test_the_rule_says_where_the_environments_are(
    found_in_children: dict[str, dict[str, int]], folder: Path
) -> None:
    with rls.load(folder / "run") as trace:
        ((rules,),) = trace.sql("SELECT DISTINCT rule FROM operation WHERE path = 'simulation'")
    assert "outermost step or reset of environments in other processes" in rules.split("; ")
