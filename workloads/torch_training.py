"""What the PyTorch workloads share: options, threads, seeds and compilation.

class Trainer:
    def __init__(self, args: Args) -> None:
        compiled = compiler_of(args)
        self.loss = compiled(self._loss)        # the method itself without --compile
"""

import functools
import os
import shutil
import sys
import sysconfig
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import torch
from torch.optim import Optimizer

from rlscope.workloads import training_run
from rlscope.workloads.arguments import Count, Device
from rlscope.workloads.replay import Batch

Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass
class TorchArgs:
    device: Device = "cpu"
    """where the networks are: cpu, cuda, ...; networks this small are faster on a CPU"""
    torch_threads: Count = 1
    """threads of PyTorch; networks this small are slower with more"""
    compile: bool = False
    """compile policy, targets, losses and optimizers (torch.compile); needs a C++ compiler"""


def run_training(algorithm: str, args: Any, trainer_of: Callable[[Any], Any]) -> None:
    """Trains and prints how well and how fast."""
    torch.set_num_threads(args.torch_threads)
    training_run.run_training(algorithm, args, trainer_of)


def seed_everything(seed: int) -> None:
    """Same seed, same machine, same returns."""
    training_run.seed_everything(seed)
    torch.manual_seed(seed)


def on_device(batch: Batch, device: torch.device) -> Batch:
    """The same transitions as tensors."""
    return Batch(*(torch.as_tensor(column, device=device) for column in batch))


def compiler_of(args: TorchArgs) -> Callable[[Function], Function]:
    """`torch.compile`, or without --compile what returns a function as it is.

    What is compiled is one operation, or a part of one: the time of a compiled function belongs to
    the operation around it. Shapes stay the same from one call to the next.
    """
    if not args.compile:
        return lambda function: function
    _require_a_compiler()
    return functools.partial(torch.compile, dynamic=False)


def compiled_step(optimizer: Optimizer, args: TorchArgs) -> Optimizer:
    """The optimizer, whose step is compiled with --compile."""
    if args.compile:
        optimizer.step = compiler_of(args)(optimizer.step)
    return optimizer


def rate(args: Any) -> Any:
    """The first learning rate of an optimizer: a tensor if it is compiled, not compiled in."""
    return torch.tensor(args.learning_rate) if args.compile else args.learning_rate


def set_rate(optimizer: Optimizer, value: float) -> None:
    """Changes a learning rate that came from `rate`."""
    for group in optimizer.param_groups:
        if isinstance(group["lr"], torch.Tensor):
            group["lr"].fill_(value)
        else:
            group["lr"] = value


def _require_a_compiler() -> None:
    """Ends the program with one line where PyTorch would raise in the middle of a step."""
    compiler = os.environ.get("CXX") or "g++"
    if shutil.which(compiler) is None:
        sys.exit(f"--compile needs a C++ compiler: there is no {compiler} (CXX can name another)")
    headers = sysconfig.get_path("include")
    if not Path(headers, "Python.h").exists():
        sys.exit(f"--compile needs the C headers of Python: there is no {headers}/Python.h")
