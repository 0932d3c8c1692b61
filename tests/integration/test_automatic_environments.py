"""Which calls of environments are simulations."""

from __future__ import annotations

import pytest
from support.process.automatic_programs import ENVIRONMENT, iterations, names, track
from support.process.recorded_child import record

from rlscope.opening import load


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
    # The first one begins with the second update, before anything was simulated.
    assert iterations(recorded) == [1] * 3


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


def test_a_random_action_is_inference(directory: str) -> None:
    """Whatever the space, and however many actions are drawn before a step."""
    recorded = record(
        directory,
        ENVIRONMENT
        + """
from gymnasium.spaces import Box, Dict, Discrete
class Actions(Discrete):
    def sample(self, *mask):
        return super().sample(*mask)
spaces = Actions(2), Dict(left=Box(-1, 1), right=Discrete(2)), Discrete(3)
spaces[1].sample()  # nobody acts
env.reset()
for space in spaces:
    env.step([space.sample() for _ in range(3)])
spaces[0].sample()  # nor does anybody here
forward(); backward(); optimize()
""",
    )
    acts = ["inference", "simulation"]
    assert track(recorded) == ["simulation", *acts * 3, "backprop"]


def test_a_space_is_what_it_was(directory: str) -> None:
    record(
        directory,
        ENVIRONMENT
        + """
import copy, inspect, pickle
from gymnasium.spaces import Discrete
space = Discrete(5, seed=3)
sample = Discrete.sample
assert "mask" in inspect.signature(sample).parameters and sample.__name__ == "sample"
again = pickle.loads(pickle.dumps(space)), copy.deepcopy(space)
assert {each.sample() for each in again} == {space.sample()}
""",
    )


@pytest.mark.parametrize(
    ("imports", "rule"),
    [
        ("", "forwards of torch.nn.Module that no backward follows"),
        (
            "import gymnasium",
            "from the first forward of torch.nn.Module, or the first random action",
        ),
    ],
)
def test_the_rule_speaks_of_environments_only_where_there_are_any(
    directory: str, imports: str, rule: str
) -> None:
    script = """
import rlscope.auto
rlscope.auto.begin()
from rlscope.auto import rules
from rlscope.recorder import runtime
rules.watches("inference", "torch.nn.Module")
runtime.watch("forward", lambda: None)()
"""
    record(directory, script + imports)
    with load(directory) as trace:
        ((found,),) = trace.sql("SELECT rule FROM operation WHERE path = 'inference'")
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


def test_a_picture_outside_of_a_step_is_one_operation(directory: str) -> None:
    recorded = record(
        directory,
        ENVIRONMENT
        + """
class Drawn(Env):
    def render(self):
        return "picture"

    def step(self, action):
        self.render()
        return super().step(action)

drawn = Wrapper(Drawn())
drawn.reset()
for _ in range(2):
    forward()
    assert drawn.render() == "picture"
    drawn.step(0)
drawn.render()
""",
    )
    found = [name for name in names(recorded) if name not in ("import", "closing")]
    step = ["inference", "rendering", "inference", "simulation"]
    # Nothing says yet what the first forward is for; then acting goes on after the picture.
    assert found == ["simulation", *step, *step, "rendering"]
