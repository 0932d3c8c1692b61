"""What every workload does around its algorithm: seeds, says what it is, trains, says how well.

class Trainer:
    returns: list[float]         # of the episodes so far
    def __init__(self, args: Args) -> None: ...
    def train(self) -> None: ...

run_training("PPO", args, Trainer)
"""

import contextlib
import random
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

import rlscope as rls

_NOTHING = contextlib.nullcontext()


def run_training(algorithm: str, args: Any, trainer_of: Callable[[Any], Any]) -> None:
    """Trains and prints how well and how fast."""
    torch.set_num_threads(args.torch_threads)
    if args.annotate:
        rls.process("trainer")
        rls.metadata(algorithm=algorithm, environment=args.env_id, **vars(args))
    trainer = trainer_of(args)
    start = time.perf_counter()
    trainer.train()
    seconds = time.perf_counter() - start
    mean = np.mean(trainer.returns[-20:]) if trainer.returns else float("nan")
    print(f"trained in {seconds:.1f} s; mean return of the last 20 episodes {mean:.1f}")


def seed_everything(seed: int) -> None:
    """Same seed, same machine, same returns."""
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)


def no_operation(_name: str) -> contextlib.AbstractContextManager[None]:
    """In place of rls.operation: costs what an empty block costs."""
    return _NOTHING
