"""What reading the stacks costs a program under rls-prof: turns within one run, with and without.

    python tests/benchmarks/stacks.py [--seconds 330] [--output FILE] [WORKLOAD ...]

Each workload trains in one process, in blocks of equal work. Between blocks it tells the drainer
that its Python has ended, or that it has not: the drainer then reads no stack, or reads them again.
It goes on to ask which threads are awake. Two blocks in random order are a pair:

    program         CPU time of all threads of the program, with stacks against without
    wrapper         CPU time of rls-prof in the blocks with stacks, in percent of one core
    wrapper, none   the same in those without

Medians have a 95 % bootstrap interval. What the program does once, at its start, is not in them.
"""

import argparse
import ctypes
import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
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
WORKLOADS = ("ppo_cartpole", "sac_pendulum")
# Some two readings in a block. The shorter a block, the more pairs there are, and the less the
# machine changes its speed within one.
_BLOCK_S = 0.02
_WARM_UP_S = 5.0
_OFFSET_PROGRAM = """
#include <cstddef>
#include <cstdio>
#include "trace/layout/shared_pages.h"
int main() { std::printf("%zu", offsetof(rlscope::trace::ProcessPage, python_end_ns)); }
"""
Pair = dict[str, dict[str, int]]


class Switch:
    """The word of the process's page that says whether its Python has ended."""

    def __init__(self, offset: int) -> None:
        """
        Args:
            offset: bytes from the start of the page.

        Raises:
            ValueError: the word is not where it should be.
        """
        begin = _page_address()
        before, self._word = (ctypes.c_int64.from_address(begin + offset - each) for each in (8, 0))
        if before.value <= 0 or self._word.value != 0:
            raise ValueError("the page of the process is not as csrc/trace/layout says")

    def turn(self, on: bool) -> None:
        self._word.value = 0 if on else time.monotonic_ns()


def _page_address() -> int:
    for line in Path("/proc/self/maps").read_text().splitlines():
        if line.removesuffix(" (deleted)").endswith(".process"):
            return int(line.partition("-")[0], 16)
    raise ValueError("no recorder has a page in this process")


def page_offset(folder: Path) -> int:
    """Where that word lies in the page."""
    source, program = folder / "offset.cc", folder / "offset"
    source.write_text(_OFFSET_PROGRAM)
    command = ["c++", "-std=c++17", f"-I{ROOT / 'csrc'}", str(source), "-o", str(program)]
    subprocess.run(command, check=True)
    return int(subprocess.run([program], check=True, capture_output=True).stdout)


def trainer_of(workload: str) -> Any:
    """A training run with short iterations that are alike."""
    from rlscope.workloads import ppo_cartpole, sac_pendulum

    if workload == "ppo_cartpole":
        sizes = {"num_steps": 8, "update_epochs": 1, "num_minibatches": 1}
        return ppo_cartpole.Trainer(ppo_cartpole.Args(**sizes, print_every=0))
    return sac_pendulum.Trainer(sac_pendulum.Args(learning_starts=100, print_every=0))


def train(workload: str, seconds: float, offset: int) -> None:
    """The training process: prints one JSON line for each pair of blocks."""
    import torch

    torch.set_num_threads(1)
    switch, trainer = Switch(offset), trainer_of(workload)
    iterations = max(1, round(_BLOCK_S * _rate(trainer.run_iteration)))
    order = [True, False]
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        random.shuffle(order)
        spent = {on: _block(switch, trainer.run_iteration, iterations, on) for on in order}
        print(json.dumps({"with": spent[True], "without": spent[False]}), flush=True)
    switch.turn(on=True)


def _rate(iterate: Callable[[], None]) -> float:
    """Iterations a second, in the second half of the warm-up."""
    count, begin = 0, time.monotonic()
    while (now := time.monotonic()) < begin + _WARM_UP_S:
        iterate()
        count += now > begin + _WARM_UP_S / 2
    return count / (_WARM_UP_S / 2)


def _block(switch: Switch, iterate: Callable[[], None], count: int, on: bool) -> dict[str, int]:
    """What some iterations took."""
    switch.turn(on)
    wrapper, program, wall = profiler_cpu_ns(), time.process_time_ns(), time.monotonic_ns()
    for _ in range(count):
        iterate()
    return {
        "program": time.process_time_ns() - program,
        "wall": time.monotonic_ns() - wall,
        "wrapper": profiler_cpu_ns() - wrapper,
    }


def measure(traced: TracedPython, folder: Path, workload: str, seconds: float) -> list[Pair]:
    """The pairs of one workload."""
    program = [traced.python, str(Path(__file__).resolve()), workload]
    program += ["--seconds", str(seconds), "--train", str(page_offset(folder))]
    command = traced.command("--force", "-o", str(folder / "run"), "--", *program)
    result = subprocess.run(
        command, stdout=subprocess.PIPE, text=True, env=untraced_environment(), check=True
    )
    return [json.loads(line) for line in result.stdout.splitlines() if line.startswith("{")]


def summarise(pairs: list[Pair]) -> dict[str, Any]:
    """Percent."""
    program = [each["with"]["program"] / each["without"]["program"] for each in pairs]
    wrapper, before = (
        [each[kind]["wrapper"] / each[kind]["wall"] for each in pairs]
        for kind in ("with", "without")
    )
    return {
        "program": median_interval([100 * (ratio - 1) for ratio in program]),
        "wrapper": median_interval([100 * share for share in wrapper]),
        "wrapper, none": median_interval([100 * share for share in before]),
    }


def main() -> int:
    """Measures, prints and writes the result."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("workloads", nargs="*", metavar="WORKLOAD", help=", ".join(WORKLOADS))
    parser.add_argument("--seconds", type=float, default=330, help="for each workload")
    parser.add_argument("--output", default="build/benchmarks/stacks.json")
    parser.add_argument("--train", type=int, metavar="OFFSET", help=argparse.SUPPRESS)
    options = parser.parse_args()
    for unknown in set(options.workloads) - set(WORKLOADS):
        parser.error(f"no workload {unknown!r}; there are {', '.join(WORKLOADS)}")
    if options.train:
        train(*options.workloads, options.seconds, options.train)
        return 0
    rows, results = [], {}
    with tempfile.TemporaryDirectory(prefix="rlscope-bench-") as name:
        traced = make_traced_python(Path(name, "venv"))
        for workload in options.workloads or WORKLOADS:
            found = summarise(measure(traced, Path(name), workload, options.seconds))
            results[workload] = found
            for case, row in found.items():
                interval = f"[{row['low']:+.2f}, {row['high']:+.2f}]"
                print(f"{workload:14s} {case:14s} {row['median']:+.2f} % {interval}", flush=True)
            for case, target in (("program", PROGRAM_PERCENT), ("wrapper", WRAPPER_PERCENT)):
                rows.append(verdict(f"{workload}, {case}", "percent", target, found[case]))
    write_result(options.output, {"benchmark": "stacks", "results": results, "targets": rows})
    return show_verdicts(rows)


if __name__ == "__main__":
    sys.exit(main())
