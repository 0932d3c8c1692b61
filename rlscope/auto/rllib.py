"""RLlib: pipelines of connectors, evaluations and checkpoints.

Its environments are Gymnasium's, its modules and optimizers PyTorch's. What a pipeline from module
to environment does lies between forward and step, and is inference anyway.
"""

from types import ModuleType

from rlscope.auto import rules
from rlscope.auto.calls import watch_method


def watch_algorithm(module: ModuleType) -> None:
    """ray.rllib.algorithms.algorithm."""
    watch_method("evaluation", module.Algorithm, "evaluate")
    rules.watches("evaluation", "rllib.Algorithm.evaluate")


def watch_env_to_module(module: ModuleType) -> None:
    """ray.rllib.connectors.env_to_module.env_to_module_pipeline: makes what the module is given of
    episodes, whose last observation the environment has just returned."""
    watch_method("connector", module.EnvToModulePipeline, "__call__")


def watch_learner_connector(module: ModuleType) -> None:
    """ray.rllib.connectors.learner.learner_connector_pipeline: makes the batch of an update of
    episodes, with the advantages of PPO, for which it calls the module."""
    watch_method("update", module.LearnerConnectorPipeline, "__call__")
    rules.watches("update", "rllib.LearnerConnectorPipeline")


def watch_checkpoints(module: ModuleType) -> None:
    """ray.rllib.utils.checkpoints: of algorithms and of their parts."""
    for event, name in (("saving", "save_to_path"), ("loading", "restore_from_path")):
        watch_method(event, module.Checkpointable, name)
        rules.watches(event, f"rllib.Checkpointable.{name}")
