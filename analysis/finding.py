"""What a rule of analysis/findings gives: a finding, with its evidence and its price.

    def find(trace: Trace, loop: Loop) -> Iterator[Finding]: ...

    RULE = Rule(find)

analysis/advice.py asks the rules, ranks what they found, and makes the relation `finding` of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rlscope.analysis.prices import Price

if TYPE_CHECKING:
    from rlscope.analysis.critical_loop import Loop
    from rlscope.relations.trace import Trace


@dataclass(frozen=True)
class Experiment:
    """A measurement on the reader's machine that replaces an assumption of a price."""

    name: str
    """A file of rlscope/experiments/programs."""
    settings: Mapping[str, Any]
    """What it needs to know of the run, as JSON."""
    whole: Price
    """Time of the loop that the experiment's work stands for: the price is a part of it."""


@dataclass(frozen=True)
class Measured:
    """What an experiment found."""

    name: str
    left: Price | None = None
    """The part of the time that is left in the advised way, with its interval: 1 is all. None: it
    could not be measured."""
    program_s: float = 0.0
    """How long the work takes in the program's way, and below in the advised way."""
    advised_s: float = 0.0
    problem: str = ""
    """Why it could not be measured."""


@dataclass(frozen=True)
class Finding:
    """One thing to mend. All texts are plain, and may have names of the program."""

    title: str
    """What is slow, in some words without an end: "10,112 calls of .item() in inference"."""
    evidence: str
    """A sentence or two with the numbers that show it."""
    evidence_sql: str
    """A statement that shows these numbers (statement.shown())."""
    fix: str
    """How to mend it: one sentence."""
    no_effect: str
    """When mending it changes nothing: one sentence, which begins with "No effect"."""
    price: Price | None = None
    """Time of the loop that can be won back. None: it is paid once, for `once_ns`."""
    experiment: Experiment | None = None
    """What `rlscope advise --measure` runs for the price; None: the rule has nothing to measure."""
    ends_starving: bool = False
    """Whether the fix gives a loop that waits for others its work sooner. Other prices of such a
    loop begin at 0."""
    outside_ns: int = 0
    """The part of the price that is no time of the loop, as compilations are: its share is of the
    loop and of this."""
    once_ns: int = 0
    operation: str | None = None
    """Where the time is; None, or the one of time in no operation: the relation has NULL."""
    file: str | None = None
    line: int | None = None


@dataclass(frozen=True)
class Rule:
    """Finds what it knows about. It is silent where its evidence is weak, and where the program
    already has what it would advise."""

    find: Callable[[Trace, Loop], Iterable[Finding]]
    of_lines: bool = False
    """Whether prices are time of the finding's line, or of lines around it, and of nothing else.
    Two such findings at two lines are about different times."""
