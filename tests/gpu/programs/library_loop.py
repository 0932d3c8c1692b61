"""The same computation on the GPU, again and again, with a library: one kernel each time.

python library_loop.py torch|jax|cupy|numba|triton

Says how often, and a part of the kernel's name; empty where the library makes up the name.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

from driver import say

ROUNDS = 100


def with_torch() -> str:
    import torch

    x = torch.ones(64, device="cuda")
    for _ in range(ROUNDS):
        x.add_(1)
    torch.cuda.synchronize()
    return "CUDAFunctorOnSelf_add"


def with_jax() -> str:
    import jax

    assert jax.devices()[0].platform == "gpu", "JAX has no GPU"
    step = jax.jit(lambda x: x * 2 + 1)
    x = jax.numpy.ones(8)
    for _ in range(ROUNDS):
        x = step(x)
    x.block_until_ready()
    return ""


def with_cupy() -> str:
    import cupy

    fill = cupy.ElementwiseKernel("float32 x", "float32 y", "y = x + 1", "rlscope_fill")
    x = cupy.zeros(8, cupy.float32)
    for _ in range(ROUNDS):
        fill(x, x)
    cupy.cuda.Device().synchronize()
    return "rlscope_fill"


def with_numba() -> str:
    from numba import cuda

    @cuda.jit  # type: ignore[untyped-decorator]
    def rlscope_fill(x):  # type: ignore[no-untyped-def]
        x[cuda.grid(1)] = 1

    x = cuda.device_array(8)
    for _ in range(ROUNDS):
        rlscope_fill[1, 8](x)
    cuda.synchronize()
    return "rlscope_fill"


def with_triton() -> str:
    import torch
    import triton
    import triton.language as tl

    @triton.jit  # type: ignore[untyped-decorator]
    def rlscope_fill(x, size: tl.constexpr):  # type: ignore[no-untyped-def]
        tl.store(x + tl.arange(0, size), 1.0)

    x = torch.empty(64, device="cuda")
    for _ in range(ROUNDS):
        rlscope_fill[(1,)](x, 64)
    torch.cuda.synchronize()
    return "rlscope_fill"


LIBRARIES: dict[str, Callable[[], str]] = {
    each.__name__.removeprefix("with_"): each
    for each in (with_torch, with_jax, with_cupy, with_numba, with_triton)
}

if __name__ == "__main__":
    say(name=LIBRARIES[sys.argv[1]](), rounds=ROUNDS)
