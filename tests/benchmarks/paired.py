"""What every benchmark here does with its samples: paired medians with a bootstrap interval."""

import json
import random
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any


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
    from rlscope.run_directory import host_facts

    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(json.dumps({**result, "machine": host_facts()}, indent=2) + "\n")
    print(f"written to {target}")
