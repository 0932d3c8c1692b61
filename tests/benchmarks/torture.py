"""Programs that do little else than be recorded: what validation.py checks the correction with.

    rlscope validate python tests/benchmarks/torture.py operations
    export RLSCOPE_TEST_DELAY=operation=1000
    rlscope validate python tests/benchmarks/torture.py operations 300

An iteration is a thousand of the smallest things that rlscope records; with a number, each of them
with so many turns of an empty loop of Python. A delay makes each record of a kind longer by so many
nanoseconds (csrc/native_calls/test_delay.h).
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable

import rlscope as rls

TINY = 1_000
WORK = range(int(sys.argv[2]) if len(sys.argv) > 2 else 0)


def operations() -> Callable[[], None]:
    """Annotations around nothing."""
    operation = rls.operation("tiny")

    def iterate() -> None:
        for _ in range(TINY):
            with operation:
                for _ in WORK:
                    pass

    return iterate


def native_calls() -> Callable[[], None]:
    """Calls of PyTorch that take 40 ns."""
    import torch

    dim = torch.zeros(3).dim

    def iterate() -> None:
        for _ in range(TINY):
            dim()
            for _ in WORK:
                pass

    return iterate


def both() -> Callable[[], None]:
    """Two such calls in each annotation."""
    import torch

    dim = torch.zeros(3).dim
    operation = rls.operation("tiny")

    def iterate() -> None:
        for _ in range(TINY):
            with operation:
                dim()
                dim()
                for _ in WORK:
                    pass

    return iterate


def threads() -> Callable[[], None]:
    """Eight threads with annotations, in turns for the GIL."""
    operation = rls.operation("tiny")
    workers = 8
    begin, end = threading.Barrier(workers + 1), threading.Barrier(workers + 1)

    def work() -> None:
        while True:
            begin.wait()
            for _ in range(TINY):
                with operation:
                    pass
            end.wait()

    for _ in range(workers):
        threading.Thread(target=work, daemon=True).start()

    def iterate() -> None:
        begin.wait()
        end.wait()

    return iterate


def waits() -> Callable[[], None]:
    """Sleeps of some microseconds: the smallest waits that are recorded."""

    def iterate() -> None:
        for _ in range(TINY // 10):
            time.sleep(1e-6)

    return iterate


def automatic() -> Callable[[], None]:
    """The smallest policy and simulator, without annotations."""
    import gymnasium
    import numpy as np
    import torch

    class Nothing(gymnasium.Env[np.ndarray, int]):
        observation_space = gymnasium.spaces.Box(-1, 1, (1,))
        action_space = gymnasium.spaces.Discrete(2)
        _observation = np.zeros(1, np.float32)

        def reset(self, **_: object) -> tuple[np.ndarray, dict[str, object]]:
            return self._observation, {}

        def step(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict[str, object]]:
            return self._observation, 0.0, False, False, {}

    environment = Nothing()
    policy = torch.nn.Identity()
    environment.reset()
    observation = torch.zeros(1)

    def iterate() -> None:
        for _ in range(TINY):
            policy(observation)
            environment.step(0)
            for _ in WORK:
                pass

    return iterate


def training() -> Callable[[], None]:
    """No torture: updates of a small network."""
    import torch

    torch.set_num_threads(1)
    model = torch.nn.Sequential(torch.nn.Linear(4, 64), torch.nn.Tanh(), torch.nn.Linear(64, 2))
    optimizer = torch.optim.Adam(model.parameters())
    batch = torch.randn(64, 4)

    def iterate() -> None:
        for _ in range(5):
            with rls.operation("inference"), torch.no_grad():
                model(batch)
            with rls.operation("update"):
                optimizer.zero_grad()
                model(batch).square().mean().backward()
                optimizer.step()

    return iterate


PROGRAMS = {
    each.__name__: each
    for each in (operations, native_calls, both, threads, waits, automatic, training)
}


def main() -> None:
    iterate = PROGRAMS[sys.argv[1]]()
    while True:  # until it is ended at an iteration
        rls.iteration()
        iterate()


if __name__ == "__main__":
    main()
