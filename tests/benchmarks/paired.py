"""What every benchmark here does: timers of one statement, medians with a bootstrap interval."""

import json
import random
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

Timer = Callable[[Any], int]


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


def median_interval(values: Sequence[float], resamples: int = 2000) -> dict[str, float]:
    """Median of the values and the 95 % bootstrap interval of that median."""
    generator = random.Random(0)
    medians = sorted(
        statistics.median(generator.choices(values, k=len(values))) for _ in range(resamples)
    )
    low, high = medians[int(0.025 * resamples)], medians[int(0.975 * resamples) - 1]
    return {"median": statistics.median(values), "low": low, "high": high, "samples": len(values)}


def write_result(path: str, result: dict[str, Any]) -> None:
    """Writes the result with the machine it was measured on, and prints where."""
    from rlscope.run_json import host_facts

    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(json.dumps({**result, "machine": host_facts()}, indent=2) + "\n")
    print(f"written to {target}")
