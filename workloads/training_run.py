"""What every workload does around its algorithm: says what it is, trains, says how well.

class Trainer:
    returns: list[float]         # of the episodes so far
    def __init__(self, args: Args) -> None: ...
    def train(self) -> None: ...

run_training("PPO", args, Trainer)

It imports no framework; what those need is in torch_training, tensorflow_training and jax_training.
"""

import contextlib
import random
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import rlscope as rls

_NOTHING = contextlib.nullcontext()


def run_training(algorithm: str, args: Any, trainer_of: Callable[[Any], Any]) -> None:
    """Trains and prints how well and how fast."""
    if args.annotate:
        rls.process("trainer")
        rls.metadata(algorithm=algorithm, environment=args.env_id, **vars(args))
    trainer = trainer_of(args)
    start = time.perf_counter()
    trainer.train()
    seconds = time.perf_counter() - start
    mean = np.mean(trainer.returns[-20:]) if trainer.returns else float("nan")
    print(f"trained in {seconds:.1f} s; mean return of the last 20 episodes {mean:.1f}")


def iterations(trainer: Any, count: int) -> Iterator[int]:
    """Counts the iterations of a run, marks them in the trace and prints lines of progress."""
    every = trainer.args.print_every
    for iteration in range(count):
        if trainer.args.annotate:
            rls.iteration()
            rls.progress(iteration, count)
        yield iteration
        done = iteration + 1
        if every and (done % every == 0 or done == count) and trainer.returns:
            mean = np.mean(trainer.returns[-20:])
            print(f"iteration {done}/{count}: mean return of 20 episodes {mean:.1f}")
    if trainer.args.annotate:
        rls.progress(count, count)


def seed_everything(seed: int) -> None:
    """Same seed, same machine, same returns: of what is drawn with Python and NumPy."""
    random.seed(seed)
    np.random.seed(seed)


def no_operation(_name: str) -> contextlib.AbstractContextManager[None]:
    """In place of rls.operation: costs what an empty block costs."""
    return _NOTHING
