"""How many traces hypothesis makes up: HYPOTHESIS_PROFILE=quick (default), thin or long.

quick and thin are derandomized: the same traces on every machine. long draws new ones each time.
What made-up traces can notice is said by mutations of the rules: mutants.py.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from itertools import count as numbers
from typing import TypeVar

from hypothesis import HealthCheck, Phase, Verbosity, given, settings
from hypothesis.strategies import SearchStrategy

Example = TypeVar("Example")

_SLOW = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example)

_SAME_EACH_TIME = settings(derandomize=True, deadline=None, suppress_health_check=_SLOW)

PROFILES = {
    "thin": settings(_SAME_EACH_TIME, max_examples=50),
    "quick": settings(_SAME_EACH_TIME, max_examples=150),
    "long": settings(
        max_examples=20_000, deadline=None, suppress_health_check=_SLOW, verbosity=Verbosity.normal
    ),
}

PROFILE = PROFILES[os.environ.get("HYPOTHESIS_PROFILE", "quick")]


# Numbers are below this. An example takes as many bytes at most.
_NUMBERS = 1_000_000
_MOST_BYTES = 16_384


def share(part: float) -> settings:
    """The profile with `part` of its examples, for comparisons that are slow."""
    return settings(PROFILE, max_examples=max(1, int(PROFILE.max_examples * part)))


def draw_again(strategy: SearchStrategy[Example], count: int) -> list[Example]:
    """As many examples of Hypothesis' own search as that, the same ones each time."""
    drawn: list[Example] = []

    @settings(
        max_examples=count,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def draw(example: Example) -> None:
        drawn.append(example)

    draw()
    return drawn


def numbered(strategy: SearchStrategy[Example]) -> Callable[[int], Example]:
    """Draws the example of a number: the same each time, and without those of other numbers.

    Hypothesis' own search varies what it drew before, so that many of its examples are alike.
    """
    drawn: list[Example] = []

    @settings(database=None, deadline=None, suppress_health_check=list(HealthCheck))
    @given(strategy)
    def keep(example: Example) -> None:
        drawn.append(example)

    def draw(number: int) -> Example:
        drawn.clear()
        for attempt in numbers():  # a filter of the strategy may refuse one
            seeded = random.Random(number + attempt * _NUMBERS)
            keep.hypothesis.fuzz_one_input(seeded.randbytes(_MOST_BYTES))
            if drawn:
                break
        return drawn[0]

    return draw
