"""What annotations cost a training program: PPO on CartPole under rls-prof, annotations on and off.

    python tests/benchmarks/ppo_overhead.py [--seconds 50] [--output FILE]

One process trains under rls-prof and takes turns, an iteration with annotations and one without, in
random order within a pair. Three ratios of each pair, medians with 95 % bootstrap intervals:

    program     CPU time of all threads of the program, on against off
    together    the same plus the CPU time of rls-prof (drainer, samples, everything) while on
    wall        wall-clock time
"""

import argparse
import json
import os
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
from support.process.traced_python import make_traced_python, untraced_environment  # noqa: E402

TARGET_PERCENT = 1.0
_WARM_UP_BLOCKS = 4
# Short iterations, denser in annotations than real ones: a pair is over before the machine's speed
# changes, and there are many.
_BLOCK_STEPS = 4


def profiler_cpu_ns() -> int:
    """CPU time of all threads of the wrapper, the parent of the training process."""
    tasks = f"/proc/{os.getppid()}/task"
    return sum(
        int(Path(tasks, task, "schedstat").read_text().split()[0]) for task in os.listdir(tasks)
    )


def block(trainer: Any, annotate: bool) -> dict[str, int]:
    """Trains one iteration; what it took."""
    import rlscope as rls
    from rlscope.workloads import training_run

    trainer.args.annotate = annotate
    trainer.operation = rls.operation if annotate else training_run.no_operation
    profiler, program, wall = profiler_cpu_ns(), time.process_time_ns(), time.monotonic_ns()
    if annotate:
        rls.iteration()
    trainer.run_iteration()
    return {
        "program": time.process_time_ns() - program,
        "wall": time.monotonic_ns() - wall,
        "profiler": profiler_cpu_ns() - profiler,
    }


def train(seconds: float) -> None:
    """The training process: prints one JSON line for each pair of blocks."""
    import torch

    from rlscope.workloads import ppo_cartpole

    torch.set_num_threads(1)
    trainer = ppo_cartpole.Trainer(
        ppo_cartpole.Args(num_steps=_BLOCK_STEPS, update_epochs=1, num_minibatches=1, print_every=0)
    )
    for number in range(_WARM_UP_BLOCKS):
        block(trainer, annotate=number % 2 == 0)
    order = [True, False]
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        random.shuffle(order)
        spent = {annotate: block(trainer, annotate) for annotate in order}
        print(json.dumps({"on": spent[True], "off": spent[False]}), flush=True)


def summarise(pairs: list[dict[str, dict[str, int]]]) -> dict[str, Any]:
    """Percent that the blocks with annotations took more."""
    ratios = {
        "program": [on["program"] / off["program"] for on, off in map(_both, pairs)],
        "together": [
            (on["program"] + on["profiler"]) / off["program"] for on, off in map(_both, pairs)
        ],
        "wall": [on["wall"] / off["wall"] for on, off in map(_both, pairs)],
    }
    return {
        name: median_interval([100 * (ratio - 1) for ratio in values])
        for name, values in ratios.items()
    }


def _both(pair: dict[str, dict[str, int]]) -> tuple[dict[str, int], dict[str, int]]:
    return pair["on"], pair["off"]


def run_under_prof(seconds: float) -> tuple[list[dict[str, dict[str, int]]], str]:
    """Pairs of blocks, and what rls-prof said."""
    with tempfile.TemporaryDirectory(prefix="ppo-") as folder:
        traced = make_traced_python(Path(folder) / "venv")
        program = [traced.python, str(Path(__file__).resolve()), "--train", str(seconds)]
        command = traced.command("-o", os.path.join(folder, "run"), "--", *program)
        result = subprocess.run(
            command, capture_output=True, text=True, env=untraced_environment(), check=True
        )
    return [json.loads(line) for line in result.stdout.splitlines()], result.stderr


def main() -> int:
    """Measures, prints and writes the result."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=50.0)
    parser.add_argument("--output", default="build/benchmarks/ppo_overhead.json")
    parser.add_argument("--train", type=float, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.train:
        train(options.train)
        return 0
    pairs, said = run_under_prof(options.seconds)
    result = summarise(pairs)
    for name, row in result.items():
        print(f"{name:10} {row['median']:+6.2f} % [{row['low']:+.2f}, {row['high']:+.2f}]")
    print(said.rstrip())
    rows = [verdict("annotations, CPU of the program", "%", TARGET_PERCENT, result["program"])]
    write_result(options.output, {"added_percent": result, "targets": rows, "said": said})
    return show_verdicts(rows)


if __name__ == "__main__":
    sys.exit(main())
