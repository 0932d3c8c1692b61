"""RLlib: evaluations and checkpoints.

Its environments are Gymnasium's, its modules and optimizers PyTorch's.
"""

from types import ModuleType

from rlscope.auto import rules
from rlscope.auto.calls import watch_method


def watch_algorithm(module: ModuleType) -> None:
    """ray.rllib.algorithms.algorithm."""
    watch_method("evaluation", module.Algorithm, "evaluate")
    rules.watches("evaluation", "rllib.Algorithm.evaluate")


def watch_checkpoints(module: ModuleType) -> None:
    """ray.rllib.utils.checkpoints: of algorithms and of their parts."""
    for event, name in (("saving", "save_to_path"), ("loading", "restore_from_path")):
        watch_method(event, module.Checkpointable, name)
        rules.watches(event, f"rllib.Checkpointable.{name}")
