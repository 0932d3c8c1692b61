"""Steps about GPU work in windows (--gpu-share): is it right in each?

Each way is a process of its own, because what CUPTI leaves in a process stays there. Times are of
the second half of a process.
"""

from __future__ import annotations

from collections.abc import Sequence

from gpu_runs import Bench, Figures, Run, check, need
from turn_steps import need_loop

SECONDS = {False: "6", True: "30"}
WAYS: dict[str, tuple[str, ...]] = {
    "whole": (),
    "tenth": ("--gpu-share", "10%"),
    "tenth-of-calls": ("--gpu-share", "10%", "--gpu-calls", "windows"),
}
SETTLED = 5
"""Iterations in which libraries load and choose their kernels."""


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
        found[way] = {**run.said, **seen(run)}
    lost = {kind for way in ways for kind in found[way]["losses"]} - {"gpu_unrecorded"}
    check(not lost, f"lost: {', '.join(sorted(lost))}", found)
    kernels = {way: found[way]["kernels"] for way in ways}
    check(len(set(map(tuple, kernels.values()))) == 1, f"kernels of an iteration: {kernels}", found)
    for way in ways:
        share = found[way]["recorded"] / found[way]["iterations"]
        check((share > 0.9) == (way == "whole"), f"{way} recorded {share:.1%}", found)
    return found


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
