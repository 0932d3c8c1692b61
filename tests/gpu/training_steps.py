"""Steps about training programs: their kernels as PyTorch's profiler sees them, and their trace."""

from __future__ import annotations

import ctypes
import json
from collections import Counter
from pathlib import Path
from typing import Any

from capture_steps import check_no_losses
from gpu_runs import Bench, Figures, Run, check, need
from support.cuda.trace import GRAPH, KERNEL

ROUNDS = "100"
WITH_LINE = 0.95  # share of GPU time
LIKE = 0.03  # how far GPU time may lie from that of PyTorch's profiler, in a run of its own


def same_as_profiler(bench: Bench, program: str) -> Figures:
    """Kernels are those that torch.profiler sees in a run of its own: names, number, time."""
    need("torch")
    run = bench.record(program, ROUNDS)
    file = bench.folder / "torch-profiler.json"
    bench.plain(program, ROUNDS, str(file))
    return compare(kernels_between(run, run.said["begin_ns"], run.said["end_ns"]), file)


def learner(bench: Bench, changes: tuple[str, ...] = ()) -> Figures:
    """Deep Q-learning, changed as engineers do: kernels as torch.profiler has them, and a trace
    whose relations agree."""
    need("torch")
    if "--compile" in changes:
        need("triton")
    run = bench.record("learner.py", *changes)
    file = bench.folder / "torch-profiler.json"
    bench.plain("learner.py", *changes, "--profile", str(file))
    span = run.said["recorded"]
    # Where a graph is replayed its launch is one piece of work for us, and its kernels for Kineto.
    compared: Figures = {"graphs": len(run.work(GRAPH))}
    if "--graph" not in changes:
        compared = compare(kernels_between(run, span["begin_ns"], span["end_ns"]), file)
    return {**compared, **agree(run, span["iterations"])}


def kernels_between(run: Run, begin_ns: int, end_ns: int) -> list[dict[str, Any]]:
    return [row for row in run.work(KERNEL) if begin_ns <= row["start_ns"] < end_ns]


def compare(kernels: list[dict[str, Any]], file: Path) -> Figures:
    ours = Counter(demangled(row["name"]) for row in kernels)
    events = json.loads(file.read_text())["traceEvents"]
    file.unlink()
    theirs = [event for event in events if event.get("cat") == "kernel"]
    check(bool(theirs), "torch.profiler saw no kernels in its own run")
    different = ours - Counter(event["name"] for event in theirs)
    check(not different, f"not seen by torch.profiler: {dict(different)}")
    check(len(theirs) == len(kernels), f"{len(kernels)} kernels, torch.profiler has {len(theirs)}")
    our_us = sum(row["duration_ns"] for row in kernels) / 1e3
    their_us = sum(event["dur"] for event in theirs)
    ratio = our_us / their_us if their_us else 1.0
    figures = {"kernels": len(kernels), "names": len(ours), "gpu_time_ratio": round(ratio, 4)}
    check(abs(ratio - 1) <= LIKE, f"GPU time is {ratio:.3f} of torch.profiler's", figures)
    return figures


def demangled(name: str) -> str:
    """A kernel's name as C++ writes it; itself where it is not mangled."""
    library = ctypes.CDLL("libstdc++.so.6")
    library.__cxa_demangle.restype = ctypes.c_void_p
    text = library.__cxa_demangle(name.encode(), None, None, None)
    if not text:
        return name
    result = ctypes.string_at(text).decode()
    libc = ctypes.CDLL(None)
    libc.free.argtypes = [ctypes.c_void_p]
    libc.free(text)
    return result


def agree(run: Run, iterations: int) -> Figures:
    """The relations of a recorded loop say one thing."""
    query = run.trace.query
    lost = query("SELECT kind, count FROM loss WHERE kind <> 'cuda_paused'")  # it pauses itself
    check(not lost, f"losses: {lost}")
    (sums,) = query(
        "SELECT SUM(duration_ns) AS parts, MIN(end_ns - start_ns) AS whole"
        " FROM breakdown JOIN process USING (process_id)"
    )
    check(sums["parts"] == sums["whole"], f"the breakdown adds up to {sums}")
    unlinked = query("SELECT SUM(count) AS count FROM kernel WHERE operation = '(unlinked)'")
    check(not unlinked[0]["count"], f"{unlinked[0]['count']} kernels have no launch")
    (found,) = query("SELECT COUNT(*) AS count FROM iteration WHERE source = 'explicit'")
    check(found["count"] >= iterations, f"{found['count']} of {iterations} iterations")
    busy = query("SELECT SUM(while_ns) AS busy_ns, SUM(launched_ns) AS launched_ns FROM gpu_time")
    (share,) = query(
        "SELECT SUM(launch_bound) / SUM(count) AS share FROM"
        " (SELECT launch_bound, count FROM kernel UNION ALL SELECT launch_bound, count FROM graph)"
    )
    return {**busy[0], "launch_bound": round(float(share["share"]), 4), **of_lines(run)}


def of_lines(run: Run) -> Figures:
    """Lines of Python have all GPU time, and most of it has a line."""
    (sums,) = run.trace.query(
        "SELECT SUM(gpu_ns) AS all_ns, SUM(gpu_ns) FILTER (file IS NOT NULL) AS with_line_ns,"
        " (SELECT SUM(duration_ns) FROM breakdown WHERE gpu_busy) AS busy_ns FROM source_line"
    )
    check(sums["all_ns"] == sums["busy_ns"], f"GPU time of lines: {sums}")
    check(sums["with_line_ns"] > WITH_LINE * sums["all_ns"], f"GPU time of lines: {sums}")
    rows = run.trace.query(
        "SELECT function, line, SUM(gpu_ns) AS ns FROM source_line WHERE is_own"
        " GROUP BY ALL ORDER BY ns DESC LIMIT 8"
    )
    return {"gpu_time_by_line": {**sums, "lines": rows}}


def stable_baselines(bench: Bench) -> Figures:
    """Deep Q-learning of Stable-Baselines3, without annotation: its operations are found."""
    need("torch")
    need("stable_baselines3")
    run = bench.record("sb3.py")
    rows = run.trace.query(
        "SELECT operation, SUM(duration_ns) AS ns, SUM(duration_ns) FILTER (gpu_busy) AS busy_ns"
        " FROM breakdown WHERE source = 'automatic' GROUP BY ALL ORDER BY ns DESC"
    )
    busy = {row["operation"]: row["busy_ns"] for row in rows}
    check({"inference", "simulation", "backprop"} <= busy.keys(), f"only {sorted(busy)} are found")
    check(bool(busy["backprop"]), "the GPU was never busy in backprop")
    check_no_losses(run)
    return {"operations": rows}


def ppo(bench: Bench) -> Figures:
    """PPO with its networks on the GPU, as users run it: unchanged, under rls-prof."""
    need("torch")
    need("gymnasium")
    run = bench.record("ppo.py")
    rows = run.trace.query(
        "SELECT operation, SUM(duration_ns) AS ns, SUM(duration_ns) FILTER (gpu_busy) AS busy_ns"
        " FROM breakdown GROUP BY ALL ORDER BY ns DESC"
    )
    operations = {row["operation"]: row for row in rows}
    for name in ("inference", "simulation", "forward", "backprop", "optimizer"):
        check(name in operations, f"no operation {name}: {sorted(operations)}")
    check(bool(operations["backprop"]["busy_ns"]), "the GPU was never busy in backprop")
    return {**agree(run, run.said["iterations"]), "operations": rows}
