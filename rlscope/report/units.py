"""Numbers and names as people read them: every number carries its unit.

Formatting only: the values come from tables and stay exact there. The numbers are those of
rlscope.amounts.
"""

from __future__ import annotations

import os
import re

from rlscope.amounts import axis_unit as axis_unit
from rlscope.amounts import count as count
from rlscope.amounts import digits as digits
from rlscope.amounts import duration as duration
from rlscope.amounts import duration_or_blank as duration_or_blank
from rlscope.amounts import plural as plural
from rlscope.amounts import rate as rate
from rlscope.amounts import share as share
from rlscope.amounts import size as size
from rlscope.amounts import whole_percent as whole_percent
from rlscope.analysis.operations import BETWEEN, OUTSIDE
from rlscope.visible import visible as visible

# Blanks at which no line may end: before a unit, inside of a long duration, after "<".
_UNITS = "ns|µs|ms|s|min|h|d|B|KiB|MiB|GiB|TiB"
_KEPT = rf"\d (?:(?:min|h|d) \d\d (?:s|min|h)\b|(?:{_UNITS})\b|%)|< (?=\d)"
_WORD = re.compile(rf"(?:{_KEPT}|[^ ])+")
_WITH_BLANK = re.compile(_KEPT)
_NO_BREAK = "\u00a0"

# Characters of a name that a label shows; hover texts and tables show the whole name.
LABEL_CHARACTERS = 44


def words(text: str) -> list[str]:
    """The parts between which a line may end: a number and its unit are one.

    >>> words("It waits 2 h 05 min, < 0.1 %.")
    ['It', 'waits', '2 h 05 min,', '< 0.1 %.']
    """
    return _WORD.findall(text)


def unbroken(text: str) -> str:
    """The same text with no-break spaces inside its `words`."""
    return _WITH_BLANK.sub(lambda kept: kept[0].replace(" ", _NO_BREAK), text)


def kernel(function: str) -> str:
    """A kernel's name without its return type and parameters; template arguments stay: they are
    the difference between two kernels.

    >>> kernel("void scan<float>((anonymous namespace)::Block, int)")
    'scan<float>'
    """
    if function.endswith(")"):
        depth = 0
        for place in range(len(function) - 1, 0, -1):
            depth += {")": 1, "(": -1}.get(function[place], 0)
            if depth == 0:
                return function[:place].removeprefix("void ")
    return function


def operation(path: str) -> str:
    """The visible path of an operation, and one name for time in no operation."""
    return BETWEEN if path == OUTSIDE else visible(path)


def line_of(file: str, line: int | str) -> str:
    """ "train.py line 3" of "/home/me/train.py"."""
    return visible(f"{os.path.basename(file)} line {line}")


def label(text: str, limit: int = LABEL_CHARACTERS) -> str:
    """A visible name of at most `limit` characters, cut in the middle: both ends matter most."""
    shown = visible(text)
    if len(shown) <= limit:
        return shown
    head = (limit - 1) // 2
    return f"{shown[:head]}…{shown[-(limit - 1 - head) :]}"
