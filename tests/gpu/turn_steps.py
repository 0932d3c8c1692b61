"""Steps about what recording costs a loop, measured by turns inside of one process.

`recorded` is rlscope's own capture, `profiled` is torch.profiler's. Each process has blocks of its
own from before the profiler was attached.
"""

from __future__ import annotations

import statistics
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import block_figures
import numpy
from gpu_runs import Bench, Failure, Figures, ProgramFailed, Run, check, need
from support.cuda.trace import KERNEL, MEMCPY, MEMSET, SYNC

import rlscope as rls
from rlscope.analysis import gpu_windows

SECONDS = {False: 22.0, True: 90.0}  # of measuring; True: there is time
SHARE_SECONDS = {False: 8.0, True: 30.0}
# Of these seconds. The default, auto, begins with five whole ones.
SHARES = {"100%": 0.5, "10%": 1.0, "auto": 2.5}
PLAIN_SHARE = 0.5
PROFILER_SECONDS = {False: 10.0, True: 60.0}
WITHOUT_TORCH = "launches"
START_SECONDS = {True: 12.0, False: 2.0}  # of a process with PyTorch or without, until it measures
END_SECONDS = 4.0  # to read a trace
OF_CALLS, OF_WORK = ("all", "calls"), ("all", "work")

Found = TypeVar("Found")
Blocks = Sequence[dict[str, Any]]
Name = int | str
"""A kind of GPU work, or `calls`."""


def recorded(bench: Bench, loop: str) -> Figures:
    """What each part of rlscope's capture adds to a loop, and what stays when it is off again."""
    need_loop(loop)
    file = data_file(bench)
    arguments = times(bench, loop, SECONDS[bench.patient], file)
    run = keeping(file, lambda: bench.record_once("recording_turns.py", *arguments))
    blocks = with_counts(run, block_figures.read(file))
    same = spread(blocks)
    figures = {
        "loop": loop,
        "kernels_of_an_iteration": same,
        "blocks_that_lack_kernels": lacking(blocks, same),
        **block_figures.of_blocks(blocks, per_iteration(blocks)),
    }
    check(bool(same), "no block has kernels in the trace", figures)
    check(
        same["least"] == same["most"],
        f"a block has {same['least']} kernels an iteration, another one {same['most']}",
        figures,
    )
    return figures


def profiled(bench: Bench, loop: str) -> Figures:
    """What torch.profiler adds to a loop: with and without its record of what PyTorch does."""
    need_loop(loop)
    file = data_file(bench)
    arguments = times(bench, loop, PROFILER_SECONDS[bench.patient], file)
    said = keeping(file, lambda: bench.plain("profiler_turns.py", *arguments))
    per = {"launch": said["launches"]}
    return {"loop": loop, **block_figures.of_blocks(block_figures.read(file), per)}


def shared(bench: Bench, loop: str) -> Figures:
    """What the default costs a loop, beside recording all: within one process, between processes,
    and as the run itself says."""
    need_loop(loop)
    programs = 1 + len(SHARES)
    around = programs * (START_SECONDS[loop != WITHOUT_TORCH] + END_SECONDS)
    measured = PLAIN_SHARE + sum(SHARES.values())
    seconds = max(2.0, min(SHARE_SECONDS[bench.patient], (bench.left() - around) / measured))
    plain = bench.plain("share.py", loop, f"{PLAIN_SHARE * seconds:.1f}")
    figures: Figures = {"loop": loop, "plain": over_median(plain)}
    for share, part in SHARES.items():
        run = bench.record_once(
            "share.py", loop, f"{part * seconds:.1f}", prof=("--gpu-share", share)
        )
        (seen,) = run.trace.query(
            "SELECT SUM(gpu_recorded) / SUM(complete) AS share FROM iteration"
            " WHERE source = 'explicit'"
        )
        figures[share] = {
            **over_median(run.said),
            "seen": round(float(seen["share"]), 4),
            "losses": run.trace.query("SELECT kind, count FROM loss"),
            "kernels": len(run.work(KERNEL)),
            "note": run.note(),
            "within": within(run),
            "chosen": chosen(run),
            "said": costs_said(run),
        }
        check(bool(figures[share]["kernels"]), f"no kernel was recorded with {share}", figures)
    return figures


_WITHIN = """
WITH _own AS (
  SELECT iteration, duration_ns, gpu_recorded,
    BOOL_OR(gpu_recorded) OVER (ORDER BY iteration ROWS BETWEEN 2 PRECEDING AND 1 FOLLOWING)
      AS is_near,
    LAG(gpu_recorded, 1, FALSE) OVER (ORDER BY iteration) AS follows,
    SUM(IF(gpu_recorded, 0, 1)) OVER (ORDER BY iteration) > 0 AS is_later
  FROM iteration WHERE complete AND source = 'explicit'
)
SELECT AVG(duration_ns) / 1e3 AS all_us,
  AVG(duration_ns) FILTER (gpu_recorded AND follows) / 1e3 AS recorded_us,
  AVG(duration_ns) FILTER (NOT is_near) / 1e3 AS between_us,
  COUNT(*) FILTER (gpu_recorded AND NOT follows) AS windows
FROM _own WHERE is_later
"""


def within(run: Run) -> Figures:
    """The default before and after, within one process, whose windows lie at random: what an
    iteration takes in windows (recording all), between them, and on average, CUPTI's beginnings and
    ends included. Empty: there are no windows behind the first."""
    (found,) = run.trace.query(_WITHIN)
    if not found["windows"] or not found["between_us"] or not found["recorded_us"]:
        return {}
    figures = {name: round(float(value), 2) for name, value in found.items()}
    between = figures["between_us"]
    return {
        **figures,
        "all_recorded_percent": round(100 * (figures["recorded_us"] / between - 1), 2),
        "windows_percent": round(100 * (figures["all_us"] / between - 1), 2),
    }


def chosen(run: Run) -> list[dict[str, Any]]:
    """What auto chose, and why."""
    with rls.load(run.trace.directory) as trace:
        return gpu_windows.choices(trace).to_dicts()


def costs_said(run: Run) -> list[dict[str, Any]]:
    """What the windows of the run say that they took of the loop; empty where all was recorded."""
    with rls.load(run.trace.directory) as trace:
        return gpu_windows.window_costs(trace).to_dicts()


def over_median(said: Figures) -> Figures:
    """By how much the mean iteration is longer than the median, in per cent."""
    percent = 100 * (said["mean_us"] / said["median_us"] - 1)
    return {**said, "over_median_percent": round(percent, 2)}


def need_loop(loop: str) -> None:
    """Skips the step where the loop cannot be run."""
    if loop != WITHOUT_TORCH:
        need("torch")


def data_file(bench: Bench, name: str = "blocks") -> Path:
    """Where the blocks go: they are brought home, too."""
    file = bench.folder / "data" / f"{name}.jsonl"
    file.parent.mkdir(exist_ok=True)
    return file


def times(bench: Bench, loop: str, seconds: float, file: Path) -> tuple[str, str, str, str]:
    """A program's arguments LOOP, SECONDS, FILE and LIMIT: it ends before its step is ended."""
    limit = bench.left() - END_SECONDS
    measured = max(1.0, min(seconds, limit - START_SECONDS[loop != WITHOUT_TORCH]))
    return loop, f"{measured:.1f}", str(file), f"{min(limit, threading.TIMEOUT_MAX):.1f}"


def keeping(
    file: Path, run: Callable[[], Found], of: Callable[..., Figures] = block_figures.of_blocks
) -> Found:
    """Runs a program; if it fails, the failure has the figures of what it had measured."""
    try:
        return run()
    except ProgramFailed as error:
        raise Failure(str(error), of(block_figures.read(file), {})) from error


# ---- what the trace has of a block ---------------------------------------------------------------


def with_counts(run: Run, blocks: Blocks) -> Blocks:
    """The blocks, with how many calls and pieces of work began in each, by the trace."""
    starts = run.trace.starts(run.pid)
    return [
        {
            **block,
            "counts": {name: len(_between(each, block)) for name, each in starts.items()},
            "edges_ns": _edges(_between(starts.get(KERNEL, ()), block), block),
        }
        for block in blocks
    ]


def _between(starts: Any, block: Mapping[str, Any]) -> Any:
    begin, end = numpy.searchsorted(starts, [block["begin_ns"], block["end_ns"]])
    return starts[begin:end]


def _edges(kernels: Any, block: Mapping[str, Any]) -> list[int]:
    """From the block's begin to the start of its first kernel, and from that of its last to its
    end."""
    if not len(kernels):
        return []
    return [int(kernels[0] - block["begin_ns"]), int(block["end_ns"] - kernels[-1])]


def per_iteration(blocks: Blocks) -> dict[str, float]:
    """Launches, recorded calls and activity records: medians of the blocks that recorded them."""
    work = (KERNEL, MEMCPY, MEMSET, SYNC)
    return {
        "launch": _median(blocks, OF_WORK, (KERNEL,)),
        "record": _median(blocks, OF_WORK, work),
        "call": _median(blocks, OF_CALLS, ("calls",)),
    }


def _median(blocks: Blocks, modes: Sequence[str], names: Sequence[Name]) -> float:
    values = [_each(block, names) for block in blocks if block["mode"] in modes]
    return statistics.median(values) if values else 0.0


def _each(block: Mapping[str, Any], names: Sequence[Name]) -> float:
    return sum(int(block["counts"].get(name, 0)) for name in names) / int(block["iterations"])


def lacking(blocks: Blocks, same: Figures) -> list[dict[str, Any]]:
    """Where kernels are missing: in which round, and how far the others are from its edges."""
    return [
        {"mode": block["mode"], "round": block["round"], "edges_ns": block["edges_ns"]}
        for block in blocks
        if block["mode"] in OF_WORK and _each(block, (KERNEL,)) < same.get("most", 0.0)
    ]


def spread(blocks: Blocks) -> Figures:
    """Kernels of an iteration, the least and the most of any block: none may be missing."""
    values = [_each(block, (KERNEL,)) for block in blocks if block["mode"] in OF_WORK]
    if not any(values):
        return {}
    return {"least": min(values), "most": max(values), "blocks": len(values)}
