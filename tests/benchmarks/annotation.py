"""What an annotation costs: `with` over an operation against `with` over a C object that does
nothing, in one run, interleaved, by thread CPU time.

    python tests/benchmarks/annotation.py [--rounds N] [--output build/benchmarks/annotation.json]

Each round times every case once, in random order; the loop's own time is taken off; the ratios of
one round are paired, and the median ratio comes with a 95 % bootstrap interval. Two child
processes are measured: one that records into a directory of its own, one that is not recorded.
Wall-clock time would be useless here: one preemption of 4 ms outweighs 40,000 annotations.
"""

import argparse
import gc
import importlib.util
import itertools
import json
import random
import statistics
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(HERE), str(HERE.parent / "extension")]

from paired import (  # noqa: E402
    Timer,
    make_timer,
    median_interval,
    ratio_interval,
    show_verdicts,
    verdict,
    write_result,
)
from sample_library import compile_extension, import_library  # noqa: E402

FLOOR = "C no-op context manager"
FLOOR_FLAGS = "__enter__ METH_NOARGS, __exit__ METH_FASTCALL, immutable heap type"
CASES = {
    FLOOR: "with noop: pass",
    "cached operation": "with operation: pass",
    "operation by name": 'with rls.operation("inference"): pass',
}
EXTRA_CASES = {
    "decorated function": "decorated()",
    "undecorated function": "plain()",
    "set and end by name": 'rls.set_operation("x"); rls.end_operation("x")',
    "Python class with __enter__": "with python_noop: pass",
}
TORCH_CASE = "torch.profiler.record_function"
TARGETS = {
    "recording": {"cached operation": 1.10, "operation by name": 1.25},
    "not recording": {"cached operation": 1.10, "operation by name": 1.20},
}
# An interpreter that was built with profile-guided optimisation does the floor faster.
PGO_TARGETS = {
    "recording": {"cached operation": 1.35, "operation by name": 1.75},
    "not recording": {"cached operation": 1.10, "operation by name": 1.60},
}
TORCH_SHARE = 1 / 40
REPEATS = 2000
TORCH_REPEATS = 200


class PythonNoop:
    def __enter__(self) -> "PythonNoop":
        return self

    def __exit__(self, *exc: object) -> None:
        return None


def build_floor(folder: Path) -> Any:
    """Compiles and imports noop_module.c for the running interpreter."""
    return import_library(compile_extension("noop", [HERE / "noop_module.c"], folder)).Noop()


def measure(
    timers: dict[str, tuple[Timer, int]], rounds: int, around: dict[str, Any]
) -> dict[str, list[float]]:
    """ns per run of each case, round by round, the empty loop taken off."""
    samples: dict[str, list[float]] = {name: [] for name in timers}
    order = list(timers)
    gc.collect()
    gc.disable()
    for number in range(-2, rounds):  # two rounds to warm up
        random.shuffle(order)
        for name in order:
            timer, repeats = timers[name]
            with around.get(name, PythonNoop)():
                spent = timer(itertools.repeat(None, repeats))
            if number >= 0:
                samples[name].append(spent / repeats)
    gc.enable()
    loop = statistics.median(samples.pop("empty loop"))
    return {name: [value - loop for value in values] for name, values in samples.items()}


def summarise(samples: dict[str, list[float]]) -> dict[str, dict[str, Any]]:
    floor = samples[FLOOR]
    return {
        name: {
            "ns": values,
            "median_ns": statistics.median(values),
            "ratio_to_floor": median_interval(
                [value / base for value, base in zip(values, floor, strict=True)]
            ),
        }
        for name, values in samples.items()
    }


def names_of(floor: Any) -> dict[str, Any]:
    import rlscope as rls

    def plain() -> None:
        return None

    operation = rls.operation("inference")
    return {
        "rls": rls,
        "noop": floor,
        "operation": operation,
        "decorated": operation(plain),
        "plain": plain,
        "python_noop": PythonNoop(),
    }


def add_torch(
    timers: dict[str, tuple[Timer, int]], names: dict[str, Any], around: dict[str, Any]
) -> None:
    """record_function under torch's own CPU profiler, where torch is installed."""
    if importlib.util.find_spec("torch") is None:
        return
    import torch

    names["record_function"] = torch.profiler.record_function
    timers[TORCH_CASE] = (
        make_timer('with record_function("inference"): pass', names),
        TORCH_REPEATS,
    )
    cpu = [torch.profiler.ProfilerActivity.CPU]
    around[TORCH_CASE] = lambda: torch.profiler.profile(activities=cpu)


def trace_of(directory: Path) -> dict[str, int]:
    """What arrived: operations recorded, and records lost on the way."""
    from rlscope import _trace

    reader = _trace.Directory(str(directory))
    losses = [row for process in reader.processes for row in reader.losses(process["index"])]
    return {
        "operations": sum(process["events"] for process in reader.processes),
        "lost": sum(row["count"] for row in losses if row["kind"] != "late_attach"),
    }


def run_child(recording: bool, rounds: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="rlscope-bench-") as folder:
        names = names_of(build_floor(Path(folder)))
        around: dict[str, Any] = {}
        timers: dict[str, tuple[Timer, int]] = {"empty loop": (make_timer("pass", names), REPEATS)}
        for name, statement in {**CASES, **EXTRA_CASES}.items():
            timers[name] = (make_timer(statement, names), REPEATS)
        if not recording:
            return {"cases": summarise(measure(timers, rounds, around))}
        add_torch(timers, names, around)
        directory = Path(folder, "trace")
        with names["rls"].profile(directory):
            samples = measure(timers, rounds, around)
        return {"cases": summarise(samples), "trace": trace_of(directory)}


def start_child(mode: str, rounds: int) -> dict[str, Any]:
    command = [sys.executable, __file__, "--child", mode, "--rounds", str(rounds)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(done.stderr)
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def is_optimised() -> bool:
    """Whether this interpreter was configured for profile-guided optimisation.

    Debian's was built with it, and does not say so: --pgo.
    """
    return "--enable-optimizations" in (sysconfig.get_config_var("CONFIG_ARGS") or "")


def verdicts(results: dict[str, Any], wanted: dict[str, dict[str, float]]) -> list[dict[str, Any]]:
    """Each target beside what was measured."""
    rows = []
    for mode, targets in wanted.items():
        for name, target in targets.items():
            measured = results[mode]["cases"][name]["ratio_to_floor"]
            rows.append(verdict(f"{name}, {mode}", "of the floor", target, measured))
    recording = results["recording"]["cases"]
    if TORCH_CASE in recording:
        share = ratio_interval(recording["operation by name"]["ns"], recording[TORCH_CASE]["ns"])
        rows.append(verdict("operation by name", f"of {TORCH_CASE}", TORCH_SHARE, share))
    return rows


def show(results: dict[str, Any]) -> None:
    for mode in TARGETS:
        print(mode)
        for name, values in results[mode]["cases"].items():
            ratio = values["ratio_to_floor"]
            bounds = f"{ratio['median']:.3f} x floor [{ratio['low']:.3f}, {ratio['high']:.3f}]"
            print(f"  {name:32s} {values['median_ns']:9.1f} ns   {bounds}")
    trace = results["recording"]["trace"]
    print(f"trace: {trace['operations']} operations, {trace['lost']} records lost")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=201)
    parser.add_argument("--output", default=str(ROOT / "build/benchmarks/annotation.json"))
    parser.add_argument(
        "--pgo",
        action="store_true",
        default=is_optimised(),
        help="this Python was built with profile-guided optimisation",
    )
    parser.add_argument("--child", choices=list(TARGETS), help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child:
        json.dump(run_child(args.child == "recording", args.rounds), sys.stdout)
        return 0
    results: dict[str, Any] = {mode: start_child(mode, args.rounds) for mode in TARGETS}
    rows = verdicts(results, PGO_TARGETS if args.pgo else TARGETS)
    show(results)
    for result in results.values():
        for values in result["cases"].values():
            del values["ns"]
    result = {"benchmark": "annotation", "floor": FLOOR_FLAGS, "pgo": args.pgo}
    write_result(
        args.output, {**result, "rounds": args.rounds, "results": results, "targets": rows}
    )
    return show_verdicts(rows)


if __name__ == "__main__":
    sys.exit(main())
