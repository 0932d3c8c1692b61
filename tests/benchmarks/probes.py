"""What probes add to a loop of operations: the same session with and without them, in random order
in each round, in one process, by thread CPU time.

    python tests/benchmarks/probes.py [--rounds N] [--output build/benchmarks/probes.json]

    tight    with operation: pass
    work     an operation around some microseconds of Python

The ratios of one round are paired, and the median ratio comes with a 95 % bootstrap interval. The
loop is the whole program: its own time is not taken off.
"""

import argparse
import gc
import itertools
import os
import random
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE))

from paired import Timer, make_timer, median_interval, show_verdicts, verdict, write_result  # noqa: E402

import rlscope as rls  # noqa: E402
from rlscope import _runtime, _trace  # noqa: E402

CASES = {"tight": "with operation: pass", "work": "with operation: sum(numbers)"}
REPEATS = {"tight": 400_000, "work": 20_000}
STATES = ("on", "off")
# Probes take 0.05 % on the average and at most 0.1 %; the rest is what their cache lines cost.
TARGET = 1.005
WARM_UP = 2
PROBE = 24  # of csrc/trace/layout/record.h

Samples = dict[tuple[str, str], list[float]]


def session(state: str, timers: dict[str, Timer]) -> tuple[dict[str, float], int]:
    """ns of each case in a session of its own, and how many probes ran in it."""
    os.environ["RLSCOPE_PROBES"] = "1" if state == "on" else "0"
    with tempfile.TemporaryDirectory(prefix="rlscope-bench-") as folder:
        _runtime.profile_begin(folder)
        try:
            _runtime.intercept_scan()
            timers["tight"](itertools.repeat(None, 1000))  # the first records make the ring
            order = random.sample(list(CASES), len(CASES))
            found = {
                case: timers[case](itertools.repeat(None, REPEATS[case])) / REPEATS[case]
                for case in order
            }
        finally:
            _runtime.profile_end()
        return found, count_probes(folder)


def count_probes(folder: str) -> int:
    directory = _trace.Directory(folder)
    threads = directory.threads(0)["thread"]
    return sum(int((directory.items(0, int(t))["kind"] == PROBE).sum()) for t in threads)


def measure(rounds: int) -> tuple[Samples, int]:
    """ns of each case in each state, round by round, and the number of probes."""
    known: dict[str, Any] = {"operation": rls.operation("work"), "numbers": range(200)}
    timers = {case: make_timer(text, known) for case, text in CASES.items()}
    samples: Samples = {(case, state): [] for case in CASES for state in STATES}
    probes = 0
    gc.collect()
    gc.disable()
    for number in range(-WARM_UP, rounds):
        for state in random.sample(STATES, len(STATES)):
            found, ran = session(state, timers)
            assert (ran > 0) == (state == "on"), (state, ran)
            if number >= 0:
                probes += ran
                for case, spent in found.items():
                    samples[case, state].append(spent)
    gc.enable()
    return samples, probes


def summarise(samples: Samples) -> dict[str, dict[str, Any]]:
    return {
        case: {
            **{f"{state}_ns": statistics.median(samples[case, state]) for state in STATES},
            "ratio": median_interval(
                [a / b for a, b in zip(samples[case, "on"], samples[case, "off"], strict=True)]
            ),
        }
        for case in CASES
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=101)
    parser.add_argument("--output", default=str(ROOT / "build/benchmarks/probes.json"))
    args = parser.parse_args()
    samples, probes = measure(args.rounds)
    found = summarise(samples)
    for case, row in found.items():
        print(f"{case:6s} {row['on_ns']:9.2f} ns on, {row['off_ns']:9.2f} off")
    print(f"{probes} probes")
    rows = [
        verdict(case, "of the loop without probes", TARGET, found[case]["ratio"]) for case in CASES
    ]
    result = {"benchmark": "probes", "rounds": args.rounds, "probes": probes}
    write_result(args.output, {**result, "results": found, "targets": rows})
    return show_verdicts(rows)


if __name__ == "__main__":
    sys.exit(main())
