"""JAX: everything below the folder of `jaxlib`; `jax` itself is pure Python.

jaxlib/_jax.so (xla_extension.so in older releases) holds the bindings, nanobind's, whose functions
keep a vectorcall pointer of their own; the code behind them is in libjax_common.so beside it, so
the folder is what matters and not the object that Python imports. The CUDA and ROCm
plugins are packages of their own.
"""

from rlscope.capture.library import Library

LIBRARY = Library(
    ["jaxlib", "jax_cuda12_plugin", "jax_cuda13_plugin", "jax_rocm60_plugin", "jax_rocm7_plugin"]
)
