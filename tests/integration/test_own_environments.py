"""Environments that no library has: classes of a program with a step and a reset."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest
from support.process.counted_forks import operations_of_forks
from support.process.traced_python import TracedPython

import rlscope as rls

pytest.importorskip("torch")
pytestmark = pytest.mark.usefixtures("clean_environment")

# An episode of 5 steps and an update, 10 times. `make` makes the environment of it.
LOOP = """
import json, sys
import torch
from torch import nn
torch.set_num_threads(1)
net = nn.Linear(4, 2)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)

class World:
    def reset(self):
        self.time = 0
        return [0.0] * 4

    def step(self, action):
        self.time += 1
        return [float(self.time)] * 4, 1.0, self.time >= 5

{classes}

def train(environment, act=lambda seen: int(net(torch.tensor(seen)).argmax())):
    for _ in range(10):
        seen, over, batch = environment.reset(), False, []
        while not over:
            seen, _, over = environment.step(act(seen))
            batch.append(seen)
        optimizer.zero_grad()
        net(torch.tensor(batch)).pow(2).mean().backward()
        optimizer.step()

{train}
"""
STEPS, EPISODES = 50, 10
# Three steps show that it is an environment; the reset before them is not seen either.
FOUND = {"simulation": STEPS - 3 + EPISODES - 1, "backprop": EPISODES}
NAMED = FOUND | {"simulation": STEPS + EPISODES}


def test_no_class_is_changed_without_automatic_operations(
    traced: TracedPython, tmp_path: Path
) -> None:
    program = tmp_path / "train.py"
    program.write_text("""
import rlscope
class World:
    def reset(self): pass
    def step(self, action): return [1.0], 1.0, False
before = World.step
rlscope.environment(World)
world = World()
world.reset()
world.step(0)
assert World.step is before
""")
    options = ["-o", "run", "--no-auto", "--environment", "World"]
    done = traced.run(*options, traced.python, str(program), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    with rls.load(tmp_path / "run") as trace:
        assert len(trace.table("operation_instance")) == 0


def test_a_class_in_vain_is_one_line(traced: TracedPython, tmp_path: Path) -> None:
    done = traced.run("--environment", "1:2", traced.python, "-c", "pass", cwd=tmp_path)
    assert done.returncode == 2
    assert "expected MODULE:CLASS, or a CLASS of the script, got '1:2'" in done.stderr


def test_only_a_class_is_an_environment() -> None:
    with pytest.raises(TypeError, match="an environment must be a class, not int"):
        rls.environment(3)  # type: ignore[type-var]


ACTS = """
def step(action, time):
    return [float(action)] * 4, time >= 5

for _ in range(10):
    seen, over, outputs, time = [0.0] * 4, False, [], 0
    while not over:
        time += 1
        outputs.append(net(torch.tensor(seen)))
        {keep}
        seen, over = step(int(outputs[-1].argmax()), time)
    optimizer.zero_grad()
    {loss}.pow(2).mean().backward()
    optimizer.step()
"""


NEW_GRAPH = "net(torch.zeros(20, 4))"
# Programs as (classes, train), each with what is found in it.
CHILDREN: dict[str, tuple[str, str, dict[str, int]]] = {
    "a class of the script": ("", "train(World())", FOUND),
    # Each steps between the forwards, as an environment would.
    "what else has a step and a reset": (
        """
        class Other:
            def reset(self): pass
        class Agent(Other):
            def step(self, seen): return torch.zeros(()), int(net(torch.tensor(seen)).argmax())
        class Clock(Other):
            def step(self): return [1.0]
        class Mean(Other):
            def step(self, seen): return 0.5
        class Average(Other):
            def step(self, seen): self.last = seen
        class Stopper(Other):
            def step(self, seen): return "better"
        others = Agent(), Mean(), Average(), Stopper()
        clock = Clock()
        def act(seen):
            clock.step()
            for other in others:
                other.step(seen)
            return int(net(torch.tensor(seen)).argmax())
        """,
        "train(World(), act)",
        FOUND,
    ),
    # The step of what it wraps is a part of its own.
    "a wrapper": (
        """
        class Wrapper:
            def __init__(self, inner): self.inner = inner
            def reset(self): return self.inner.reset()
            def step(self, action): return self.inner.step(action)
        """,
        "train(Wrapper(World()))",
        FOUND,
    ),
    "classes below, and those that inherit one method": (
        """
        class Base:
            def reset(self): return World.reset(self)
        class Child(Base):
            def step(self, action): return World.step(self, action)
        class Grandchild(Child): pass
        """,
        "train(Grandchild())",
        FOUND,
    ),
    "a class that the program names": (
        "import rlscope; rlscope.environment(World)",
        "train(World())",
        NAMED,
    ),
    # Learning is what a backward uses. The graph of the first one tells that the program acts with
    # gradients, and its own forward counts as acting, too.
    "acting with gradients, which one step keeps": (
        "",
        ACTS.format(keep="outputs = outputs[-1:]", loss=NEW_GRAPH),
        {"backprop": EPISODES, "inference": 5 * EPISODES + 1},
    ),
    "acting with gradients": (
        "",
        ACTS.format(keep="", loss=NEW_GRAPH),
        {"backprop": EPISODES, "inference": 5 * EPISODES + 1},
    ),
    "learning from what was acted": (
        "",
        ACTS.format(keep="", loss="torch.stack(outputs)"),
        {"backprop": EPISODES},
    ),
    "learning from both": (
        "",
        ACTS.format(keep="", loss=f"({NEW_GRAPH} + torch.stack(outputs).sum())"),
        {"backprop": EPISODES},
    ),
}


_Operations = dict[str, dict[str, int]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("children")


@pytest.fixture(scope="module")
def found_in_children(traced: TracedPython, folder: Path) -> _Operations:
    """What each of CHILDREN has: they are forks of one program, which imports PyTorch for all."""
    texts = [f"{textwrap.dedent(classes)}\n{train}" for classes, train, _ in CHILDREN.values()]
    program = LOOP.format(classes="", train="") + FORKS.format(texts=texts)
    return operations_of_forks(traced, folder, program, CHILDREN)


FORKS = """
import os
for text in {texts!r}:
    child = os.fork()
    if child == 0:
        exec(text, globals())
        os._exit(0)
    print(child)
    assert os.waitpid(child, 0)[1] == 0
"""


def _without_more(found: dict[str, int]) -> dict[str, int]:
    """Without what depends on chance, and a conversion before a forward, an instance of its own."""
    found = {path: count for path, count in found.items() if path not in ("import", "gc")}
    if "simulation" in found:
        assert found.pop("inference", STEPS) >= STEPS
    return found


@pytest.mark.parametrize("name", CHILDREN)
def test_what_is_found_in_a_child(found_in_children: _Operations, name: str) -> None:
    _, _, expected = CHILDREN[name]
    assert _without_more(found_in_children[name]) == expected


def test_the_rule_names_the_classes_and_no_other(
    found_in_children: _Operations, folder: Path
) -> None:
    with rls.load(folder / "run") as trace:
        ((rules,),) = trace.sql("SELECT DISTINCT rule FROM operation WHERE path = 'simulation'")
    assert set(rules.split("; ")) == {
        f"outermost step or reset of {classes}"
        for classes in (
            "__main__.World",
            "__main__.World or __main__.Wrapper",
            "__main__.Grandchild",
        )
    }


# What a user may call a class, and the program that trains with it.
BY_NAME = {
    "World": "train(World())",
    "__main__:Other": "train(Other())",
    "worlds:Steps": "import worlds; train(worlds.Steps())",
}


@pytest.fixture(scope="module")
def found_by_name(traced: TracedPython, tmp_path_factory: pytest.TempPathFactory) -> _Operations:
    """The same where the user names all of them."""
    folder = tmp_path_factory.mktemp("named")
    world = LOOP[LOOP.index("class World") : LOOP.index("{classes}")]
    (folder / "worlds.py").write_text(world.replace("World", "Steps"))
    program = LOOP.format(classes=world.replace("World", "Other"), train="")
    program += FORKS.format(texts=[*BY_NAME.values()])
    options = [part for name in BY_NAME for part in ("--environment", name)]
    return operations_of_forks(traced, folder, program, BY_NAME, *options)


@pytest.mark.parametrize("name", BY_NAME)
def test_a_class_that_the_user_names(found_by_name: _Operations, name: str) -> None:
    assert _without_more(found_by_name[name]) == NAMED
