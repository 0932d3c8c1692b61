"""An environment that cannot be made, or is of the wrong kind, is one line and exit code 1.

with in_one_line("Hopper-v5"):
    env = gym.make("Hopper-v5")
    require("actions", env.action_space, Box)
"""

import contextlib
import importlib
import sys
from collections.abc import Iterator

import gymnasium as gym


@contextlib.contextmanager
def in_one_line(env_id: str) -> Iterator[None]:
    """Ends the program with one line on stderr where an environment, or its package, is missing."""
    try:
        _register(env_id)
        yield
    except (gym.error.Error, ImportError) as error:
        reason = " ".join(str(error).split())
        sys.exit(f"{env_id}: {reason}")


def require(what: str, space: "gym.Space[object]", kind: type) -> None:
    """Raises gymnasium.error.Error if a space is not of the kind that an algorithm learns with."""
    if not isinstance(space, kind):
        raise gym.error.Error(f"the algorithm needs {what} of kind {kind.__name__}, not {space}")


_REGISTERING = {
    "BulletEnv-v0": "pybullet_envs_gymnasium",
    "DroneDepth-v0": "rlscope.workloads.heavy_environment",
}
"""End of an environment's name -> the module, and the package, whose import registers it."""


def _register(env_id: str) -> None:
    """Imports what gymnasium does not find by itself."""
    for end, module in _REGISTERING.items():
        if env_id.endswith(end):
            try:
                importlib.import_module(module)
            except ImportError as error:
                raise ImportError(f"{error}: pip install {module}") from None
