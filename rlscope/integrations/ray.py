"""Ray: workers of a cluster that runs already are recorded with the program that uses them.

    ray.init(address="auto", runtime_env=rlscope.integrations.ray.runtime_env())

A Ray that the program starts needs nothing of this: its workers inherit the variables.
"""

import os
from collections.abc import Mapping
from typing import Any

from rlscope.capture import ray_cluster
from rlscope.recorder import runtime

__all__ = ["runtime_env"]

_INJECTION = "CUDA_INJECTION64_PATH"


def runtime_env(base: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """A runtime environment for ray.init, or for one actor or task: its workers are recorded into
    the run of this process.

    They must be on this machine, and their interpreter must have rlscope: others work as ever and
    are not in the trace. Where this process is not recorded the result is `base`, so the call can
    stay in the program.

    Args:
        base: the runtime environment that the program would use otherwise.
    """
    environment = dict(base or {})
    if runtime.state() == "off" or "RLSCOPE_DIR" not in os.environ:
        return environment
    ray_cluster.note_given()
    variables = dict(environment.get("env_vars") or {})
    environment["env_vars"] = {**variables, **_ours(variables)}
    return environment


def _ours(variables: Mapping[str, str]) -> dict[str, str]:
    ours = {name: text for name, text in os.environ.items() if name.startswith("RLSCOPE_")}
    libraries = [path for path in _preloaded(os.environ) if _is_ours(path)]
    if libraries:
        # Ray puts what the cluster's own workers have into the place of ${...}.
        before = variables.get("LD_PRELOAD", "${LD_PRELOAD}")
        ours["LD_PRELOAD"] = ":".join([before, *libraries])
    if _is_ours(os.environ.get(_INJECTION, "")) and _INJECTION not in variables:
        ours[_INJECTION] = os.environ[_INJECTION]
    return ours


def _preloaded(environ: Mapping[str, str]) -> list[str]:
    return environ.get("LD_PRELOAD", "").replace(":", " ").split()


def _is_ours(path: str) -> bool:
    return os.path.basename(path).startswith("librlscope")
