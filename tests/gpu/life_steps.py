"""Steps about what happens to processes: they end, fork, fail and are killed."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path

from gpu_runs import Bench, Figures, Skip, check, need
from support.cuda.trace import KERNEL

FLUSH_NS = 300_000_000  # what a kill may cost of GPU work: a flush period and its delivery


def ending(bench: Bench, way: str) -> Figures:
    """The program behaves as without us, and all its kernels are in the trace."""
    need("torch")
    run = bench.record("torch_ends.py", way)
    for pid in run.said.get("workers", [run.pid]):
        adds = [row for row in run.trace.work(pid) if _is_add(row)]
        check(len(adds) >= run.said["kernels"], f"{len(adds)} of {run.said['kernels']} kernels")
    check(run.said.get("child", 7) == 7, f"the fork child ended with {run.said.get('child')}")
    check(run.said.get("raised", True), "more memory than there is was given")
    return {"kernels": run.said["kernels"]}


def _is_add(row: dict[str, object]) -> bool:
    return row["kind"] == KERNEL and "elementwise" in str(row["name"])


def reset(bench: Bench) -> Figures:
    """All kernels before a reset of the device and after it."""
    run = bench.record("driver_reset.py")
    kernels = len(run.work(KERNEL))
    check(kernels == run.said["kernels"], f"{kernels} of {run.said['kernels']} kernels")
    return {"kernels": kernels}


def yielded(bench: Bench) -> Figures:
    """torch.profiler in the program gets all of its own, and we all of ours: a counted gap."""
    need("torch")
    run = bench.record("torch_ends.py", "profiler", prof=("--cupti", "yield"))
    ours = sum(map(_is_add, run.work(KERNEL)))
    outside = run.said["kernels"] // 2
    check(run.said["profiled"] >= outside, f"torch.profiler saw {run.said['profiled']} kernels")
    check(ours >= outside, f"{ours} of {outside} kernels outside of the profiler")
    rows = run.trace.query("SELECT kind, count FROM loss WHERE kind LIKE 'cuda_%'")
    check(any(row["kind"] == "cuda_paused" for row in rows), f"no gap is counted: {rows}")
    (life,) = run.trace.query("SELECT MIN(start_ns) AS begin, MAX(end_ns) AS end FROM process")
    times = [row["start_ns"] for row in run.work(KERNEL)]
    check(life["begin"] <= min(times) <= max(times) <= life["end"], "times by another clock")
    return {"ours": ours, "torch_profiler": run.said["profiled"], "losses": rows}


def torn_down(bench: Bench) -> Figures:
    """A torch.profiler that ends CUPTI itself (TEARDOWN_CUPTI=1): a while later all is recorded."""
    need("torch")
    teardown = {"TEARDOWN_CUPTI": "1"}
    run = bench.record("torch_ends.py", "torn_down", prof=("--cupti", "yield"), env=teardown)
    begin_ns, end_ns = run.said["begin_ns"], run.said["end_ns"]
    starts = [row["start_ns"] for row in run.work(KERNEL) if _is_add(row)]
    late = sum(begin_ns <= start <= end_ns for start in starts)
    calls = [call for call in run.calls().values() if call["start_ns"] >= begin_ns]
    figures = {
        "kernels": len(starts),
        "late": late,
        "calls": len(calls),
        "losses": run.trace.query("SELECT kind, count FROM loss WHERE kind LIKE 'cuda_%'"),
        "gaps": run.trace.metadata(run.pid).get("cuda_gaps", ""),
        **run.note(),
    }
    check(late >= run.said["kernels"], f"{late} of {run.said['kernels']} kernels", figures)
    return figures


def permission(bench: Bench) -> Figures:
    """Where the driver lets only administrators profile: the program runs, with a message."""
    params = Path("/proc/driver/nvidia/params")
    if not params.exists():
        raise Skip("no driver of NVIDIA's")
    if "RmProfilingAdminOnly: 1" not in params.read_text():
        raise Skip("this driver lets everybody profile")
    if os.getuid() == 0:
        raise Skip("an administrator runs this")
    run = bench.record("driver_counts.py")
    problem = run.note().get("problem", "")
    check("administrators" in problem, f"the trace says: {problem or 'nothing'}")
    return {"problem": problem}


def kill(bench: Bench) -> Figures:
    """A killed program loses the calls in flight and a flush period of GPU work."""
    need("torch")
    wrapper, trace = bench.start("torch_ends.py", "loop")
    assert wrapper.stdout is not None
    pid = int(json.loads(wrapper.stdout.readline())["pid"])
    time.sleep(2)
    killed_ns = time.monotonic_ns()
    os.kill(pid, signal.SIGKILL)
    wrapper.communicate(timeout=60)
    calls, work = trace.calls(pid), trace.work(pid)
    last_call = max(call["end_ns"] for call in calls.values())
    last_work = max(row["end_ns"] for row in work)
    check(killed_ns - last_call < 50_000_000, f"calls end {killed_ns - last_call} ns before it")
    check(killed_ns - last_work < FLUSH_NS, f"GPU work ends {killed_ns - last_work} ns before it")
    return {
        "calls": len(calls),
        "calls_lost_ns": killed_ns - last_call,
        "gpu_lost_ns": killed_ns - last_work,
    }
