"""Values of options, as argparse reads them: each is checked, and what is wrong is one line."""

from __future__ import annotations

import argparse
import os

from rlscope.record.config import AUTO, GPU_SHARE
from rlscope.rundir.kept_iterations import IterationRange

_MOST_ITERATIONS = (1 << 32) - 1  # the counters are 32 bits wide
_UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
_MOST_BYTES = (1 << 63) - 1
# The rings of one process that records little take 200 KiB.
_LEAST_SIZE = 1 << 20
# The kernel accounts CPU time in ticks of 10 ms: a share of less than five of them means nothing.
SHORTEST_PERIOD = 0.05
_SHORTEST_KEPT = 0.01


def iterations(text: str) -> int:
    """A number of iterations."""
    digits = text.lstrip("0") or "0"
    if not (text.isascii() and text.isdigit()):
        raise argparse.ArgumentTypeError(f"expected a number of iterations, got {text!r}")
    if len(digits) > len(str(_MOST_ITERATIONS)) or int(digits) > _MOST_ITERATIONS:
        raise argparse.ArgumentTypeError(
            f"expected at most {_MOST_ITERATIONS} iterations, got {text!r}"
        )
    return int(digits)


def iteration_ranges(text: str) -> tuple[IterationRange, ...]:
    """Ranges of iterations, both ends included: 100-110,5000."""
    return tuple(sorted({_iteration_range(part) for part in text.split(",")}))


def _iteration_range(text: str) -> IterationRange:
    first, dash, last = text.partition("-")
    if not all(number.isascii() and number.isdigit() for number in (first, last if dash else "0")):
        raise argparse.ArgumentTypeError(f"expected iterations such as 100-110,5000, got {text!r}")
    wanted = IterationRange(iterations(first), iterations(last if dash else first))
    if wanted.last < wanted.first:
        raise argparse.ArgumentTypeError(f"the range ends before it begins: {text!r}")
    return wanted


def rounds(text: str) -> int:
    """At least two: one does not say how far rounds differ."""
    number = int(text) if text.isascii() and text.isdigit() else 0
    if number < 2:
        raise argparse.ArgumentTypeError(f"expected 2 or more, got {text!r}")
    return number


def minutes(text: str) -> float:
    """Minutes to keep, 0: all."""
    value = _number_of("minutes", text)
    if 0 < value < _SHORTEST_KEPT:
        raise argparse.ArgumentTypeError(
            f"expected 0, or at least {_SHORTEST_KEPT} minutes, got {text!r}"
        )
    return value


def percent(text: str) -> float:
    """A share above 0: 0.5%, or 0.5."""
    value = _number_of("percent", text.removesuffix("%").rstrip())
    if not 0 < value <= 100:
        raise argparse.ArgumentTypeError(
            f"expected more than 0 and at most 100 percent, got {text!r}"
        )
    return value / 100


def size(text: str) -> int:
    """A size in bytes: 500M, 20G."""
    number = text[:-1] if text[-1:] in _UNITS else text
    bytes_each = _UNITS.get(text[-1:], 1)
    if not (number.isascii() and number.isdigit()):
        raise argparse.ArgumentTypeError(
            f"expected a size in bytes such as 500M or 20G, got {text!r}"
        )
    found = int(number) * bytes_each if len(number) < 20 else _MOST_BYTES + 1
    if found > _MOST_BYTES:
        raise argparse.ArgumentTypeError(f"expected at most {_MOST_BYTES} bytes, got {text!r}")
    if 0 < found < _LEAST_SIZE:
        raise argparse.ArgumentTypeError(
            f"expected 0, or at least {_LEAST_SIZE} bytes, got {text!r}"
        )
    return found


def gpu_share(text: str) -> str:
    """A part of the iterations in per cent, or auto."""
    if text == "":  # not given
        return text
    is_share = text == AUTO or 0 < _percent(text) <= 100
    if not GPU_SHARE.fullmatch(text) or not is_share:
        raise argparse.ArgumentTypeError(
            f"expected auto, or a share of more than 0% up to 100% such as 10%, got {text!r}"
        )
    return text if text == AUTO or _percent(text) < 100 else "100%"


def _percent(text: str) -> float:
    """0: it is no number."""
    number = text.removesuffix("%")
    return float(number) if number.replace(".", "", 1).isdigit() else 0


def period(text: str) -> float:
    """Seconds between two samples, 0: none."""
    value = seconds(text)
    if 0 < value < SHORTEST_PERIOD:
        raise argparse.ArgumentTypeError(
            f"expected 0, or at least {SHORTEST_PERIOD} seconds, got {text!r}"
        )
    return value


def module(text: str) -> str:
    """The name of a module of Python."""
    if all(part.isidentifier() for part in text.split(".")):
        return text
    raise argparse.ArgumentTypeError(f"expected the name of a module, got {text!r}")


def source(text: str) -> str:
    """A folder that is there, as an absolute path; else the name of a module."""
    if os.path.isdir(text):
        return os.path.abspath(text)
    if all(part.isidentifier() for part in text.split(".")):
        return text
    raise argparse.ArgumentTypeError(f"{text!r} is neither a folder nor the name of a module")


def environment_class(text: str) -> str:
    """A class by its name, after the name of its module and a colon if that is not the script."""
    parts = [*text.rpartition(":")[0].split("."), *text.rpartition(":")[2].split(".")]
    if all(part.isidentifier() for part in (parts if ":" in text else parts[1:])):
        return text
    raise argparse.ArgumentTypeError(
        f"expected MODULE:CLASS, or a CLASS of the script, got {text!r}"
    )


def seconds(text: str) -> float:
    """A time in seconds."""
    return _number_of("seconds", text)


def _number_of(unit: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise argparse.ArgumentTypeError(f"expected a number of {unit}, got {text!r}")
    return value
