"""Automatic operations of whole processes: imports, explicit operations, forks, windows,
iterations. The environments here are Gymnasium's own class without any physics."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from automatic_records import instances, read_track
from recorded_child import ITERATION, Recorded, record
from traced_python import TracedPython

from rlscope.load import load

ENVIRONMENT = """
import sys
import rlscope.auto
rlscope.auto.begin()
assert "gymnasium" not in sys.modules
import gymnasium
import rlscope as rls
from rlscope.native import runtime

class Env(gymnasium.Env):
    def step(self, action):
        return 0, 0.0, False, False, {}

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return 0, {}

class Wrapper(gymnasium.Wrapper):
    def step(self, action):
        self.env.step(action)
        return self.env.step(action)

forward = runtime.watch("forward", lambda: None)
backward = runtime.watch("backward", lambda: None)
optimize = runtime.watch("step", lambda: None)
env = Wrapper(Env())
"""


def track(recorded: Recorded, process: int = 0, thread: int | None = None) -> list[str]:
    """Names of the automatic operations of a thread, instance by instance."""
    row = recorded.process(process)
    if not recorded.threads(process):
        return []
    number = recorded.threads(process)[0] if thread is None else thread
    items = recorded.reader.items(row["index"], number)
    rows = list(zip(items["time_ns"], items["kind"], items["id"], strict=True))
    return [name for name, _, _ in instances(read_track(rows, row["end_ns"]))]


def iterations(recorded: Recorded, process: int = 0) -> list[int]:
    """Iterations of a process, 1 for each automatic one, 0 for each explicit one."""
    index = recorded.process(process)["index"]
    found: list[int] = []
    for thread in recorded.threads(process):
        items = recorded.reader.items(index, thread)
        found += [int(id_) for id_ in items["id"][items["kind"] == ITERATION]]
    return found


def test_a_wrapper_and_its_environment_are_one_simulation(directory: str) -> None:
    recorded = record(directory, ENVIRONMENT + "env.reset(seed=1)\nforward()\nenv.step(0)\n")
    assert track(recorded) == ["simulation", "inference", "simulation"]


def test_only_environments_simulate(directory: str) -> None:
    """A mixin's method counts for environments, not for what else has it."""
    recorded = record(
        directory,
        ENVIRONMENT
        + """
class Resettable:
    def reset(self, **options):
        return self
class Maze(Resettable, gymnasium.Env):
    pass
class Buffer(Resettable):
    pass
for each in (Buffer(), Maze(), Buffer(), Maze()):
    optimize()
    each.reset()
    Resettable.reset(each)
    forward()
try:
    Resettable.reset()
except TypeError:
    pass
""",
    )
    assert track(recorded) == ["inference", *["simulation"] * 2, "inference"] * 2
    assert iterations(recorded) == [1] * 2


def test_methods_that_are_no_functions(directory: str) -> None:
    recorded = record(
        directory,
        ENVIRONMENT
        + """
import functools, inspect
class Maze(gymnasium.Env):
    def move(self, by, action):
        return by * action
    step = functools.partialmethod(move, 2)
    @functools.lru_cache
    def reset(self):
        return 1
maze = Maze()
assert (maze.step(3), maze.reset()) == (6, 1)
assert (Maze.step(maze, 3), maze.move(1, 2), Maze.reset.cache_info().misses) == (6, 2, 1)
assert str(inspect.signature(maze.step)) == "(action)"
assert type(vars(Maze)["step"]) is functools.partialmethod
""",
    )
    assert track(recorded) == ["simulation"] * 3


def test_vectors_of_environments(directory: str) -> None:
    recorded = record(
        directory,
        ENVIRONMENT
        + """
envs = gymnasium.make_vec("CartPole-v1", 2, vectorization_mode="sync")
envs = gymnasium.wrappers.vector.RecordEpisodeStatistics(envs)
envs.reset(seed=1)
forward()
envs.step(envs.action_space.sample())
""",
    )
    assert track(recorded) == ["simulation", "inference", "simulation"]


def test_forked_workers_have_simulations_of_their_own(directory: str) -> None:
    recorded = record(
        directory,
        ENVIRONMENT
        + """
fork = {"context": "fork"}
envs = gymnasium.make_vec("CartPole-v1", 2, vectorization_mode="async", vector_kwargs=fork)
envs.reset(seed=1)
forward()
envs.step(envs.action_space.sample())
envs.close()
""",
    )
    assert track(recorded) == ["simulation", "inference", "simulation"]
    workers = [row for row in recorded.reader.processes if row["forked"]]
    assert len(workers) == 2
    for number in (1, 2):
        assert track(recorded, number) == ["simulation"] * 2
        assert iterations(recorded, number) == [1]


def test_an_explicit_operation_ends_what_is_open(directory: str) -> None:
    recorded = record(
        directory,
        ENVIRONMENT
        + """
def inside():
    with rls.operation("mine"):
        env.step(0)
runtime.watch("forward", inside)()
env.step(0)
backward()
""",
    )
    assert track(recorded) == ["inference"]
    assert recorded.operations() == ["+mine", "-mine"]


def test_an_explicit_operation_of_another_thread_ends_it_too(directory: str) -> None:
    recorded = record(
        directory,
        ENVIRONMENT
        + """
import threading
def other():
    with rls.operation("mine"):
        pass
env.step(0)
thread = threading.Thread(target=other)
thread.start()
thread.join()
env.step(0)
""",
    )
    assert track(recorded) == ["simulation"]


def test_an_operation_that_is_only_made_ends_nothing(directory: str) -> None:
    script = "mine = rls.operation('mine')\nenv.step(0)\n"
    assert track(record(directory, ENVIRONMENT + script)) == ["simulation"]


@pytest.mark.parametrize(
    ("imports", "rule"),
    [
        ("", "forwards of torch.nn.Module that no backward follows"),
        ("import gymnasium", "from the first forward of torch.nn.Module to the next step of the"),
    ],
)
def test_the_rule_speaks_of_environments_only_where_there_are_any(
    directory: str, imports: str, rule: str
) -> None:
    script = """
import rlscope.auto
rlscope.auto.begin()
from rlscope.auto import rules
from rlscope.native import runtime
rules.watches("inference", "torch.nn.Module")
runtime.watch("forward", lambda: None)()
"""
    record(directory, script + imports)
    with load(directory) as trace:
        ((found,),) = trace.sql("SELECT rule FROM operation WHERE source = 'automatic'")
    assert found.startswith(rule)


def test_exceptions_leave_nothing_open(directory: str) -> None:
    recorded = record(
        directory,
        ENVIRONMENT
        + """
class Broken(Env):
    def step(self, action):
        raise KeyError(action)
broken = Broken()
for attempt in range(2):
    try:
        broken.step(0)
    except KeyError:
        pass
    forward()
env.step(0)
""",
    )
    assert track(recorded) == ["simulation", "inference"] * 2 + ["simulation"]


def test_iterations_begin_after_an_optimizer_step(directory: str) -> None:
    recorded = record(
        directory,
        ENVIRONMENT
        + """
env.reset()
for update in range(3):
    env.step(0)
    env.step(0)
    forward(); backward(); optimize(); optimize()
env.step(0)
""",
    )
    assert iterations(recorded) == [1] * 4


def test_iterations_of_the_program_end_automatic_ones(directory: str) -> None:
    recorded = record(
        directory,
        ENVIRONMENT
        + """
import threading
thread = threading.Thread(target=env.reset)
thread.start()
thread.join()
for update in range(2):
    rls.iteration()
    env.step(0)
    optimize()
""",
    )
    assert iterations(recorded) == [1, 0, 0]


def test_what_began_before_a_window_is_not_in_it(directory: str) -> None:
    recorded = record(
        directory,
        ENVIRONMENT
        + """
rls.stop()
def starts():
    env.step(0)
    rls.start()
runtime.watch("simulation", starts)()
forward()
env.step(0)
""",
    )
    assert track(recorded) == ["inference", "simulation"]
    losses = {row["kind"] for row in recorded.reader.losses(recorded.process()["index"])}
    assert not losses - {"late_attach"}


def test_a_fork_child_begins_anew(directory: str) -> None:
    recorded = record(
        directory,
        ENVIRONMENT
        + """
import os
def forks():
    child = os.fork()
    env.step(0)
    if child:
        os.waitpid(child, 0)
    return child
child = runtime.watch("forward", forks)()
if not child:
    forward()
    env.step(0)
    with rls.operation("mine"):
        env.step(0)
    os._exit(0)
env.step(0)
""",
    )
    assert track(recorded) == ["inference", "simulation", "simulation"]
    assert track(recorded, 1) == ["simulation", "inference", "simulation"]
    assert iterations(recorded, 1) == [1]


def test_importing_stays_invisible(directory: str) -> None:
    script = """
import sys, warnings
before = list(sys.meta_path), list(sys.path_hooks), list(sys.path), list(warnings.filters)
import rlscope.auto
rlscope.auto.begin()
assert (list(sys.meta_path), list(sys.path_hooks), list(sys.path), list(warnings.filters)) == before
sys.path.insert(0, {folder!r})
import traceback
try:
    import broken
except ZeroDivisionError as error:
    frames = [frame.name for frame in traceback.extract_tb(error.__traceback__)]
assert frames == ["<module>", "<module>"], frames
import gymnasium.core
print(type(gymnasium.core.__spec__.loader).__name__)
"""
    folder = Path(directory).parent
    (folder / "broken.py").write_text("1 / 0\n")
    output = record(directory, script.format(folder=str(folder))).output
    assert output == "SourceFileLoader\n"


@pytest.mark.usefixtures("clean_environment")
class TestOptions:
    """What rls-prof and RLSCOPE_AUTO say."""

    SCRIPT = "import os, gymnasium\nprint(os.environ['RLSCOPE_AUTO'])\n" + (
        "env = gymnasium.make('CartPole-v1')\nenv.reset(seed=1)\nprint('ended')\n"
    )

    def run(self, traced: TracedPython, directory: str, *options: str, **variables: str) -> Any:
        from recorded_child import read

        environ = {**os.environ, **variables}
        command = [*options, "-o", directory, "--", traced.python, "-c", self.SCRIPT]
        done = traced.run(*command, env=environ)
        assert done.returncode == 0, done.stderr
        return done.stdout, track(read(directory))

    def test_auto(self, traced: TracedPython, directory: str) -> None:
        assert self.run(traced, directory, "--auto") == ("1\nended\n", ["simulation"])

    def test_no_auto(self, traced: TracedPython, directory: str) -> None:
        output, names = self.run(traced, directory, "--no-auto", RLSCOPE_AUTO="1")
        assert (output, names) == ("0\nended\n", [])

    def test_the_variable(self, traced: TracedPython, directory: str) -> None:
        output, names = self.run(traced, directory, RLSCOPE_AUTO="1")
        assert (output, names) == ("1\nended\n", ["simulation"])

    def test_the_program_ends_after_its_automatic_iterations(
        self, traced: TracedPython, directory: str, tmp_path: Path
    ) -> None:
        script = tmp_path / "train.py"
        script.write_text(
            "import gymnasium\n"
            "from rlscope.native import runtime\n"
            "optimize = runtime.watch('step', lambda: None)\n"
            "env = gymnasium.make('CartPole-v1')\n"
            "for update in range(5):\n"
            "    print(update, flush=True)\n"
            "    env.reset(seed=1)\n"
            "    optimize()\n"
        )
        options = ("--auto", "--exit-after-iterations", "2", "-o", directory)
        done = traced.run(*options, "--", traced.python, str(script))
        assert (done.returncode, done.stdout) == (0, "0\n1\n2\n"), done.stderr

    def test_its_own_iterations_count_from_the_beginning(
        self, traced: TracedPython, directory: str, tmp_path: Path
    ) -> None:
        """Not those found before, in this process or in a worker that came first."""
        script = tmp_path / "train.py"
        script.write_text(
            "import subprocess, sys, gymnasium\n"
            "import rlscope as rls\n"
            "from rlscope.native import runtime\n"
            "optimize = runtime.watch('step', lambda: None)\n"
            "env = gymnasium.make('CartPole-v1')\n"
            "if len(sys.argv) == 1:\n"
            "    subprocess.run([sys.executable, __file__, 'worker'], check=True)\n"
            "env.reset(seed=1)\n"
            "for update in range(5 if len(sys.argv) == 1 else 0):\n"
            "    rls.iteration()\n"
            "    print(update, flush=True)\n"
            "    env.reset(seed=1)\n"
            "    optimize()\n"
        )
        options = ("--exit-after-iterations", "2", "-o", directory)
        done = traced.run(*options, "--", traced.python, str(script))
        assert (done.returncode, done.stdout) == (0, "0\n1\n"), done.stderr
