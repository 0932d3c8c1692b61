"""Operations without annotation: hooks for the libraries that a training program calls.

The first import of a library is the moment to hook it: its classes exist, and none of them
has an object. What a call means is decided in C++ (csrc/python/runtime_module/automatic_track.h);
the files here only name the calls that are an Env.step, a forward, a backward, an optimizer step
or a compiled function.

The hooks stay in place until the process ends. They record nothing once the program opens an
operation of its own, and nothing while it is not recorded.
"""

import os
import sys

from rlscope.recorder import runtime

TYPE_CHECKING = False  # the first import of typing costs 5 ms
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Handler = Callable[..., object]

ROWS = {
    "torch": "rlscope.auto.torch:watch",
    "torch.utils.cpp_extension": "rlscope.auto.compilers:watch_extensions",
    "torch.utils.data.dataloader": "rlscope.auto.torch:watch_loader",
    "torch._dynamo.eval_frame": "rlscope.auto.torch:watch_dynamo",
    "torch._dynamo.convert_frame": "rlscope.auto.torch:watch_frames",
    "torch._dynamo.callback": "rlscope.auto.torch:watch_lazy_compilation",
    "torch._dynamo.variables.nn_module": "rlscope.auto.torch:watch_tracing",
    "cloudpickle.cloudpickle": "rlscope.auto.cloudpickle:watch",
    "ray.cloudpickle.cloudpickle": "rlscope.auto.cloudpickle:watch",
    "joblib.externals.cloudpickle.cloudpickle": "rlscope.auto.cloudpickle:watch",
    "gymnasium.core": "rlscope.auto.gymnasium:watch_core",
    "gymnasium.vector.vector_env": "rlscope.auto.gymnasium:watch_vector",
    "gym.core": "rlscope.auto.gymnasium:watch_core",
    "gymnasium.spaces.space": "rlscope.auto.gymnasium:watch_space",
    "gym.spaces.space": "rlscope.auto.gymnasium:watch_space",
    "pettingzoo.utils.env": "rlscope.auto.pettingzoo:watch_env",
    "stable_baselines3.common.vec_env.base_vec_env": "rlscope.auto.stable_baselines3:watch_vec_env",
    "stable_baselines3.common.evaluation": "rlscope.auto.stable_baselines3:watch_evaluation",
    "stable_baselines3.common.base_class": "rlscope.auto.stable_baselines3:watch_algorithm",
    "stable_baselines3.common.off_policy_algorithm": (
        "rlscope.auto.stable_baselines3:watch_off_policy"
    ),
    "stable_baselines3.common.policies": "rlscope.auto.stable_baselines3:watch_policies",
    "sbx.common.policies": "rlscope.auto.stable_baselines3:watch_sbx",
    "stable_baselines3.common.vec_env.vec_normalize": (
        "rlscope.auto.stable_baselines3:watch_normalize"
    ),
    "stable_baselines3.common.save_util": "rlscope.auto.stable_baselines3:watch_loading",
    "ray.rllib.algorithms.algorithm": "rlscope.auto.rllib:watch_algorithm",
    "ray.rllib.connectors.env_to_module.env_to_module_pipeline": (
        "rlscope.auto.rllib:watch_env_to_module"
    ),
    "ray.rllib.connectors.module_to_env.module_to_env_pipeline": (
        "rlscope.auto.rllib:watch_module_to_env"
    ),
    "ray.rllib.connectors.learner.learner_connector_pipeline": (
        "rlscope.auto.rllib:watch_learner_connector"
    ),
    "ray.rllib.utils.checkpoints": "rlscope.auto.rllib:watch_checkpoints",
    "transformers.generation.utils": "rlscope.auto.texts:watch_transformers",
    "vllm.entrypoints.llm": "rlscope.auto.texts:watch_vllm",
    "sglang.srt.entrypoints.engine": "rlscope.auto.texts:watch_sglang",
    "torchrl.envs.common": "rlscope.auto.torchrl:watch_env",
    "torchrl.trainers.trainers": "rlscope.auto.trainers:watch_torchrl",
    "tianshou.trainer": "rlscope.auto.trainers:watch_tianshou",
    "tianshou.trainer.utils": "rlscope.auto.trainers:watch_tianshou_1",
    "skrl.trainers.torch.base": "rlscope.auto.trainers:watch_skrl",
    "skrl.trainers.jax.base": "rlscope.auto.trainers:watch_skrl",
    **dict.fromkeys(
        [
            f"cleanrl_utils.evals.{name}_eval"
            for name in (
                *("c51", "c51_jax", "ddpg", "ddpg_jax", "dqn", "dqn_jax", "ppo"),
                *("ppo_envpool_jax", "td3", "td3_jax"),
            )
        ],
        "rlscope.auto.trainers:watch_cleanrl",
    ),
    **dict.fromkeys(
        [
            *("tianshou.env.venvs", "skrl.envs.wrappers.torch.base", "skrl.envs.wrappers.jax.base"),
            *("open_spiel.python.rl_environment", "open_spiel.python.vector_env"),
        ],
        "rlscope.auto.environments:watch_library",
    ),
    "tianshou.data.collector": "rlscope.auto.conversions:watch_tianshou",
    "stable_baselines3.common.utils": "rlscope.auto.updates:watch_stable_baselines3",
    **dict.fromkeys(
        [
            "skrl.models.torch.base",
            "torchrl.objectives.utils",
        ],
        "rlscope.auto.updates:watch",
    ),
    "tianshou.algorithm.algorithm_base": "rlscope.auto.updates:watch_tianshou",
    "open_spiel.python.algorithms.exploitability": "rlscope.auto.trainers:watch_open_spiel",
    "transformers.trainer": "rlscope.auto.trainers:watch_transformers",
    "transformers.modeling_utils": "rlscope.auto.trainers:watch_pretrained",
    "numba": "rlscope.auto.compilers:watch_numba",
    "triton.compiler": "rlscope.auto.compilers:watch_triton",
    "tensorflow.python.eager.polymorphic_function.polymorphic_function": (
        "rlscope.auto.tensorflow:watch_function"
    ),
    "tensorflow.python.eager.polymorphic_function.tracing_compilation": (
        "rlscope.auto.tensorflow:watch_tracing"
    ),
    "tensorflow.python.eager.backprop": "rlscope.auto.tensorflow:watch_tape",
    "tensorflow.python.ops.resource_variable_ops": "rlscope.auto.tensorflow:watch_variable",
    "tensorflow.python.checkpoint.checkpoint": "rlscope.auto.tensorflow:watch_checkpoint",
    "keras.src.layers.layer": "rlscope.auto.keras:watch_layer",
    "keras.src.engine.base_layer": "rlscope.auto.keras:watch_layer",  # Keras 2
    "tf_keras.src.engine.base_layer": "rlscope.auto.keras:watch_layer",
    "keras.src.backend.common.variables": "rlscope.auto.keras:watch_variable",
    "keras.src.optimizers.base_optimizer": "rlscope.auto.keras:watch_optimizer",
    "keras.src.models.model": "rlscope.auto.keras:watch_model",
    "keras.src.saving.saving_api": "rlscope.auto.keras:watch_loading",
    "keras.src.backend.tensorflow.trainer": "rlscope.auto.keras:watch_trainer",
    "keras.src.backend.jax.trainer": "rlscope.auto.keras:watch_trainer",
    "keras.src.backend.torch.trainer": "rlscope.auto.keras:watch_trainer",
    "keras.src.engine.training": "rlscope.auto.keras:watch_trainer",
    "tf_keras.src.engine.training": "rlscope.auto.keras:watch_trainer",
    "sklearn.base": "rlscope.auto.scikit_learn:watch",
    "keras.src.ops.core": "rlscope.auto.conversions:watch",
    "keras.src.ops.numpy": "rlscope.auto.conversions:watch",
    "tensorflow.python.framework.tensor_conversion": "rlscope.auto.conversions:watch",
    "tensorflow.python.framework.constant_op": "rlscope.auto.conversions:watch",
    "tensorflow.python.ops.array_ops": "rlscope.auto.conversions:watch",
    "tensorflow.python.ops.math_ops": "rlscope.auto.conversions:watch",
    "jax._src.numpy.array_constructors": "rlscope.auto.conversions:watch",
    "jax._src.numpy.lax_numpy": "rlscope.auto.conversions:watch",
    "jax._src.random": "rlscope.auto.conversions:watch_keys",
    "jax._src.random.core": "rlscope.auto.conversions:watch_keys",
    "jax._src.api": "rlscope.auto.jax:watch_api",
    "jax._src.array": "rlscope.auto.jax:watch_array",
    "jax._src.pjit": "rlscope.auto.jax:watch_jit",
    "jax._src.dispatch": "rlscope.auto.jax:watch_compilation",
}
"""Name of a module -> "module:function" to call with it once it is imported. Not in the registry,
whose import takes 10 ms: every process of a traced program comes here."""

ROLE_ROWS = {
    "threading": "rlscope.capture.ending:watch_threads",
    "multiprocessing.util": "rlscope.capture.roles:watch_children",
    "multiprocessing.context": "rlscope.capture.roles:watch_spawned",
    "multiprocess.util": "rlscope.capture.roles:watch_children",
    "multiprocess.context": "rlscope.capture.roles:watch_spawned",
    "ray._private.function_manager": "rlscope.capture.roles:watch_ray",
    "ray._private.worker": "rlscope.capture.ray_worker:watch",
    "greenlet._greenlet": "rlscope.capture.greenlets:watch",
}
"""The same for roles of processes, processes that the run lacks, what a thread runs, and the end of
the interpreter. They count without automatic operations, too."""

NAME_ROWS = {
    "torch._ops": "rlscope.frameworks.pytorch",
    "jax._src.pjit": "rlscope.frameworks.jax",
}
"""Name of a module whose functions are made at run time, without the names that programs know them
by -> the module that names them: name_new(module) those to come, name_made(module) those that are
there."""

GENERAL_ROWS = {
    "numpy": "rlscope.auto.first_thread:begin",
    "numpy.random": "rlscope.auto.draws:watch_numpy",
    "random": "rlscope.auto.first_thread:begin",
    "pickle": "rlscope.auto.pickles:watch",
    "multiprocessing.connection": "rlscope.auto.messages:watch_connections",
    "multiprocessing.queues": "rlscope.auto.messages:watch_queues",
    "multiprocessing.process": "rlscope.auto.messages:watch_processes",
    "multiprocessing.pool": "rlscope.auto.messages:watch_pools",
    "concurrent.futures.process": "rlscope.auto.messages:watch_executors",
    "concurrent.futures.thread": "rlscope.auto.messages:watch_thread_executors",
    "joblib.parallel": "rlscope.auto.messages:watch_joblib",
}
"""The same, of libraries that programs without any learning use, too: no import counts for them."""

BUFFER_WORDS = ("replay", "buffer", "memory", "storage", "sumtree")
"""Words in the names of classes that may be replay buffers (replay.py)."""

YIELD_ROWS = {"torch.autograd.profiler": "rlscope.capture.torch_profiler:watch"}
"""The same, where PyTorch's own profiler gets CUPTI (RLSCOPE_CUPTI_YIELD)."""

BESIDE_ROWS = {"torch.autograd.profiler": "rlscope.capture.torch_profiler:watch_beside"}
"""The same, where windows of GPU work would end CUPTI for it (RLSCOPE_GPU_SHARE)."""

LINE_ROWS = {"torch.autograd.graph": "rlscope.auto.backward_lines:watch"}
"""The same, where lines of forwards get the time of their backward (RLSCOPE_LINES=backward)."""

ENVIRONMENT_METHODS = ("step", "reset")
"""What a class has that may be an environment of no known library (own_environments.py)."""

_watched: "dict[str, Handler | tuple[Handler] | None]" = {}
"""What the core asks by the name of the module that was imported."""


def begin(operations: bool = True) -> None:
    """Hooks what is imported and what will be, each module once, if this process is recorded, and
    names functions anew: an end of recording forgets their names. Never raises.

    `operations`: not only roles of processes, and PyTorch's profiler where it gets CUPTI.
    """
    if runtime.state() == "off":
        return
    try:
        handlers = _handlers(operations)
        # Those that a recording without operations only named functions of.
        named = [name for name in NAME_ROWS.keys() & ROWS.keys() if _is_named_only(name, handlers)]
        new = {name: each for name, each in handlers.items() if name not in _watched}
        if not _watched:
            if not runtime.watch_imports(_watched, _plain):
                return
            _watch_loader()
        if operations:
            runtime.find_environments(
                _handler("rlscope.auto.own_environments:look"),
                _handler("rlscope.auto.own_environments:found"),
                _is_transition,
            )
            words = BUFFER_WORDS + tuple(
                name.rpartition(".")[2] for _, name in named_environments()
            )
            runtime.watch_classes(
                words, ENVIRONMENT_METHODS, _handler("rlscope.auto.classes:watch")
            )
    except Exception:  # hidden from the program: its time is then of no operation
        return
    _watched.update(new | {name: handlers[name] for name in named})
    new |= {name: _handler(ROWS[name]) for name in named}
    for name in new.keys() & sys.modules.keys():
        found = new[name]
        handler = found[0] if isinstance(found, tuple) else found
        if handler is not None:
            handler(sys.modules[name])
    if operations and (new.keys() & ROWS.keys() & sys.modules.keys()):
        _handler("rlscope.auto.classes:watch_made")()
    for name in NAME_ROWS.keys() & sys.modules.keys():
        _handler(f"{NAME_ROWS[name]}:name_made")(sys.modules[name])


def named_environments() -> set[tuple[str, str]]:
    """(module, class) of each that the user named."""
    texts = os.environ.get("RLSCOPE_ENVIRONMENTS", "").split(",")
    parts = (text.rpartition(":") for text in texts if text)
    return {(module or "__main__", name) for module, _, name in parts}


def is_automatic() -> bool:
    """Whether operations are found in this process."""
    return any(not isinstance(_watched.get(name), (tuple, type(None))) for name in ROWS)


def _is_named_only(name: str, handlers: "dict[str, Handler | tuple[Handler] | None]") -> bool:
    return isinstance(_watched.get(name), tuple) and not isinstance(handlers[name], tuple)


def _is_transition(result: object) -> bool:
    from rlscope.auto.own_environments import is_transition

    return is_transition(result)


def _plain() -> None:
    """A function as the interpreter makes it."""


def _watch_loader() -> None:
    """Every module of Python code goes through the first of these methods, whichever finder found
    it; one of C code is loaded by the second and executed by the third."""
    from _frozen_importlib_external import ExtensionFileLoader, SourceFileLoader

    from rlscope.auto.calls import watch_method

    for loader, name in (
        (SourceFileLoader, "exec_module"),
        (ExtensionFileLoader, "create_module"),
        (ExtensionFileLoader, "exec_module"),
    ):
        owner = next(each for each in loader.__mro__ if name in vars(each))
        watch_method("import", owner, name)


def _handlers(operations: bool) -> "dict[str, Handler | tuple[Handler] | None]":
    """None, or a handler that is not in a tuple: imports count as operations from this one on."""
    names = {name: f"{row}:name_new" for name, row in NAME_ROWS.items()}
    others = ROLE_ROWS | names | _profiler_rows() | (GENERAL_ROWS if operations else {})
    if os.environ.get("RLSCOPE_LINES") == "backward":
        others |= LINE_ROWS
    found: dict[str, Handler | tuple[Handler] | None] = {
        name: (_handler(row),) for name, row in others.items()
    }
    if operations:
        # Not Ray itself, which its daemons import too.
        found |= dict.fromkeys({name.partition(".")[0] for name in ROWS} - {"ray"})
        found |= {name: _handler(*_of(names, name), row) for name, row in ROWS.items()}
        named = _handler("rlscope.auto.own_environments:watch_named")
        found |= dict.fromkeys({name for name, _ in named_environments()} - found.keys(), named)
    return found


def _profiler_rows() -> dict[str, str]:
    if os.environ.get("RLSCOPE_CUPTI_YIELD") == "1":
        return YIELD_ROWS
    return {} if os.environ.get("RLSCOPE_GPU_SHARE", "") in ("", "100%") else BESIDE_ROWS


def _of(rows: dict[str, str], name: str) -> list[str]:
    return [rows[name]] if name in rows else []


def _handler(*rows: str) -> "Handler":
    def hook(*made: "Any") -> None:
        for row in rows:
            owner, _, name = row.partition(":")
            try:
                getattr(__import__(owner, fromlist=[name]), name)(*made)
            except Exception:  # another release of the library: it stays as it is
                continue

    return hook
