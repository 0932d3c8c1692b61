"""How long each question of docs/guide/cookbook.md takes on a run of 10 million events.

    python tests/benchmarks/cookbook.py

The run is that of tests/support/files/dense_run.py; the question over several runs is left out. Its
tables, and relation `event`, are made before the clock starts. Questions take turns. It prints the
median and the longest of some rounds for each, and its CPU time, which other jobs on the machine
hardly change.
"""

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import cookbook
from support.files import dense_run

from rlscope.opening import load
from rlscope.relations.trace import Trace

PASSES = 2_500_000
ROUNDS = 7


def questions() -> dict[int, str]:
    """Number -> statement, of those that one run answers."""
    found = enumerate(cookbook.recipes(cookbook.PAGE.read_text()), 1)
    return {number: query for number, (query, _) in found if not cookbook.is_of_many(query)}


def ask(trace: Trace, query: str) -> tuple[float, float]:
    """Seconds, and CPU seconds of all threads."""
    begin, cpu = time.perf_counter(), time.process_time()
    trace.sql(query)
    return time.perf_counter() - begin, time.process_time() - cpu


def measure(trace: Trace, rounds: int) -> dict[int, dict[str, float]]:
    """By number of the question, over the rounds."""
    asked = questions()
    times: dict[int, list[tuple[float, float]]] = {number: [] for number in asked}
    for _ in range(rounds):
        for number, query in asked.items():
            times[number].append(ask(trace, query))
    found = {}
    for number, each in times.items():
        wall, cpu = zip(*each, strict=True)
        found[number] = {
            "median_s": statistics.median(wall),
            "longest_s": max(wall),
            "cpu_s": statistics.median(cpu),
        }
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--passes", type=int, default=PASSES, help=f"default: {PASSES:,}")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"default: {ROUNDS}")
    parser.add_argument("--trace", metavar="DIR", help="a run of dense_run.py to ask")
    parser.add_argument("--output", metavar="FILE", help="results as JSON")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(options.trace or Path(folder) / "run")
        if not options.trace:
            dense_run.write(root, options.passes)
        with load(root) as trace:
            begin = time.perf_counter()
            ((events,),) = trace.sql("SELECT count(*) FROM event")
            print(f"{events:,} events, made visible in {time.perf_counter() - begin:.1f} s")
            found = measure(trace, options.rounds)
    for number, each in found.items():
        print(
            f"{number:>2}  median {each['median_s']:6.3f} s, longest {each['longest_s']:6.3f} s, "
            f"{each['cpu_s']:6.3f} s of CPU"
        )
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    if options.output:
        Path(options.output).write_text(json.dumps({"events": events, "questions": found}))


if __name__ == "__main__":
    main()
