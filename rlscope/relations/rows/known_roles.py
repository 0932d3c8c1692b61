"""Functions and command lines whose processes have a known role.

A row is what a library starts a process with: the target of its multiprocessing.Process as
"module.qualified name", or a part of its command line.
"""

from __future__ import annotations

from typing import NamedTuple

ENVIRONMENT_WORKER = "environment worker"
DATA_LOADER_WORKER = "data loader worker"
EVALUATOR = "evaluator"
WORKER = "worker"
HELPER = "helper"
ACTOR = "actor"
TASK = "task"
RANK = "rank"
MAIN = "main"
PROGRAM = "program"


class Known(NamedTuple):
    """What a process is by what it was started with."""

    role: str
    name: str


_ENVIRONMENT = Known(ENVIRONMENT_WORKER, "env worker")
_POOL = Known(WORKER, "pool worker")

TARGETS = {
    "gymnasium.vector.async_vector_env._async_worker": _ENVIRONMENT,
    "gymnasium.vector.async_vector_env._worker": _ENVIRONMENT,  # before 1.0
    "gymnasium.vector.async_vector_env._worker_shared_memory": _ENVIRONMENT,
    "gym.vector.async_vector_env._worker": _ENVIRONMENT,
    "gym.vector.async_vector_env._worker_shared_memory": _ENVIRONMENT,
    "stable_baselines3.common.vec_env.subproc_vec_env._worker": _ENVIRONMENT,
    "stable_baselines.common.vec_env.subproc_vec_env._worker": _ENVIRONMENT,
    "baselines.common.vec_env.subproc_vec_env.worker": _ENVIRONMENT,
    "baselines.common.vec_env.shmem_vec_env._subproc_worker": _ENVIRONMENT,
    "torchrl.envs.batched_envs._run_worker_pipe_shared_mem": _ENVIRONMENT,
    "torchrl.envs.batched_envs._run_worker_pipe_direct": _ENVIRONMENT,
    "torchrl.envs.async_envs.ProcessorAsyncEnvPool._env_exec": _ENVIRONMENT,
    "torchrl.envs.async_envs.ProcessorAsyncEnvPool._worker_exec": _ENVIRONMENT,
    "torchrl.collectors._async_batched._process_env_loop": _ENVIRONMENT,
    "tianshou.env.worker.subproc._worker": _ENVIRONMENT,
    "supersuit.vector.multiproc_vec.async_loop": _ENVIRONMENT,
    "torch.utils.data._utils.worker._worker_loop": Known(DATA_LOADER_WORKER, "data loader"),
    "torchrl.collectors._runner._main_async_collector": Known(WORKER, "collector"),
    "torchrl.collectors.collectors._main_async_collector": Known(WORKER, "collector"),
    "multiprocessing.pool.worker": _POOL,
    "concurrent.futures.process._process_worker": _POOL,
    "joblib.externals.loky.process_executor._process_worker": _POOL,
    "loky.process_executor._process_worker": _POOL,
    "multiprocessing.managers.BaseManager._run_server": Known(HELPER, "manager"),
}
"""Target of multiprocessing.Process -> what its process is."""

_TORCHRUN = Known(HELPER, "torchrun")
_CHILD = Known(WORKER, "worker")

COMMANDS = {
    "multiprocessing.spawn import": _CHILD,  # before it knows its target
    "multiprocessing.resource_tracker": Known(HELPER, "resource tracker"),
    "multiprocessing.forkserver": Known(HELPER, "fork server"),
    "loky.backend.popen_loky_posix": _CHILD,
    "torch.distributed.run": _TORCHRUN,
    "torch.distributed.launch": _TORCHRUN,
    "accelerate.commands": Known(HELPER, "accelerate"),
    "deepspeed.launcher": Known(HELPER, "deepspeed"),
}
"""Part of a Python program's command line -> what it is."""

LAUNCHERS = ("torchrun", "accelerate", "deepspeed")
"""Scripts that start programs and wait for them."""

RAY_SERVICES = {
    "/ray/dashboard/dashboard.py": "ray dashboard",
    "/ray/dashboard/agent.py": "ray dashboard agent",
    "/ray/_private/log_monitor.py": "ray log monitor",
    "/ray/autoscaler/_private/monitor.py": "ray autoscaler",
    "/ray/_private/runtime_env/agent/main.py": "ray runtime env agent",
    "/ray/util/client/server": "ray client server",
}
"""Part of the command line of a service of Ray -> its name; what it starts serves, too."""

RAY_WORKER = "/ray/_private/workers/"
RAY_TITLE = "ray::"
RAY_IDLE = "ray::IDLE"
"""Parts of the command line of a Ray worker, and of the titles that Ray gives processes later."""

RAYLET = "raylet"
"""The program that starts Ray's workers."""
