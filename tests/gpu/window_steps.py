"""Steps about GPU work in windows (--gpu-share): is it right in each?

Each way is a process of its own, because what CUPTI leaves in a process stays there. Times are of
the second half of a process.
"""

from __future__ import annotations

from collections.abc import Sequence

from gpu_runs import Bench, Figures, Run, check, need
from turn_steps import need_loop

import rlscope as rls
from rlscope.analysis import gpu_windows

SECONDS = {False: "6", True: "30"}
WAYS: dict[str, tuple[str, ...]] = {
    "whole": (),
    "tenth": ("--gpu-share", "10%"),
    "tenth-of-calls": ("--gpu-share", "10%", "--gpu-calls", "windows"),
}
SETTLED = 5
"""Iterations in which libraries load and choose their kernels."""
LARGEST_ERROR = 0.02
"""By how much estimated kernels may be off: all iterations of these loops launch the same."""


def windows(bench: Bench, loop: str, ways: Sequence[str] = tuple(WAYS)) -> Figures:
    """Recorded iterations have the same kernels, however many are recorded."""
    need_loop(loop)
    return compare(bench, [loop], ways)


def graphs(bench: Bench, loop: str) -> Figures:
    """The same beside a CUDA graph that is older than the windows: the program lives."""
    need("torch")
    return compare(bench, [loop, "graph"], ["whole", "tenth"])


def compare(bench: Bench, program: Sequence[str], ways: Sequence[str]) -> Figures:
    loop, *options = program
    found: Figures = {"loop": loop}
    seconds = SECONDS[bench.patient]
    found["plain"] = bench.plain("share.py", loop, seconds, *options)
    for way in ways:
        prof = (*WAYS[way], "--cuda-graph-trace", "node")
        run = bench.record_once("share.py", loop, seconds, *options, prof=prof)
        found[way] = {**run.said, **seen(run), **said(run)}
    lost = {kind for way in ways for kind in found[way]["losses"]} - {"gpu_unrecorded"}
    check(not lost, f"lost: {', '.join(sorted(lost))}", found)
    kernels = {way: found[way]["kernels"] for way in ways}
    check(len(set(map(tuple, kernels.values()))) == 1, f"kernels of an iteration: {kernels}", found)
    for way in ways:
        share = found[way]["recorded"] / found[way]["iterations"]
        check((share > 0.9) == (way == "whole"), f"{way} recorded {share:.1%}", found)
    return found


def said(run: Run) -> Figures:
    """What windows say of all iterations, and of their own cost; none where all was recorded. The
    estimate must hold what each iteration launches."""
    with rls.load(run.trace.directory) as trace:
        estimates = gpu_windows.estimates(trace).to_dicts()
        costs = gpu_windows.window_costs(trace).to_dicts()
    if not estimates or estimates[0]["kernels"] is None:
        return {}
    (estimate,), (cost,) = estimates, costs
    figures = {"estimate": estimate, "cost": cost}
    of_windows = run.trace.query(
        "SELECT AVG(kernels) AS kernels FROM iteration "
        f"WHERE gpu_recorded AND iteration >= {SETTLED}"
    )[0]["kernels"]
    counted = estimate["iterations"] - estimate["unknown"]
    off = abs(estimate["kernels"] / counted / of_windows - 1)
    check(off < LARGEST_ERROR, f"kernels are estimated {off:.1%} off", figures)
    return figures


def seen(run: Run) -> Figures:
    """Kernels of an iteration, the least and the most, and how many iterations were recorded."""
    rows = run.trace.query(
        "SELECT i.iteration, COUNT(e.iteration) AS kernels FROM iteration AS i "
        "LEFT JOIN event AS e ON e.process_id = i.process_id AND e.iteration = i.iteration "
        "AND e.kind = 'kernel' "
        f"WHERE i.gpu_recorded AND i.iteration >= {SETTLED} GROUP BY i.iteration"
    )
    counts = [row["kernels"] for row in rows]
    check(bool(counts), "no iteration was recorded")
    losses = {row["kind"]: row["count"] for row in run.trace.query("SELECT kind, count FROM loss")}
    return {"kernels": [min(counts), max(counts)], "recorded": len(counts), "losses": losses}
