"""JAX: calls of the functions that `jax.jit` makes.

JAX is full of such functions itself (`jax.numpy.exp` is one): those are parts of programs
and do not count.
"""

import functools
import gc
import sys
from typing import Any

from rlscope.auto import rules
from rlscope.native import runtime


def watch_jit(module: Any) -> None:
    """jax._src.pjit, where every compiled function comes from."""
    make = module._cpp_pjit

    @functools.wraps(make)
    def _cpp_pjit(*args: Any, **kwargs: Any) -> Any:
        compiled = make(*args, **kwargs)
        _watch(compiled)
        return compiled

    module._cpp_pjit = _cpp_pjit
    if hasattr(sys.modules.get("jax"), "jit"):  # imported long ago: there may be functions already
        kind = type(sys.modules["jax"].jit(_watch))
        for each in gc.get_objects():
            if type(each) is kind:
                _watch(each)
    rules.watches("compiled", "jax.jit")


def _watch(compiled: Any) -> None:
    module = getattr(compiled, "__module__", None) or ""
    if module.partition(".")[0] != "jax":
        runtime.watch_compiled(compiled)
