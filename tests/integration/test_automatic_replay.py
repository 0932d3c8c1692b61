"""Replay buffers: what a program stores, and what it takes out to learn from it."""

from __future__ import annotations

from importlib.util import find_spec
from itertools import groupby

import pytest
from support.process.automatic_programs import ENVIRONMENT, names
from support.process.forked_programs import record_forks
from support.process.installed import need
from support.process.recorded_child import record

from rlscope.opening import load

BUFFER = """
import random

class ReplayMemory:
    def __init__(self):
        self.items = []

    def push(self, *transition):
        self.items.append(transition)

    def sample(self, count):
        return random.choices(self.items, k=count)
"""
BEGIN = "import rlscope.auto\nrlscope.auto.begin()\n"


def replays(directory: str, script: str, begin: str = BEGIN) -> int:
    """How many operations of a buffer a script has."""
    found = names(record(directory, begin + script))
    return found.count("replay")


def test_a_loop_stores_and_samples(directory: str) -> None:
    loop = """
memory = ReplayMemory()
env.reset()
for step in range(2):
    forward()
    env.step(0)
    memory.push(1, 2)
memory.sample(2)
forward(); backward(); optimize()
memory.sample(2)
forward(); backward(); memory.push(3, 4); optimize()
forward(); memory.push(5, 6); env.step(0)
"""
    found = names(record(directory, ENVIRONMENT + BUFFER + loop))
    acts = ("inference", "simulation", "replay")
    assert [name for name in found if name != "import"] == [
        *("simulation", *acts, *acts),
        *("replay", "backprop"),
        *("replay", "backprop", "replay", "backprop"),  # each goes on after what interrupts it
        *("inference", "replay", "inference", "simulation"),
    ]


def test_an_update_of_entries_is_one_of_their_priorities(directory: str) -> None:
    methods = """
    def update(self, entries, priorities):
        pass

class OwnBuffer(ReplayMemory):
    def update(self, batch):
        pass
"""
    loop = """
env.reset()
ReplayMemory().update([1], [0.5])
env.step(0)
OwnBuffer().update([1])
"""
    found = names(record(directory, ENVIRONMENT + BUFFER + methods + loop))
    assert [name for name in found if name != "import"] == ["simulation", "replay", "simulation"]


DRAWS = """
import random, threading
random.seed(3)
first = random.sample
import numpy, torch
numpy.random.seed(3)
net = torch.nn.Linear(1, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
generator = numpy.random.default_rng(3)
state = numpy.random.RandomState(3)
items = [float(i) for i in range(100)]

def act():
    env.step(int(net(torch.zeros(1)).argmax()))

def learn(batch):
    optimizer.zero_grad()
    net(torch.tensor([[each] for each in batch])).mean().backward()
    optimizer.step()

def in_thread(program):
    def run():
        env.reset()
        exec(program, globals())
    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
"""
BATCH = "for _ in range(2):\n    act()\n    for _ in range(2): learn({0})\n"
BATCHES = [
    "random.sample(items, 4)",
    "random.choices(items, k=4)",
    "random.Random(1).sample(items, 4)",
    "[items[i] for i in numpy.random.randint(0, 100, size=4)]",
    "numpy.random.choice(items, 4).tolist()",
    "generator.choice(items, 4).tolist()",
    "[items[i] for i in generator.integers(0, 100, size=4)]",
    "[items[i] for i in torch.randint(0, 100, (4,))]",
    "[items[random.randrange(100)] for _ in range(4)]",
    "(random.shuffle(items), items[:4])[1]",
    "[items[i] for i in numpy.random.permutation(100)[:4]]",
    "(numpy.random.shuffle(items), items[:4])[1]",
    "[items[i] for i in state.randint(0, 100, size=4)]",
    "state.permutation(items)[:4].tolist()",
    "generator.permutation(items)[:4].tolist()",
    "(generator.shuffle(items), items[:4])[1]",
    "[items[i] for i in torch.randperm(100)[:4]]",
    "[items[i] for i, _ in zip(torch.utils.data.RandomSampler(items), range(4))]",
]
ACTIONS = [
    "random.choice([0, 1])",
    "random.randrange(2)",
    "random.randint(0, 1)",
    "numpy.random.choice(2)",
    "numpy.random.randint(2)",
    "state.choice(2, p=[0.5, 0.5])",
    "generator.choice(2)",
    "generator.integers(2)",
    "torch.randint(0, 2, (1,)).item()",
]
NO_BATCHES = [
    "random.sample(items, 4); act()",  # no update follows
    "net(torch.zeros(1)); random.sample(items, 2); env.step(0)",
    "random.sample(items, 4); env.reset(); learn(items)",
    "torch.nn.Linear(1, 1); learn(items)",
]


# Whatever takes the place of a function that draws is that function.
SAME = """
import inspect, pickle
plain = random.Random(3)
assert random.sample(items, 3) == plain.sample(items, 3)
assert random.sample.__self__ is first.__self__ and random.sample.__name__ == "sample"
assert "population" in inspect.signature(random.sample).parameters
assert inspect.isfunction(random.Random.sample)
for function in (random.sample, random.choices, numpy.random.randint, numpy.random.choice):
    assert pickle.loads(pickle.dumps(function)).__name__ == function.__name__
fresh = numpy.random.RandomState(3)
assert (numpy.random.randint(0, 9, size=5) == fresh.randint(0, 9, size=5)).all()
"""
WITH_BATCH = [BATCH.format(each) for each in BATCHES]
# The first one may be a part of the set-up.
WITH_ACTION = [f"for _ in range(3): env.step(int({each}))" for each in ACTIONS]


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """The operations of each program, which has a thread of its own and begins with a reset."""
    need("torch")
    programs = [*WITH_BATCH, *NO_BATCHES, *WITH_ACTION]
    script = SAME + "".join(f"in_thread({program!r})\n" for program in programs)
    recorded = record(str(tmp_path_factory.mktemp("drawn") / "run"), ENVIRONMENT + DRAWS + script)
    found = [names(recorded, thread) for thread in recorded.threads()]
    tracks = [[name for name in track if name != "import"] for track in found]
    return dict(zip(programs, filter(None, tracks), strict=True))


def test_draws_are_what_they_were_and_a_batch_out_of_a_list_is_replay(
    drawn: dict[str, list[str]],
) -> None:
    once = ["inference", "simulation", *["replay", "backprop"] * 2]
    for program in WITH_BATCH:
        # An import interrupts what it happens in.
        merged = [name for name, _ in groupby(drawn[program])]
        assert merged == ["simulation", *once * 2], program


def test_a_draw_without_an_update_is_none(drawn: dict[str, list[str]]) -> None:
    for program in NO_BATCHES:
        assert "replay" not in drawn[program], program


def test_a_draw_before_a_step_chooses_an_action(drawn: dict[str, list[str]]) -> None:
    acts = ["inference", "simulation"]
    for program in WITH_ACTION:
        assert drawn[program] == ["simulation", "simulation", *acts, *acts], program


def test_a_buffer_inside_another_call_is_a_part_of_that(directory: str) -> None:
    inside = """
memory = ReplayMemory()
class Deep(ReplayMemory):
    def push(self, *transition):
        for each in transition:
            super().push(each)
class Stores(Env):
    def step(self, action):
        memory.push(action)
        return super().step(action)
Stores().step(0)
Deep().push(1, 2, 3)
runtime.watch("forward", lambda: memory.sample(1))()
"""
    found = names(record(directory, ENVIRONMENT + BUFFER + inside))
    assert [name for name in found if name != "import"] == ["simulation", "replay", "inference"]


@pytest.mark.parametrize(
    ("replaced", "by", "expected"),
    [
        ("", "", 2),
        ("ReplayMemory", "Buffer", 2),
        ("ReplayMemory", "MEMORYBANK", 2),
        ("ReplayMemory", "RolloutStorage", 2),
        ("push", "store_transition", 2),
        ("push", "collect", 0),  # nothing stores
        ("sample", "draw", 0),  # or nothing samples
        ("ReplayMemory", "Shelf", 0),
    ],
)
def test_a_class_counts_by_its_name_and_methods(
    directory: str, replaced: str, by: str, expected: int
) -> None:
    script = BUFFER + "memory = ReplayMemory()\nmemory.push(1)\nmemory.sample(1)\n"
    assert replays(directory, script.replace(replaced, by) if by else script) == expected


def test_classes_below_a_buffer_are_buffers(directory: str) -> None:
    """Whatever their names are, and with what they inherit."""
    script = (
        BUFFER.replace("ReplayMemory:", "_Items:")
        + """
class Buffer(_Items):
    pass
class Newest(Buffer):
    def push(self, *transition):
        self.items = [transition]
    @classmethod
    def sample(cls, count):
        return [cls.__name__] * count
newest = Newest()
newest.push(1)
assert newest.sample(2) == ["Newest"] * 2
Buffer().push(1)
"""
    )
    assert replays(directory, script) == 3


def test_a_generator_of_batches_is_no_call(directory: str) -> None:
    """It is suspended between two batches, while the program learns."""
    script = (
        BUFFER
        + """
class Rollouts(ReplayMemory):
    def sample(self, count):
        yield from self.items
rollouts = Rollouts()
rollouts.push(1)
assert list(rollouts.sample(1)) == [(1,)]
"""
    )
    assert replays(directory, script) == 1


def test_a_class_that_was_there_before_counts(directory: str) -> None:
    begin = f"import gymnasium\n{BUFFER}{BEGIN}"
    assert replays(directory, "ReplayMemory().push(1)\n", begin) == 1


def test_a_class_statement_looks_as_it_did(directory: str) -> None:
    script = """
import builtins, types
before = builtins.__build_class__, repr(builtins.__build_class__)
import rlscope.auto
rlscope.auto.begin()
assert (builtins.__build_class__, repr(builtins.__build_class__)) == before
class Buffer:
    def __init_subclass__(cls, *, size, **options):
        super().__init_subclass__(**options)
        cls.size = size
class Large(Buffer, size=3):
    pass
made = [type("Replay", (), {}), types.new_class("Memory")]
assert Large.size == 3
try:
    class Buffer(Large):
        pass
except TypeError as error:
    assert "size" in str(error)
for _ in range(100):
    class Memory(metaclass=lambda name, bases, space: name):
        pass
assert Memory == "Memory"
"""
    record(directory, script)


STOPWATCH = """
import time
spent = 0

class Slow(ReplayMemory):
    def push(self, *transition):
        global spent
        began = time.monotonic_ns()
        time.sleep(0.002)
        super().push(*transition)
        spent += time.monotonic_ns() - began

memory = Slow()
for _ in range(100):
    memory.push(1)
print(spent)
"""


def test_a_stopwatch_in_the_buffer_agrees(directory: str) -> None:
    stopwatch = int(record(directory, BEGIN + BUFFER + STOPWATCH).output)
    with load(directory) as trace:
        ((found,),) = trace.sql(
            "SELECT sum(duration_ns) FROM operation_instance JOIN operation USING (operation_id)"
            " WHERE path = 'replay'"
        )
    assert found == pytest.approx(stopwatch, rel=0.1)
    assert found >= stopwatch


SENDS = """
import cloudpickle, subprocess, sys
child = "import pickle, sys, rlscope.auto; rlscope.auto.begin(); import cloudpickle;"
child += "pickle.load(sys.stdin.buffer).push(1)"
sent = cloudpickle.dumps(ReplayMemory())
subprocess.run([sys.executable, "-c", child], input=sent, check=True)
"""


def test_a_buffer_that_is_sent_to_another_process_is_one_there(directory: str) -> None:
    """cloudpickle makes its class without methods at first."""
    need("cloudpickle")
    record(directory, BEGIN + BUFFER + SENDS)
    with load(directory) as trace:
        rows = trace.sql("SELECT path FROM operation JOIN operation_instance USING (operation_id)")
        assert list(rows["path"]).count("replay") == 1


_STABLE_BASELINES3 = """
import gymnasium, torch
from stable_baselines3 import DQN, HerReplayBuffer, TD3
from stable_baselines3.common.envs import BitFlippingEnv
torch.set_num_threads(1)
DQN("MlpPolicy", "CartPole-v1", learning_starts=16, train_freq=4, seed=1).learn(48)
env = BitFlippingEnv(n_bits=4, continuous=True, max_steps=4)
options = {"replay_buffer_class": HerReplayBuffer, "learning_starts": 16, "train_freq": 4}
TD3("MultiInputPolicy", env, seed=1, **options).learn(48)
"""
_SB3_CONTRIB = """
from sb3_contrib import QRDQN
QRDQN("MlpPolicy", "CartPole-v1", learning_starts=16, train_freq=4, seed=1).learn(48)
"""
_TORCHRL = """
import torch
from tensordict import TensorDict
from torchrl.data import LazyTensorStorage, TensorDictReplayBuffer
buffer = TensorDictReplayBuffer(storage=LazyTensorStorage(100), batch_size=4)
for _ in range(3):
    buffer.extend(TensorDict({"a": torch.ones(8)}, [8]))
buffer.add(TensorDict({"a": torch.ones(())}, []))
for _ in range(5):
    buffer.sample()
"""
_TIANSHOU = """
import numpy
from tianshou.data import Batch, VectorReplayBuffer
buffer = VectorReplayBuffer(100, 2)
never, zeros = numpy.zeros(2, dtype=bool), numpy.zeros(2)
step = {"obs": zeros, "act": zeros, "rew": zeros, "obs_next": zeros, "info": {}}
for _ in range(6):
    buffer.add(Batch(terminated=never, truncated=never, **step))
for _ in range(3):
    buffer.sample(4)
"""
_SKRL = """
import torch
from skrl.memories.torch import RandomMemory
memory = RandomMemory(memory_size=10, num_envs=1, device="cpu")
memory.create_tensor("a", size=1)
for _ in range(6):
    memory.add_samples(a=torch.ones(1, 1))
for _ in range(3):
    memory.sample(["a"], batch_size=2)
"""
_LIBRARIES = {
    # Each step is stored, and each fourth one after the first 16 samples.
    "stable_baselines3": (_STABLE_BASELINES3, 2 * (48 + 8)),
    "sb3_contrib": (_SB3_CONTRIB, 48 + 8),
    "torchrl": (_TORCHRL, 3 + 1 + 5),
    "tianshou": (_TIANSHOU, 6 + 3),
    "skrl": (_SKRL, 6 + 3),
}


_LOADER = """
import torch
from torch.utils.data import DataLoader
network = torch.nn.Linear(2, 2)
optimizer = torch.optim.SGD(network.parameters(), 0.1)
for batch in DataLoader(torch.ones(6, 2), batch_size=2, shuffle=True):
    optimizer.zero_grad()
    network(batch).sum().backward()
    optimizer.step()
"""
Forked = tuple[dict[str, list[str]], dict[str, int]]


@pytest.fixture(scope="module")
def forked(tmp_path_factory: pytest.TempPathFactory) -> Forked:
    """What the loader's program and that of each installed library did: all operations, and how
    many of a buffer. They are forks of one program, which imports PyTorch for all."""
    need("torch")
    installed = {name: text for name, (text, _) in _LIBRARIES.items() if find_spec(name)}
    quiet = "import warnings\nwarnings.simplefilter('ignore')\n"
    directory = str(tmp_path_factory.mktemp("libraries") / "run")
    begin = quiet + BEGIN + "import torch._dynamo\n"
    recorded, pids = record_forks(directory, begin, {"loader": _LOADER, **installed})
    with load(directory) as trace:
        rows = trace.sql(
            "SELECT os_pid, count(*) FROM operation JOIN operation_instance USING (operation_id)"
            " JOIN process USING (process_id) WHERE path = 'replay' GROUP BY os_pid"
        )
        counts = dict(rows)
    places = [row["os_pid"] for row in recorded.reader.processes if row["python"]]
    operations = {name: names(recorded, process=places.index(pid)) for name, pid in pids.items()}
    return operations, {name: counts.get(pid, 0) for name, pid in pids.items()}


def test_a_batch_of_a_data_loader_is_one(forked: Forked) -> None:
    found = forked[0]["loader"]
    # The last one is that of the end. Before the first one the iterator itself is made.
    expected = ["replay", "backprop"] * 3 + ["replay"]
    assert [name for name in found if name in expected] == expected


@pytest.mark.parametrize("library", _LIBRARIES)
def test_what_libraries_store_and_sample_is_found(
    request: pytest.FixtureRequest, library: str
) -> None:
    need(library)
    _, expected = _LIBRARIES[library]
    assert request.getfixturevalue("forked")[1][library] == expected
