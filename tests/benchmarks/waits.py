"""What recorded waits cost: a program that exchanges messages with another process over pipes, one
that finds each message there, locks that are free, and PPO.

    python tests/benchmarks/waits.py [--rounds 200] [--ppo-rounds 5000] [--output FILE]

Messages are pickled in one more case, as environments in vectors send them.

One process under rls-prof takes turns: a block with the functions of the interpreter patched and
one without, in random order within a pair. The other end of the pipes is not recorded.
Ratios of CPU time of the program's thread; a message is a write and the read of its answer. A
program that waits for each answer cannot have 100,000 of them a second here, so what it would pay
is computed from what one costs; one whose messages are there when it reads has that many. In PPO,
a process of its own, native calls are recorded in both blocks.
"""

import argparse
import json
import multiprocessing
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parent / "extension"), str(ROOT)]

from paired import median_interval, show_verdicts, verdict, write_result  # noqa: E402
from sample_library import compile_extension  # noqa: E402
from support.process.traced_python import make_traced_python, untraced_environment  # noqa: E402

TARGET_PERCENT = 2.0
PPO_TARGET_PERCENT = 0.3
MESSAGES = 2000
CASES = {"messages": 2, "messages there": 10, "pickled there": 2, "free locks": 5}
"""Calls of a block, in units of MESSAGES."""
_ECHO = "import os\nwhile data := os.read(0, 64): os.write(1, data)"


def messages(there: int, back: int, count: int) -> None:
    for _ in range(count):
        os.write(there, b"12345678")
        os.read(back, 64)


def pickled(there: Any, back: Any) -> None:
    for _ in range(MESSAGES):
        there.send((b"12345678", 0.0, False, {}))
        back.recv()


def free_locks(lock: Any) -> None:
    for _ in range(MESSAGES * CASES["free locks"]):
        with lock:
            pass


def block(work: Any, recorded: bool) -> dict[str, float]:
    """CPU and wall time of the work, in nanoseconds."""
    from rlscope.capture import native

    native.begin() if recorded else native.end()
    cpu, wall = time.thread_time_ns(), time.perf_counter_ns()
    work()
    return {"cpu": time.thread_time_ns() - cpu, "wall": time.perf_counter_ns() - wall}


def measure(rounds: int) -> None:
    """In the traced process: prints the blocks of each pair, by case."""
    import rlscope as rls

    with rls.operation("any"):  # behind the first one pickling is recorded
        pass
    echo = subprocess.Popen(
        [sys.executable, "-c", _ECHO],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=untraced_environment(),
    )
    assert echo.stdin is not None and echo.stdout is not None
    ends = echo.stdin.fileno(), echo.stdout.fileno()
    lock = threading.Lock()
    own_back, own_there = os.pipe()
    pipe_back, pipe_there = multiprocessing.Pipe(duplex=False)
    cases = {
        "messages": lambda: messages(*ends, MESSAGES),
        "messages there": lambda: messages(own_there, own_back, 5 * MESSAGES),
        "pickled there": lambda: pickled(pipe_there, pipe_back),
        "free locks": lambda: free_locks(lock),
    }
    assert cases.keys() == CASES.keys()
    found: dict[str, list[Any]] = {case: [] for case in cases}
    for number in range(rounds + 5):
        for case, work in cases.items():
            pair: dict[bool, Any] = {}
            for recorded in random.sample([True, False], 2):
                pair[recorded] = block(work, recorded)
            if number >= 5:
                found[case].append([pair[True], pair[False]])
    echo.stdin.close()
    print(json.dumps(found))


def train(rounds: int, library: str) -> None:
    """In the traced process: prints the CPU time of each pair of blocks of PPO, with and without,
    and how many functions can wait."""
    import layer_turns
    from sample_library import import_library

    from rlscope import _runtime
    from rlscope.capture import named_functions

    blocks = layer_turns.WORKLOADS["ppo"].make()
    pointers = import_library(Path(library))
    layer_turns.warm_up(blocks)
    pointers.find(layer_turns.all_objects(), *layer_turns.text_of_stubs())
    _runtime.intercept_unpatch()
    _runtime.intercept_scan()
    layer_turns.warm_up(blocks)
    pointers.learn(False)
    named_functions.begin()
    functions = pointers.learn(True, False)
    pairs = []
    for _ in range(rounds):
        pair = dict.fromkeys([True, False], 0)
        for piece in blocks:
            for recorded in random.sample([True, False], 2):
                pointers.put(recorded)
                pair[recorded] += piece.times * layer_turns.time_block(piece)
        pairs.append([{"cpu": pair[True]}, {"cpu": pair[False]}])
    print(json.dumps({"PPO": pairs, "functions": functions}))


def run(rounds: int, *inside: str) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        traced = make_traced_python(Path(folder) / "python")
        program = [traced.python, __file__, "--rounds", str(rounds), "--inside", *inside]
        command = traced.command("-o", f"{folder}/trace", *program)
        done = subprocess.run(
            command, stdout=subprocess.PIPE, text=True, check=True, env=untraced_environment()
        )
    return json.loads(done.stdout)


def measure_ppo(rounds: int) -> dict[str, Any]:
    """Percent that patched functions add to PPO."""
    with tempfile.TemporaryDirectory() as folder:
        source = HERE / "pointer_switch_module.c"
        found = run(rounds, str(compile_extension("pointer_switch", [source], Path(folder))))
    print(f"PPO: {found['functions']} functions that can wait")
    return median_interval([100 * (on["cpu"] / off["cpu"] - 1) for on, off in found["PPO"]])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--output", default="build/benchmarks/waits.json")
    parser.add_argument("--ppo-rounds", type=int, default=5000)
    parser.add_argument("--inside", nargs="*", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside is not None:
        work = train if options.inside else measure
        work(options.rounds, *options.inside)
        return 0
    found = run(options.rounds)
    rows, details = [], {}
    for case, pairs in found.items():
        calls = CASES[case] * MESSAGES
        for clock in ("cpu", "wall"):
            percent = [100 * (on[clock] / off[clock] - 1) for on, off in pairs]
            each_ns = [(on[clock] - off[clock]) / calls for on, off in pairs]
            details[f"{case}, {clock}"] = {
                "percent": median_interval(percent),
                "ns_per_call": median_interval(each_ns),
                "per_second": median_interval([1e9 * calls / 2 / off["wall"] for _, off in pairs]),
            }
    # At 100,000 messages a second: two calls each.
    for case in ("messages", "messages there", "pickled there"):
        each = details[f"{case}, cpu"]["ns_per_call"]
        share = {name: 100 * 2 * 100_000 * each[name] / 1e9 for name in ("median", "low", "high")}
        row = {**share, "samples": each["samples"]}
        rows.append(verdict(f"100,000 {case} a second", "%", TARGET_PERCENT, row))
    added = measure_ppo(options.ppo_rounds)
    details["PPO, cpu"] = {"percent": added}
    rows.append(verdict("PPO", "%", PPO_TARGET_PERCENT, added))
    for name, row in details.items():
        print(f"{name:18}", json.dumps(row))
    write_result(options.output, {"cases": details, "verdicts": rows})
    return show_verdicts(rows)


if __name__ == "__main__":
    sys.exit(main())
