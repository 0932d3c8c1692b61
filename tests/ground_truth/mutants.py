"""Mutations: a twin with one wrong rule must disagree with the C++ core on some made-up input.

Few inputs tell all mutations of a kind of rules from the right one: their numbers stand in the
test, and are asked first. What they do not notice is searched for among the other numbers, as after
a change of what is made up. Then a warning tells the numbers that would do.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Generic, TypeVar

Input = TypeVar("Input")
Answer = TypeVar("Answer")

LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"


@dataclass
class Inputs(Generic[Input, Answer]):
    """Numbered inputs, and what the core says about each of them."""

    draw: Callable[[int], Input]
    answer: Callable[[Input], Answer]
    noticing: Sequence[int]
    """Numbers of the inputs that notice every mutation."""
    most: int
    """How many numbers are searched."""
    _known: dict[int, tuple[Input, Answer]] = field(default_factory=dict)

    def numbers(self) -> Iterator[int]:
        """Those of the inputs that notice something, then all others."""
        yield from self.noticing
        yield from (number for number in range(self.most) if number not in self.noticing)

    def pairs(self, count: int | None = None) -> Iterator[tuple[Input, Answer]]:
        """The first inputs, with what the core says; all of them before a release."""
        for number in islice(self.numbers(), None if LONG else count):
            yield self._pair(number)

    def notice(self, agrees: Callable[[Input, Answer], bool]) -> bool:
        """Whether a mutation disagrees with the core on any of them."""
        for number in self.numbers():
            if not agrees(*self._pair(number)):
                if number not in self.noticing:
                    warnings.warn(
                        f"add {number} to the numbers of inputs that notice", stacklevel=2
                    )
                return True
        return False

    def _pair(self, number: int) -> tuple[Input, Answer]:
        if number not in self._known:
            given = self.draw(number)
            self._known[number] = (given, self.answer(given))
        return self._known[number]
