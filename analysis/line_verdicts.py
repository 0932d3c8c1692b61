"""Verdicts on lines of source: which are worth a word."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rlscope.analysis import verdicts

# Share of the loops that a line of source takes at least; how wide its interval is, by its share.
_NAMED_LINE = 0.05
_NAMED_BETWEEN = 0.005
_WIDE_INTERVAL = 0.2
# Share of the loops that a line takes which is all there is for its program.
_WHOLE_LINE = 0.8
# How long a line takes in each step at most that searches a list of about a hundred items.
_SHORT_SEARCH_NS = 5_000
# Libraries whose lines say little of a program: their work is in native code.
_FRAMEWORKS = frozenset(("torch", "tensorflow", "keras", "jax", "jaxlib", "numpy"))

Row = Mapping[str, Any]


def is_line_of_library(row: Row) -> bool:
    """Whether a row of `library_line` shows a loop that is one line for its program, and that a
    library's Python code fills: who wants to know more has to look there."""
    is_whole = row["own_ns"] > _WHOLE_LINE * row["loop_ns"]
    is_elsewhere = row["library"] not in _FRAMEWORKS and verdicts.is_most(
        row["library_ns"], row["own_ns"]
    )
    return bool(is_whole and is_elsewhere)


def is_line_named(own_low_ns: float, loop_ns: float) -> bool:
    """Whether a line takes so much of the loops, by the lower end of its interval, that the
    headline names it."""
    return own_low_ns >= _NAMED_LINE * loop_ns


def is_line_between_named(own_low_ns: float, loop_ns: float) -> bool:
    """Whether a line surely leads to a notable part of the time between operations."""
    return own_low_ns >= _NAMED_BETWEEN * loop_ns


def is_interval_wide(low: float, value: float, high: float) -> bool:
    """Whether an estimate is shown with the ends of its interval."""
    return high - low > _WIDE_INTERVAL * value


def is_search_long(each_ns: float) -> bool:
    """Whether a line searches more than a few items in each step."""
    return each_ns >= _SHORT_SEARCH_NS
