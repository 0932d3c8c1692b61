"""JAX: calls of the functions that `jax.jit` makes, waits for their results, what it traces and
compiles, gradients.

JAX is full of such functions itself (`jax.numpy.exp` is one): those are parts of programs
and do not count.
"""

import functools
import gc
import re
import sys
from typing import Any

from rlscope.auto import compilations, conversions, rules
from rlscope.auto.calls import watch_global
from rlscope.recorder import runtime

# The name of the module that JAX makes of a function f: jit_f, jit(f).
_MADE_BY_JIT = re.compile(r"^jit(?:_|\()(.*?)\)?$")


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
    rules.watches_compiled("jax.jit")


def watch_array(module: Any) -> None:
    """jax._src.array: JAX computes while the program goes on. Whatever asks for the value of an
    array waits in one of these."""
    array = module.ArrayImpl
    bindings = sys.modules[array.__module__]
    runtime.watch_waiting(array)  # its buffer, which NumPy asks for
    for owner, names in (
        (array, ("block_until_ready", "_single_device_array_to_np_array_did_copy")),
        (bindings, ("batched_block_until_ready", "buffer_to_dlpack_managed_tensor")),
    ):
        for name in names:
            runtime.watch_waiting(vars(owner).get(name))


def watch_compilation(module: Any) -> None:
    """jax._src.dispatch, whose blocks tell JAX's own listeners how long it traced and compiled."""
    make = module.log_elapsed_time
    last = getattr(module, "BACKEND_COMPILE_EVENT", None)

    class Compilation:
        """The same block, and an event at either end."""

        def __init__(self, *args: Any, **kwargs: Any) -> None:
            self._block = make(*args, **kwargs)
            event = kwargs.get("event", args[2] if len(args) > 2 else last)
            name = kwargs.get("fun_name", args[1] if len(args) > 1 else "")
            self._function = _MADE_BY_JIT.sub(r"\1", str(name))
            self._is_last = event == last

        def __enter__(self) -> Any:
            entered = self._block.__enter__()
            _begins()
            compilations.begin()
            return entered

        def __exit__(self, *exc: Any) -> Any:
            compilations.end("JAX", self._function, count=int(self._is_last))
            (_ends if self._is_last else _pauses)()
            return self._block.__exit__(*exc)

    module.log_elapsed_time = Compilation
    rules.watches("compilation", "JAX")


_begins, _ends, _pauses = (
    runtime.watch(f"compilation {edge}", lambda: None) for edge in ("enter", "exit", "pause")
)


def watch_api(module: Any) -> None:
    """jax._src.api: what computes gradients of a loss checks that it is a scalar."""
    watch_global("gradients", module._check_scalar, module)
    conversions.watch(module)


def _watch(compiled: Any) -> None:
    module = getattr(compiled, "__module__", None) or ""
    if module.partition(".")[0] != "jax":
        runtime.watch_compiled(compiled)
