"""One small computation on the GPU with a library: torch, jax, cupy, numba or triton."""

from __future__ import annotations

import sys
from collections.abc import Callable

from driver import say


def with_torch() -> None:
    import torch

    (torch.ones(8, device="cuda") + 1).sum().item()


def with_jax() -> None:
    import jax

    assert jax.devices()[0].platform == "gpu", "JAX has no GPU"
    jax.jit(lambda x: x * 2 + 1)(jax.numpy.ones(8)).block_until_ready()


def with_cupy() -> None:
    import cupy

    (cupy.ones(8) + 1).sum().get()


def with_numba() -> None:
    from numba import cuda

    @cuda.jit  # type: ignore[untyped-decorator]
    def fill(x):  # type: ignore[no-untyped-def]
        x[cuda.grid(1)] = 1

    fill[1, 8](cuda.device_array(8))
    cuda.synchronize()


def with_triton() -> None:
    import torch
    import triton
    import triton.language as tl

    @triton.jit  # type: ignore[untyped-decorator]
    def fill(x, size: tl.constexpr):  # type: ignore[no-untyped-def]
        tl.store(x + tl.arange(0, size), 1.0)

    fill[(1,)](torch.empty(64, device="cuda"), 64)
    torch.cuda.synchronize()


LIBRARIES: dict[str, Callable[[], None]] = {
    each.__name__.removeprefix("with_"): each
    for each in (with_torch, with_jax, with_cupy, with_numba, with_triton)
}

if __name__ == "__main__":
    LIBRARIES[sys.argv[1]]()
    say(library=sys.argv[1])
