"""JAX: everything below the folder of `jaxlib`; `jax` itself is pure Python.

jaxlib/_jax.so (xla_extension.so in older releases) holds the bindings, nanobind's, whose functions
keep a vectorcall pointer of their own; the code behind them is in libjax_common.so beside it, so
the folder is what matters and not the object that Python imports. The CUDA and ROCm
plugins are packages of their own.
"""

import functools
import gc

from rlscope.capture.library import Library
from rlscope.recorder import runtime

TYPE_CHECKING = False  # the first import of typing costs 5 ms
if TYPE_CHECKING:
    from typing import Any

LIBRARY = Library(
    ["jaxlib", "jax_cuda12_plugin", "jax_cuda13_plugin", "jax_rocm60_plugin", "jax_rocm7_plugin"]
)


def name_new(module: "Any") -> None:
    """jax._src.pjit: what `jax.jit` returns is recorded under the name of the function that it
    compiles, which JAX gives to it after it has made it."""
    make = module._cpp_pjit

    @functools.wraps(make)
    def _cpp_pjit(*args: "Any", **kwargs: "Any") -> "Any":
        jitted = make(*args, **kwargs)
        _name_jitted(jitted)
        return jitted

    module._cpp_pjit = _cpp_pjit


def name_made(module: "Any") -> None:
    kind = module.xc._xla.PjitFunction
    for each in gc.get_objects():
        if type(each) is kind:
            _name_jitted(each)


def _name_jitted(jitted: "Any") -> None:
    function = getattr(jitted, "__wrapped__", None)
    while isinstance(function, functools.partial):  # whose module would be functools
        function = function.func
    name = getattr(jitted, "__qualname__", None)
    if name:
        runtime.intercept_name(jitted, f"{getattr(function, '__module__', None)}:{name}")
