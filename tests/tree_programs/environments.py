"""Environments in worker processes: environments.py gymnasium|stable_baselines3 METHOD [kill]"""

from __future__ import annotations

import contextlib
import multiprocessing
import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import gymnasium
import numpy as np
import work

Maker = Callable[[], gymnasium.Env[Any, Any]]


class Working(gymnasium.Env[Any, Any]):
    """Does the work of its worker, step by step."""

    def __init__(self, worker: int, kill: bool) -> None:
        self.observation_space = gymnasium.spaces.Discrete(2)
        self.action_space = gymnasium.spaces.Discrete(2)
        self._steps = work.Steps(worker, kill=kill)

    def reset(self, **_: Any) -> tuple[int, dict[str, Any]]:
        return 0, {}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        self._steps.run_one()
        return 0, 0.0, False, False, {}


def gymnasium_steps(makers: Sequence[Maker], method: str) -> None:
    environments = gymnasium.vector.AsyncVectorEnv(makers, context=method)
    try:
        run_steps(environments)
        environments.close()
    except EOFError:  # a worker was killed
        environments.closed = True
        end_workers(environments.parent_pipes, environments.processes)


def stable_baselines3_steps(makers: Sequence[Maker], method: str) -> None:
    from stable_baselines3.common.vec_env import SubprocVecEnv

    environments = SubprocVecEnv(list(makers), start_method=method)
    try:
        run_steps(environments)
        environments.close()
    except (EOFError, ConnectionResetError):  # a worker was killed
        end_workers(environments.remotes, environments.processes)


def run_steps(environments: Any) -> None:
    environments.reset()
    for _ in range(work.STEPS):
        environments.step(np.zeros(work.WORKERS, dtype=np.int64))


def end_workers(pipes: Sequence[Any], processes: Sequence[Any]) -> None:
    """The workers that live end as if no other one had been killed."""
    for pipe in pipes:
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            pipe.send(("close", None))
    for process in processes:
        process.join()


if __name__ == "__main__":
    library, method, kill = sys.argv[1], sys.argv[2], "kill" in sys.argv
    multiprocessing.set_forkserver_preload([library])  # once, and not in each worker
    makers = [partial(Working, worker, kill) for worker in range(work.WORKERS)]
    steps = {"gymnasium": gymnasium_steps, "stable_baselines3": stable_baselines3_steps}
    steps[library](makers, method)
