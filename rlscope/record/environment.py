"""Environment variables of a traced program, beside those of rlscope.record.profile."""

from __future__ import annotations

import os
from collections.abc import Mapping

from rlscope.cuda_driver import driver_path
from rlscope.record.config import AUTO, Config
from rlscope.record.profile import traced_environment
from rlscope.record.settings import Settings

_OPTIONS = "ASAN_OPTIONS"
_LINK_ORDER = "verify_asan_link_order"


def sanitizer_variables(environ: Mapping[str, str]) -> dict[str, str]:
    """The variables, with their new values, that let AddressSanitizer live with a preload.

    It refuses to start a program unless its runtime is the first library of all, which a preloaded
    one always precedes. An option that is set already stays.

    >>> sanitizer_variables({"ASAN_OPTIONS": "detect_leaks=0"})
    {'ASAN_OPTIONS': 'detect_leaks=0:verify_asan_link_order=0'}
    """
    present = environ.get(_OPTIONS, "")
    if _LINK_ORDER in present:
        return {}
    setting = f"{_LINK_ORDER}=0"
    return {_OPTIONS: f"{present}:{setting}" if present else setting}


def program_variables(directory: str, settings: Settings, limits: Config) -> dict[str, str]:
    """All variables of the traced program."""
    environ = dict(os.environ)
    automatic = limits.auto if settings.auto is None else settings.auto
    return {
        **environ,
        **traced_environment(
            directory, environ, interpose=(settings.cuda or limits.cuda) == "interpose"
        ),
        **sanitizer_variables(environ),
        **layer_variables(environ, settings),
        "RLSCOPE_AUTO": "1" if automatic else "0",
        **({} if settings.probes else {"RLSCOPE_PROBES": "0"}),
        **({} if settings.stacks else {"RLSCOPE_STACKS": "0"}),
        **({"RLSCOPE_LINES": settings.lines} if settings.lines else {}),
        **({"RLSCOPE_SOURCE": ":".join(settings.source)} if settings.source else {}),
    }


def default_gpu_share(environ: Mapping[str, str], *, is_part: bool = False) -> str:
    """How much GPU work rls-prof records if no option says it. Empty: as the environment says, and
    else all.

    Args:
        is_part: only a part of the run is recorded, or kept, and that should have all of it.
    """
    # Without CUDA, no process needs to look for it.
    is_auto = not is_part and not environ.get("RLSCOPE_GPU_SHARE") and driver_path(environ)
    return AUTO if is_auto else ""


def layer_variables(environ: Mapping[str, str], settings: Settings) -> dict[str, str]:
    """The variables, with their new values, of the options that say what is a layer.

    An option that was not given leaves its variable alone.
    """
    given = {
        "RLSCOPE_INTERCEPT": settings.intercept,
        "RLSCOPE_CUDA": settings.cuda,
        "RLSCOPE_CUDA_API": settings.cuda_api,
        "RLSCOPE_CUDA_PARTS": settings.cuda_parts,
        "RLSCOPE_CUDA_GRAPH_TRACE": settings.cuda_graph_trace,
        "RLSCOPE_GPU_SHARE": settings.gpu_share,
        "RLSCOPE_GPU_CALLS": settings.gpu_calls,
    }
    changes = {variable: value for variable, value in given.items() if value}
    if settings.gpu_share not in ("", "100%", AUTO):
        changes["RLSCOPE_CUPTI_YIELD"] = "1"  # ending CUPTI would end it for torch.profiler, too
    if settings.cupti:
        changes["RLSCOPE_CUPTI_YIELD"] = "1" if settings.cupti == "yield" else "0"
    if settings.numpy:
        changes["RLSCOPE_NUMPY"] = "1"
    if not settings.waits:
        changes["RLSCOPE_WAITS"] = "0"
    lists = {
        "RLSCOPE_SIMULATORS": settings.simulator,
        "RLSCOPE_ENVIRONMENTS": settings.environment,
    }
    for variable, values in lists.items():
        if values:
            before = environ.get(variable, "").split(",")
            changes[variable] = ",".join(filter(None, [*before, *values]))
    return changes
