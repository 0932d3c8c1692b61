"""Numbers as people read them: each with its unit, or with what it counts.

Formatting only: the values come from tables and stay exact there.
"""

from __future__ import annotations

# Axis units of durations, smallest first: (nanoseconds in one, its name).
_DURATIONS = ((1, "ns"), (1_000, "µs"), (1_000_000, "ms"), (1_000_000_000, "s"))
_MINUTE_NS = 60 * 1_000_000_000
_SIZES = ("B", "KiB", "MiB", "GiB", "TiB")


def duration(ns: float | None) -> str:
    """Three digits and a unit ("1.24 s", "31.0 ms", "2 h 05 min"); "-" for None."""
    if ns is None:
        return "-"
    size = abs(ns)
    if size >= 10 * _MINUTE_NS:
        return _long_duration(round(ns / 1e9))
    if size < 1_000:
        return f"{round(ns)} ns"
    divisor, unit = axis_unit(size)
    return f"{digits(ns / divisor)} {unit}"


def duration_or_blank(ns: int) -> str:
    """The duration; nothing at all for 0, where many cells of a table are."""
    return duration(ns) if ns else ""


def _long_duration(seconds: int) -> str:
    minutes, rest = divmod(seconds, 60)
    if minutes < 60:
        return f"{minutes} min {rest:02d} s"
    hours, minutes = divmod(minutes, 60)
    if hours < 48:
        return f"{hours} h {minutes:02d} min"
    return f"{hours // 24} d {hours % 24:02d} h"


def axis_unit(longest_ns: float) -> tuple[int, str]:
    """The unit in which a duration is shown with at least one digit: (its nanoseconds, name)."""
    fitting = [each for each in _DURATIONS if longest_ns >= 0.9995 * each[0]]
    return fitting[-1] if fitting else _DURATIONS[0]


def digits(value: float) -> str:
    """Three significant digits, never in exponent form: "1.24", "31.0", "12,400"."""
    size = abs(value)
    places = 2 if size < 9.995 else 1 if size < 99.95 else 0
    return f"{value:,.{places}f}"


def share(part: float | None, whole: float | None) -> str:
    """`part` as percent of `whole`: "54.2 %", "< 0.1 %"; "-" when there is nothing to divide."""
    if part is None or not whole:
        return "-"
    percent = 100 * part / whole
    if 0 < percent < 0.05:
        return "< 0.1 %"
    return f"{percent:.1f} %"


def whole_percent(value: float) -> str:
    """As nvidia-smi and top show it, but never 0 for something."""
    return "< 1 %" if 0 < value < 0.5 else f"{value:.0f} %"


def rate(value: float) -> str:
    """Four digits, and never a power of ten."""
    return f"{value:,.0f}" if value >= 1000 else f"{value:.4g}"


def size(value: float | None) -> str:
    """Bytes in binary units: "1.5 GiB"."""
    if value is None:
        return "-"
    scaled, unit = float(value), 0
    while abs(scaled) >= 1024 and unit < len(_SIZES) - 1:
        scaled, unit = scaled / 1024, unit + 1
    return f"{round(scaled)} B" if unit == 0 else f"{digits(scaled)} {_SIZES[unit]}"


def count(value: float | None) -> str:
    """A number of things: "12,400"; "-" for None."""
    if value is None:
        return "-"
    return f"{value:,}" if isinstance(value, int) else f"{value:,.1f}"


def plural(number: int, noun: str) -> str:
    """ "1 process", "2 processes": the noun with its number."""
    if number == 1:
        return f"1 {noun}"
    ending = "es" if noun.endswith(("s", "x", "ch")) else "s"
    return f"{number:,} {noun}{ending}"
