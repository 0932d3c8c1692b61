"""PyTorch's CUDA wheel on the simulated CUDA: where it is, and its training program recorded."""

from __future__ import annotations

import ctypes
import os
from functools import cache
from pathlib import Path

from support.cuda.runs import CudaRun, record_cuda

ROOT = Path(__file__).parents[3]
PROGRAM = ROOT / "tests" / "torch_cuda" / "dqn_cartpole.py"


@cache
def torch_python() -> str:
    """The Python that has the wheel."""
    python = ROOT / os.environ.get("TORCH_CUDA_PYTHON", ".venv-torch-cuda/bin/python")
    assert python.exists(), f"{python} is missing: run make test-torch-cuda"
    return str(python)


def train(*options: str) -> list[str]:
    """The command that trains."""
    return [torch_python(), str(PROGRAM), *options]


def record_training(
    folder: Path, *options: str, prof: tuple[str, ...] = (), **environment: str
) -> CudaRun:
    """Trains under rls-prof, to the end."""
    run = record_cuda(folder, train(*options), prof=prof, **environment)
    assert run.outcome.out == "trained\n"
    return run


def demangled(name: str) -> str:
    """A C++ function's name as the C++ library spells it, which PyTorch's profiler asks too."""
    library = ctypes.CDLL("libstdc++.so.6")
    library.__cxa_demangle.restype = ctypes.c_void_p
    text = library.__cxa_demangle(name.encode(), None, None, None)
    return name if text is None else ctypes.string_at(text).decode()
