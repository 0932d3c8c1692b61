"""What every benchmark here does: timers of one statement, medians with a bootstrap interval, and
targets beside what was measured."""

import json
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

import numpy
from numpy.random import Generator, default_rng

Timer = Callable[[Any], int]
Measured = TypeVar("Measured")

ENOUGH_ALONE = 30
_TICKS = 20_000
_AT_ONCE = 1_000_000  # numbers: 8 MB


def make_timer(statement: str, names: dict[str, Any]) -> Timer:
    """A function that runs the statement once per item and returns its thread CPU time in ns."""
    source = (
        "def timer(items):\n"
        "    begin = clock()\n"
        "    for _ in items:\n"
        f"        {statement}\n"
        "    return clock() - begin\n"
    )
    namespace = {**names, "clock": time.thread_time_ns}
    exec(compile(source, "<timer>", "exec"), namespace)
    timer: Timer = namespace["timer"]
    return timer


def time_ticks(ticks: ModuleType) -> float:
    """R of this moment, in ns of thread CPU time; `ticks` is ticks_module.c, imported."""
    begin = time.thread_time_ns()
    ticks.read_many(_TICKS)
    return (time.thread_time_ns() - begin) / _TICKS


def that_count(
    every: Sequence[Measured], own_core: Callable[[Measured], bool]
) -> tuple[list[Measured], bool]:
    """Those that had the core to themselves, and True; all of them, and False, if too few had."""
    alone = [one for one in every if own_core(one)]
    return (alone, True) if len(alone) >= ENOUGH_ALONE else (list(every), False)


def median_interval(values: Sequence[float], resamples: int = 2000) -> dict[str, float]:
    """Median of the values and the 95 % bootstrap interval of that median."""
    low, high = _interval(sorted(_medians(values, resamples, default_rng(0))))
    return {"median": statistics.median(values), "low": low, "high": high, "samples": len(values)}


def ratio_interval(
    values: Sequence[float], others: Sequence[float], resamples: int = 2000
) -> dict[str, float]:
    """Median of the values over that of the others, which are not paired with them, and the 95 %
    bootstrap interval of that ratio."""
    generator = default_rng(0)
    medians = _medians(values, resamples, generator), _medians(others, resamples, generator)
    low, high = _interval(sorted(one / other for one, other in zip(*medians, strict=True)))
    ratio = statistics.median(values) / statistics.median(others)
    return {"median": ratio, "low": low, "high": high, "samples": len(others)}


def is_met(row: dict[str, float], target: float) -> bool:
    """At most the target: with the whole interval, or with the median of a narrow one."""
    if row["high"] < target:
        return True
    return row["median"] < target and row["high"] - row["low"] < target / 2


def verdict(case: str, unit: str, target: float, measured: dict[str, float]) -> dict[str, Any]:
    """What was measured, beside its target and whether that is met."""
    met = is_met(measured, target)
    return {"case": case, "unit": unit, "target": target, **measured, "met": met}


def show_verdicts(rows: Sequence[dict[str, Any]]) -> int:
    """Prints a line for each; the exit code: 1 if a target was missed."""
    for row in rows:
        measured = f"{row['median']:.3f} [{row['low']:.3f}, {row['high']:.3f}] {row['unit']}"
        said = "met   " if row["met"] else "MISSED"
        target = f"at most {row['target']:.3f}; {row['samples']} samples"
        print(f"{said} {row['case']}: {measured} ({target})")
    return int(not all(row["met"] for row in rows))


def _medians(values: Sequence[float], resamples: int, generator: Generator) -> list[float]:
    """Many at once, since one median takes NumPy as long as hundreds in a row of arrays."""
    every = numpy.asarray(values)
    most = max(1, _AT_ONCE // len(every))
    sizes = [min(most, resamples - begin) for begin in range(0, resamples, most)]
    drawn = (generator.choice(every, (size, len(every))) for size in sizes)
    return [median for each in drawn for median in numpy.median(each, axis=1).tolist()]


def _interval(ordered: Sequence[float]) -> tuple[float, float]:
    return ordered[int(0.025 * len(ordered))], ordered[int(0.975 * len(ordered)) - 1]


def write_result(path: str, result: dict[str, Any]) -> None:
    """Writes the result with the machine it was measured on, and prints where."""
    from rlscope.rundir.run_json import host_facts

    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(json.dumps({**result, "machine": host_facts()}, indent=2) + "\n")
    print(f"written to {target}")
