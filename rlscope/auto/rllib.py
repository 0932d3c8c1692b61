"""RLlib: pipelines of connectors, evaluations and checkpoints.

Its environments are Gymnasium's, its modules and optimizers PyTorch's.
"""

from typing import Any

from rlscope.auto import rules
from rlscope.auto.calls import watch_method
from rlscope.recorder import runtime


def watch_algorithm(module: Any) -> None:
    """ray.rllib.algorithms.algorithm."""
    watch_method("evaluation", module.Algorithm, "evaluate")
    rules.watches("evaluation", "rllib.Algorithm.evaluate")


def watch_env_to_module(module: Any) -> None:
    """ray.rllib.connectors.env_to_module.env_to_module_pipeline: makes what the module is given of
    episodes, whose last observation the environment has just returned."""
    watch_method("connector", module.EnvToModulePipeline, "__call__")


def watch_module_to_env(module: Any) -> None:
    """ray.rllib.connectors.module_to_env.module_to_env_pipeline: makes actions of what the module
    returned."""
    owner = module.ModuleToEnvPipeline  # it has the method of all pipelines
    owner.__call__ = runtime.watch("output", owner.__call__)


def watch_learner_connector(module: Any) -> None:
    """ray.rllib.connectors.learner.learner_connector_pipeline: makes the batch of an update of
    episodes, with the advantages of PPO, for which it calls the module."""
    watch_method("update", module.LearnerConnectorPipeline, "__call__")
    rules.watches("update", "rllib.LearnerConnectorPipeline")


def watch_checkpoints(module: Any) -> None:
    """ray.rllib.utils.checkpoints: of algorithms and of their parts."""
    for event, name in (("saving", "save_to_path"), ("loading", "restore_from_path")):
        watch_method(event, module.Checkpointable, name)
        rules.watches(event, f"rllib.Checkpointable.{name}")
