"""Experience replay, in memory of NumPy.

replay = Replay(10_000, observation=(np.float32, (3,)), action=(np.float32, (1,)))
replay.add(observation, action, reward, following, terminated)
batch = replay.sample(64)
"""

from typing import Any, NamedTuple

import numpy as np


class Batch(NamedTuple):
    """Transitions that were drawn together; the first dimension of every array is the batch."""

    observation: Any
    action: Any
    reward: Any
    following: Any
    terminated: Any


class Replay:
    """The last `size` transitions: a new one takes the place of the oldest.

    `observation` and `action` say what one of them is, as NumPy does: (dtype, shape).
    """

    def __init__(self, size: int, observation: Any, action: Any) -> None:
        self.size = size
        kinds = (observation, action, np.float32, observation, np.float32)
        self.columns = [np.empty(size, kind) for kind in kinds]
        self.added = 0

    def add(self, *transition: Any) -> None:
        """Stores observation, action, reward, following observation, terminated."""
        place = self.added % self.size
        for column, value in zip(self.columns, transition, strict=True):
            column[place] = value
        self.added += 1

    def sample(self, batch_size: int) -> Batch:
        """Transitions drawn with equal chances, with replacement."""
        drawn = np.random.randint(min(self.added, self.size), size=batch_size)
        return Batch(*(column[drawn] for column in self.columns))
