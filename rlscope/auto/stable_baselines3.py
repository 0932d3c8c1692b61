"""Stable-Baselines3: its vectors of environments, which are neither Env nor VectorEnv; evaluations,
and models that are saved and loaded.

Policies are modules of PyTorch, and optimizers PyTorch's.
"""

from types import ModuleType

from rlscope.auto import rules
from rlscope.auto.calls import watch_global, watch_method
from rlscope.auto.environments import watch_environments


def watch_vec_env(module: ModuleType) -> None:
    """stable_baselines3.common.vec_env.base_vec_env."""
    watch_environments(module.VecEnv)


def watch_evaluation(module: ModuleType) -> None:
    """stable_baselines3.common.evaluation: the callback that evaluates calls this function."""
    watch_global("evaluation", module.evaluate_policy, module)
    rules.watches("evaluation", "stable_baselines3.evaluate_policy")


def watch_algorithm(module: ModuleType) -> None:
    """stable_baselines3.common.base_class."""
    watch_method("saving", module.BaseAlgorithm, "save")
    rules.watches("saving", "stable_baselines3.BaseAlgorithm.save")


def watch_loading(module: ModuleType) -> None:
    """stable_baselines3.common.save_util: what BaseAlgorithm.load reads."""
    watch_global("loading", module.load_from_zip_file, module)
    rules.watches("loading", "stable_baselines3.BaseAlgorithm.load")
