"""Figures of blocks that took turns in one process (programs/blocks.py): what a mode adds.

A block of a mode is compared with the blocks beside it, in which the mode is off. What has stayed
since before the profiler was attached cannot be compared so: these blocks lie farther apart. They
are compared by the yardstick that was read in each block.
"""

from __future__ import annotations

import json
import statistics
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

BENCHMARKS = Path(__file__).resolve().parent.parent / "benchmarks"
sys.path.append(str(BENCHMARKS))

from paired import median_interval, ratio_interval  # noqa: E402

BEFORE, OFF = "before", "off"
CLOCKS = ("cpu_ns", "wall_ns")

Figures = dict[str, Any]
Block = Mapping[str, Any]
Rows = Sequence[Block]
Per = Mapping[str, float]
"""What an iteration has so many of, by name: `{"launch": 460}` gives `ns_per_launch`."""


def read(file: Path) -> list[dict[str, Any]]:
    """Blocks of a program, also of one that did not end well: the last line may be cut."""
    if not file.exists():
        return []
    return [row for row in map(_parsed, file.read_text().splitlines()) if row is not None]


def _parsed(line: str) -> dict[str, Any] | None:
    try:
        row: dict[str, Any] = json.loads(line)
    except ValueError:
        return None
    return row


def of_blocks(blocks: Rows, per: Per, counted: Sequence[str] = ()) -> Figures:
    """All that blocks tell.

    Args:
        counted: what the blocks counted, of which each mode has as many as it counted.
    """
    modes = {block["mode"]: None for block in blocks if block["mode"] not in (BEFORE, OFF)}
    return {
        "blocks": len(blocks),
        "rounds": max((block["round"] for block in blocks), default=0),
        "iterations_of_a_block": blocks[0]["iterations"] if blocks else 0,
        "per_iteration": dict(per),
        "yardstick_ns": _interval([block["yardstick_ns"] for block in blocks]),
        "before": plain(of_mode(blocks, BEFORE)),
        "off": plain(of_mode(blocks, OFF)),
        "added": {
            mode: added(blocks, mode, {**per, **counted_by(blocks, mode, counted)})
            for mode in modes
        },
        "counts_per_iteration": {mode: counts(of_mode(blocks, mode)) for mode in modes},
        "left": {mode: left(blocks, mode, per) for mode in (BEFORE, *modes)},
        "switching": {mode: switching(blocks, mode) for mode in (OFF, *modes)},
    }


def of_cycles(blocks: Rows, per: Per) -> Figures:
    """All that blocks tell of which each round is a cycle from a profiler that is on to one that is
    off, step by step. A step is compared with the last one of its cycle, and with before.
    """
    steps = {block["mode"]: None for block in blocks if block["mode"] != BEFORE}
    return {
        "blocks": len(blocks),
        "rounds": max((block["round"] for block in blocks), default=0),
        "per_iteration": dict(per),
        "yardstick_ns": _interval([block["yardstick_ns"] for block in blocks]),
        "before": plain(of_mode(blocks, BEFORE)),
        "steps": {step: of_step(blocks, step, per) for step in steps},
    }


def of_step(blocks: Rows, step: str, per: Per) -> Figures:
    rows = of_mode(blocks, step)
    pairs = [(row, _last_of_cycle(blocks, row)) for row in rows]
    pairs = [(row, last) for row, last in pairs if last and last[0] is not row]
    return {
        **plain(rows),
        "takes": switching(blocks, step),
        "against_last_of_cycle": {
            _which(clock): _differences(pairs, clock, per) for clock in CLOCKS
        },
        "against_before": against_before(blocks, rows, per),
        "counts_per_iteration": {
            after: counts([row for row in rows if row["after"] == after])
            for after in dict.fromkeys(row["after"] for row in rows)
        },
    }


def _last_of_cycle(blocks: Rows, block: Block) -> Rows:
    return [each for each in blocks if each["round"] == block["round"]][-1:]


def counts(blocks: Rows) -> Figures:
    """The least and the most that an iteration of a block had of each thing that was counted."""
    found: dict[str, list[float]] = {}
    for block in blocks:
        for name, count in block["counts"].items():
            found.setdefault(name, []).append(round(count / block["iterations"], 4))
    return {name: [min(values), max(values)] for name, values in found.items()}


def counted_by(blocks: Rows, mode: str, names: Sequence[str]) -> Per:
    """What an iteration of a mode has, by its blocks: names end in s there."""
    rows = of_mode(blocks, mode)
    return {
        name.removesuffix("s"): statistics.median(
            block["counts"].get(name, 0) / block["iterations"] for block in rows
        )
        for name in names
        if rows
    }


def of_mode(blocks: Rows, mode: str) -> Rows:
    return [block for block in blocks if block["mode"] == mode]


def per_iteration(block: Block, clock: str) -> float:
    return float(block[clock]) / float(block["iterations"])


def plain(blocks: Rows) -> Figures:
    """Microseconds of an iteration."""
    return {
        f"{_which(clock)}_us": _interval([per_iteration(block, clock) / 1e3 for block in blocks])
        for clock in CLOCKS
    }


def added(blocks: Rows, mode: str, per: Per) -> Figures:
    """What a mode adds to an iteration: against the blocks on both sides, in which it is off."""
    pairs = list(_beside(blocks, mode))
    return {_which(clock): _differences(pairs, clock, per) for clock in CLOCKS}


def _beside(blocks: Rows, mode: str) -> Iterable[tuple[Block, Rows]]:
    """Each block of a mode, with its neighbours that are off."""
    for place, block in enumerate(blocks):
        if block["mode"] != mode:
            continue
        near = [*blocks[max(place - 1, 0) : place], *blocks[place + 1 : place + 2]]
        off = of_mode(near, OFF)
        if off:
            yield block, off


def _differences(pairs: Sequence[tuple[Block, Rows]], clock: str, per: Per) -> Figures:
    bare = [statistics.mean(per_iteration(each, clock) for each in off) for _, off in pairs]
    more = [
        per_iteration(block, clock) - base for (block, _), base in zip(pairs, bare, strict=True)
    ]
    return {
        "us": _interval([value / 1e3 for value in more]),
        "percent": _interval([100 * value / base for value, base in zip(more, bare, strict=True)]),
        **{
            f"ns_per_{name}": _interval([value / count for value in more])
            for name, count in per.items()
            if count
        },
    }


def against_twin(blocks: Rows, first: str) -> Figures:
    """By how much more an iteration of each mode exceeds the twin's beside it than those of the
    first mode did, in per cent. The twin's blocks are `off`."""
    modes = dict.fromkeys(block["mode"] for block in blocks if block["mode"] != OFF)
    ratios = {
        mode: {clock: _beside_ratios(blocks, mode, clock) for clock in CLOCKS} for mode in modes
    }
    return {
        mode: {
            _which(clock): _scaled(ratio_interval(of_clock[clock], ratios[first][clock]), 100)
            for clock in CLOCKS
        }
        for mode, of_clock in ratios.items()
        if mode != first and ratios[first]["cpu_ns"]
    }


def _beside_ratios(blocks: Rows, mode: str, clock: str) -> list[float]:
    return [
        per_iteration(block, clock) / statistics.mean(per_iteration(each, clock) for each in off)
        for block, off in _beside(blocks, mode)
    ]


def left(blocks: Rows, mode: str, per: Per) -> Figures:
    """What an iteration takes longer, when the mode is off again, than before it was attached.

    `as_measured` is without the yardstick. A mode `before` gives the first block after attaching.
    """
    after = [block for block in of_mode(blocks, OFF) if block["after"] == mode]
    return against_before(blocks, after, per)


def against_before(blocks: Rows, rows: Rows, per: Per) -> Figures:
    """What an iteration of some blocks takes more than one before the profiler was attached."""
    before = of_mode(blocks, BEFORE)
    if not before or not rows:
        return {}
    return {_which(clock): _left(before, rows, clock, per) for clock in CLOCKS}


def _left(before: Rows, after: Rows, clock: str, per: Per) -> Figures:
    by_yardstick = _ratio(before, after, lambda block: block[clock] / block["yardstick_ns"])
    base = statistics.median(per_iteration(block, clock) for block in before)
    return {
        "percent": _scaled(by_yardstick, 100),
        "percent_as_measured": _scaled(_ratio(before, after, lambda block: block[clock]), 100),
        **{
            f"ns_per_{name}": _scaled(by_yardstick, base / count)
            for name, count in per.items()
            if count
        },
    }


def _ratio(before: Rows, after: Rows, value: Callable[[Block], float]) -> dict[str, float]:
    times = [[value(each) / each["iterations"] for each in rows] for rows in (after, before)]
    return ratio_interval(times[0], times[1])


def _scaled(ratio: Mapping[str, float], factor: float) -> dict[str, float]:
    """How far a ratio lies above 1, times a factor."""
    found = {name: round(factor * (ratio[name] - 1), 3) for name in ("median", "low", "high")}
    return {**found, "samples": ratio["samples"]}


def switching(blocks: Rows, mode: str) -> Figures:
    """Microseconds of a switch to a mode, with all that is read because of it."""
    rows = of_mode(blocks, mode)
    return {
        f"{_which(clock)}_us": _interval([block[f"switch_{clock}"] / 1e3 for block in rows])
        for clock in CLOCKS
    }


def _which(clock: str) -> str:
    return clock.removesuffix("_ns")


def _interval(values: Sequence[float]) -> dict[str, float]:
    """Median and 95 % interval; nothing of no values."""
    if not values:
        return {}
    return {name: round(value, 3) for name, value in median_interval(values).items()}
