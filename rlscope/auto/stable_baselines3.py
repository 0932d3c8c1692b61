"""Stable-Baselines3: its vectors of environments, which are neither Env nor VectorEnv; evaluations,
and models that are saved and loaded.

Policies are modules of PyTorch, and optimizers PyTorch's.
"""

from types import ModuleType

from rlscope.auto import rules
from rlscope.auto.calls import watch_below, watch_global
from rlscope.auto.environments import watch_environments


def watch_vec_env(module: ModuleType) -> None:
    """stable_baselines3.common.vec_env.base_vec_env."""
    watch_environments(module.VecEnv)


def watch_evaluation(module: ModuleType) -> None:
    """stable_baselines3.common.evaluation: the callback that evaluates calls this function."""
    watch_global("evaluation", module.evaluate_policy, module)
    rules.watches("evaluation", "stable_baselines3.evaluate_policy")


def watch_algorithm(module: ModuleType) -> None:
    """stable_baselines3.common.base_class: with what other algorithms, sb3-contrib's too, have in
    the place of its methods."""
    _watch_files(module.BaseAlgorithm, "save", "load")


def watch_off_policy(module: ModuleType) -> None:
    """stable_baselines3.common.off_policy_algorithm."""
    _watch_files(module.OffPolicyAlgorithm, "save_replay_buffer", "load_replay_buffer")


def watch_policies(module: ModuleType) -> None:
    """stable_baselines3.common.policies: their conversion makes a copy of the observation first."""
    _watch_files(module.BaseModel, "save", "load")
    watch_below("connector", module.BaseModel, "obs_to_tensor")


def watch_sbx(module: ModuleType) -> None:
    """sbx.common.policies: SBX, which is JAX, has a conversion of its own."""
    watch_below("connector", module.BaseJaxPolicy, "prepare_obs")


def watch_normalize(module: ModuleType) -> None:
    """stable_baselines3.common.vec_env.vec_normalize: statistics of observations."""
    _watch_files(module.VecNormalize, "save", "load")


def watch_loading(module: ModuleType) -> None:
    """stable_baselines3.common.save_util: what set_parameters reads, too."""
    watch_global("loading", module.load_from_zip_file, module)
    rules.watches("loading", "stable_baselines3.load_from_zip_file")


def _watch_files(root: type, saves: str, loads: str) -> None:
    for event, name in (("saving", saves), ("loading", loads)):
        rules.watch_methods(event, root, name, watch=watch_below)
