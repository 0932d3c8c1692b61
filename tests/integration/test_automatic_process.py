"""Automatic operations of whole processes: imports, explicit operations, forks, windows,
iterations."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from support.process.automatic_programs import ENVIRONMENT, iterations, track
from support.process.recorded_child import record
from support.process.traced_python import TracedPython


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
        from support.process.recorded_child import read

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
            "from rlscope.recorder import runtime\n"
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
            "from rlscope.recorder import runtime\n"
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
