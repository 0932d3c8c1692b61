"""The tables of docs/reference/validation.md, made of the rows that validation.py measures.

    <!-- measured: torture -->
    | program | ... |
    <!-- end -->

What stands between two such lines is made anew; all other text is written by hand, and holds for
any measurement.
"""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from rlscope.costs import inflation

Row = Mapping[str, Any]
Rows = Mapping[str, Row]
"""By name: the part of the page, a colon, the program."""

MOST_BIAS, MOST_LEFT = 3.0, 1 / 3
"""Percent; of what recording adds, the part that may be left, where that is known or large."""
ORDINARY_BIAS = 1.0
LEAST_HELD = 0.85
_SIDES = ("default", "calibrated")
_PART = re.compile(r"(<!-- measured: ([\w ]+) -->\n)(.*?)(<!-- end -->)", re.DOTALL)


@dataclass(frozen=True)
class Machine:
    """What the figures depend on."""

    kind: str
    """Model of the CPU, cores, whether it is virtual."""
    software: str


def this_machine() -> Machine:
    info: dict[str, str] = {}
    for each in Path("/proc/cpuinfo").read_text().splitlines():
        name, _, value = each.partition(":")
        info.setdefault(name.strip(), value.strip())
    model = info.get("model name") or platform.machine()
    if "cpu family" in info:
        model += f" (family {info['cpu family']}, model {info['model']})"
    virtual = "virtual " if "hypervisor" in info.get("flags", "").split() else ""
    kind = f"{model}, {len(os.sched_getaffinity(0))} {virtual}cores"
    torch = metadata.version("torch")
    kernel = platform.release().partition("-")[0]
    software = f"Linux {kernel}, Python {platform.python_version()}, PyTorch {torch}"
    return Machine(kind, software)


# ---- goals -----------------------------------------------------------------------------------


def misses_of_known(found: Row) -> list[str]:
    """What torture, delays and scripted costs miss: at least 2/3 of the excess is removed, and the
    bias and its interval lie inside +-3 %."""
    added, bias, (low, high) = (
        found[key] for key in ("inflation_percent", "bias_percent", "bias_interval")
    )
    checks = {
        "removed": abs(bias) <= MOST_LEFT * abs(added),
        "bias": abs(bias) <= MOST_BIAS,
        "interval": -MOST_BIAS <= low <= high <= MOST_BIAS,
    }
    return [name for name, is_met in checks.items() if not is_met]


def misses_of_ordinary(found: Row) -> list[str]:
    """What programs as people write them miss: the interval of the bias has 0 in it or lies inside
    +-1 %, is no wider than +-1 %, and the bias is no worse than that without correction."""
    added, bias, (low, high) = (
        found[key] for key in ("inflation_percent", "bias_percent", "bias_interval")
    )
    checks = {
        "bias": low <= 0 <= high or -ORDINARY_BIAS <= low <= high <= ORDINARY_BIAS,
        "width": (high - low) / 2 <= ORDINARY_BIAS,
        "worse than raw": abs(bias) <= abs(added),
    }
    return [name for name, is_met in checks.items() if not is_met]


def misses_of_coverage(found: Row) -> list[str]:
    """A 95 % interval has the truth in it in 34 of 40 rounds at least."""
    return [] if found["rounds_held"] >= LEAST_HELD * found["rounds"] else ["held"]


# ---- rows ------------------------------------------------------------------------------------


def _percent(mean: float, ends: list[float]) -> str:
    return f"{mean:+.1f} % {_interval(ends)}"


def _interval(ends: list[float] | None) -> str:
    return "-" if ends is None else f"[{ends[0]:+.1f}, {ends[1]:+.1f}]"


def _added(row: Row) -> str:
    found = row["default"]
    return _percent(found["inflation_percent"], found["inflation_interval"])


def _biases(row: Row, misses: Callable[[Row], list[str]]) -> list[str]:
    cells = [_added(row)]
    for side in _SIDES:
        found = row[side]
        cells += [
            _percent(found["bias_percent"], found["bias_interval"]),
            _interval(found["claimed_interval"]),
            ", ".join(misses(found)) or "met",
        ]
    return [*cells, _interval(row["calibrated"]["aa_interval"])]


def _held(row: Row, misses: Callable[[Row], list[str]]) -> list[str]:
    cells = [_added(row)]
    for found in (row[side] for side in _SIDES):
        cells += [f"{found['rounds_held']} of {found['rounds']}", ", ".join(misses(found)) or "met"]
    return cells


_BIASES = (
    "| program | recording adds | left, by probes | claim | goal | left, calibrated | claim | goal "
    "| A/A |\n|---|---|---|---|---|---|---|---|---|"
)
_HELD = (
    "| program | recording adds | held, by probes | goal | held, calibrated | goal |\n"
    "|---|---|---|---|---|---|"
)
_Cells = Callable[[Row, Callable[[Row], list[str]]], list[str]]
TABLES: Mapping[str, tuple[str, _Cells, Callable[[Row], list[str]]]] = {
    "torture": (_BIASES, _biases, misses_of_known),
    "workload": (_BIASES, _biases, misses_of_ordinary),
    "delay": (_BIASES, _biases, misses_of_known),
    "simulated CUDA": (_BIASES, _biases, misses_of_known),
    "coverage": (_HELD, _held, misses_of_coverage),
}


def line(name: str, row: Row) -> str:
    """A row of its table."""
    part, _, program = name.partition(": ")
    _, cells, misses = TABLES[part]
    return f"| {' | '.join([program, *cells(row, misses)])} |"


# ---- parts of the page -----------------------------------------------------------------------


def renewed(text: str, rows: Rows) -> str:
    """The page with the measured rows. A part without any stays as it is."""

    def part(found: re.Match[str]) -> str:
        begin, name, before, end = found.groups()
        return f"{begin}{_part(name, before, rows)}{end}"

    return _PART.sub(part, text)


def _part(name: str, before: str, rows: Rows) -> str:
    if not rows:
        return before
    if name == "conditions":
        return _conditions(rows)
    if name == "factors":
        return _factors(before, rows)
    own = {key: row for key, row in rows.items() if key.startswith(f"{name}: ")}
    if not own:
        return before
    heading, _, misses = TABLES[name]
    lines = [heading, *(line(key, row) for key, row in own.items()), "", _met(own, misses)]
    return "\n".join(lines) + "\n"


def _met(rows: Rows, misses: Callable[[Row], list[str]]) -> str:
    default, calibrated = (sum(not misses(row[side]) for row in rows.values()) for side in _SIDES)
    return f"Goals met: by probes {default} of {len(rows)}, calibrated {calibrated} of {len(rows)}."


def _conditions(rows: Rows) -> str:
    sentences = []
    for kind, software in dict.fromkeys(_machine(row) for row in rows.values()):
        own = [row for row in rows.values() if _machine(row) == (kind, software)]
        dates = sorted({row["time"][:10] for row in own})
        when = dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}"
        minutes = sum(row["seconds"] for row in own) / 60
        sentences.append(
            f"Measured on {when}: {kind}; {software}. {len(own)} rows in {minutes:.0f} minutes, "
            f"each measurement limited to {_limits(own)}."
        )
    return "\n".join(sentences) + "\n"


def _machine(row: Row) -> tuple[str, str]:
    return row["machine"]["kind"], row["machine"]["software"]


def _limits(rows: list[Row]) -> str:
    limits = sorted({row["limit"] for row in rows})
    return ", ".join(f"{limit:g}" for limit in limits) + " s"


def _factors(before: str, rows: Rows) -> str:
    """Kinds of machines that were measured before keep their lines."""
    lines = {each.split(" | ")[0]: each for each in before.splitlines()[2:] if each[:2] == "| "}
    by_kind: dict[str, list[float]] = {}
    for name, row in rows.items():
        # What is not known of a program's time is not known of its factor either.
        if name.startswith("workload: ") and "width" not in misses_of_ordinary(row["calibrated"]):
            by_kind.setdefault(row["machine"]["kind"], []).append(row["ratio"])
    for kind, ratios in by_kind.items():
        if len(ratios) > 1:
            found = inflation.combined(ratios)
            cells = [f"{each:.2f}" for each in (found.mean, found.low, found.high)]
            ends = f"{min(ratios):.2f} to {max(ratios):.2f}"
            lines[f"| {kind}"] = (
                f"| {kind} | {len(ratios)} | {cells[0]} [{cells[1]}, {cells[2]}] | {ends} |"
            )
    if not lines:
        return before
    heading = "| machine | programs | mean, 95 % | lowest to highest |\n|---|---|---|---|"
    return "\n".join([heading, *lines.values()]) + "\n"
