"""What reading the stacks costs: PPO on CartPole under rls-prof, with and without --no-stacks.

    python tests/benchmarks/stacks.py [--rounds 15] [--iterations 400] [--output FILE]

A round is one run of each kind, in random order. Each trains the same iterations. The ratios of one
round are paired, and the median ratio comes with a 95 % bootstrap interval:

    program     CPU time of all threads of the program while it trains, with against without
    wrapper     CPU time of rls-prof meanwhile, in percent of one core
"""

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(HERE.parent), str(ROOT)]

from paired import median_interval, show_verdicts, verdict, write_result  # noqa: E402
from ppo_overhead import profiler_cpu_ns  # noqa: E402
from support.process.traced_python import (  # noqa: E402
    TracedPython,
    make_traced_python,
    untraced_environment,
)

PROGRAM_PERCENT = 0.5
WRAPPER_PERCENT = 2.0
_WARM_UP = 20


def train(iterations: int) -> None:
    """The training process: prints what the iterations took, as JSON."""
    import torch

    from rlscope.workloads import ppo_cartpole

    torch.set_num_threads(1)
    trainer = ppo_cartpole.Trainer(
        ppo_cartpole.Args(num_steps=32, update_epochs=1, num_minibatches=1, print_every=0)
    )
    for _ in range(_WARM_UP):
        trainer.run_iteration()
    wrapper, program, wall = profiler_cpu_ns(), time.process_time_ns(), time.monotonic_ns()
    for _ in range(iterations):
        trainer.run_iteration()
    taken = {
        "program": time.process_time_ns() - program,
        "wall": time.monotonic_ns() - wall,
        "wrapper": profiler_cpu_ns() - wrapper,
    }
    print(json.dumps(taken), flush=True)


def run(traced: TracedPython, folder: Path, options: list[str], iterations: int) -> dict[str, int]:
    """What one run took."""
    program = [traced.python, str(Path(__file__).resolve()), "--train", str(iterations)]
    command = traced.command("--force", "-o", str(folder / "run"), *options, "--", *program)
    result = subprocess.run(
        command, capture_output=True, text=True, env=untraced_environment(), check=True
    )
    taken: dict[str, int] = json.loads(result.stdout.splitlines()[-1])
    return taken


def measure(rounds: int, iterations: int) -> list[dict[str, dict[str, int]]]:
    """What the runs of each round took."""
    found = []
    with tempfile.TemporaryDirectory(prefix="rlscope-bench-") as name:
        folder = Path(name)
        traced = make_traced_python(folder / "venv")
        kinds: list[tuple[str, list[str]]] = [("with", []), ("without", ["--no-stacks"])]
        for _ in range(rounds):
            random.shuffle(kinds)
            found.append(
                {kind: run(traced, folder, options, iterations) for kind, options in kinds}
            )
    return found


def summarise(found: list[dict[str, dict[str, int]]]) -> dict[str, Any]:
    """Percent."""
    program = [each["with"]["program"] / each["without"]["program"] for each in found]
    wrapper = [each["with"]["wrapper"] / each["with"]["wall"] for each in found]
    before = [each["without"]["wrapper"] / each["without"]["wall"] for each in found]
    return {
        "program": median_interval([100 * (ratio - 1) for ratio in program]),
        "wrapper": median_interval([100 * share for share in wrapper]),
        "wrapper without": median_interval([100 * share for share in before]),
    }


def main() -> int:
    """Measures, prints and writes the result."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--iterations", type=int, default=400)
    parser.add_argument("--output", default="build/benchmarks/stacks.json")
    parser.add_argument("--train", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.train:
        train(options.train)
        return 0
    found = measure(options.rounds, options.iterations)
    result = summarise(found)
    for name, row in result.items():
        print(f"{name:16s} {row['median']:+.2f} % [{row['low']:+.2f}, {row['high']:+.2f}]")
    targets = {"program": PROGRAM_PERCENT, "wrapper": WRAPPER_PERCENT}
    rows = [verdict(name, "percent", target, result[name]) for name, target in targets.items()]
    write_result(options.output, {"benchmark": "stacks", "results": result, "targets": rows})
    return show_verdicts(rows)


if __name__ == "__main__":
    sys.exit(main())
