"""CUDA calls and GPU work in words, as the panel and the terminal say them."""

from __future__ import annotations

from typing import Any

from rlscope.report import units

Rows = list[dict[str, Any]]


def words(name: str) -> str:
    """A name of CUDA's as text: "host to device"."""
    return name.replace("_", " ")


def rate(row: dict[str, Any]) -> str:
    """Bytes a second of copies; "-" without a time."""
    if not row["bytes"] or not row["duration_ns"]:
        return "-"
    return f"{units.size(row['bytes'] * 1e9 / row['duration_ns'])}/s"


def totals(rows: Rows, *, unlinked: bool = True) -> list[str]:
    """The row of `cuda_total`: GPU time and launches, then what is wrong or could not be joined.

    GPU work that was not recorded is not mentioned. `unlinked`: say of how much work no launch is
    in the trace, which is a loss, too.
    """
    (row,) = rows
    facts = [f"{units.plural(row['calls'], 'CUDA call')} took {units.duration(row['api_ns'])}."]
    if row["gpu_ns"] is not None:
        facts.insert(0, _gpu_time(row["gpu_ns"], row["apart_ns"]))
    if row["launches"]:
        facts.append(
            f"{units.share(row['launch_bound'], row['launches'])} of "
            f"{units.plural(row['launches'], 'launch')} were launch-bound: the GPU waited for the "
            "CPU, as its stream was idle when the call ended."
        )
    row = row if unlinked else {**row, "unlinked": 0}
    return [*_share(row), " ".join(facts), *_problems(row)]


def seen(row: dict[str, Any]) -> str:
    """Behind the title of a table of GPU work: in which share of the iterations it was seen; empty
    if all was."""
    if not row["iterations"]:
        return ""
    return f"; seen in {units.share(row['seen'], row['iterations'])} of the iterations"


def _share(row: dict[str, Any]) -> list[str]:
    """What was seen, if GPU work was recorded in windows."""
    if not row["iterations"]:
        return []
    share = units.share(row["seen"], row["iterations"])
    return [
        f"GPU work was recorded in {units.count(row['seen'])} of "
        f"{units.plural(row['iterations'], 'iteration')}, {share} (--gpu-share). All numbers of "
        "GPU work below are of these, and of what came before the first iteration."
    ]


def _gpu_time(busy_ns: int, apart_ns: int) -> str:
    """The time of all GPUs; one that processes share is busy for less time than they add up to."""
    time = f"GPU time is {units.duration(busy_ns)} (simultaneous work of a GPU counts once)."
    if apart_ns == busy_ns:
        return time
    return f"{time} Processes that share a GPU add up to {units.duration(apart_ns)}."


def _problems(row: dict[str, Any]) -> list[str]:
    launches, pieces, calls = (
        units.plural(row[key], noun)
        for key, noun in (
            ("without_work", "launch"),
            ("unlinked", "piece"),
            ("errors", "CUDA call"),
        )
    )
    problems = {
        "without_work": f"{launches} had no GPU work: captured into a graph, failed, or lost.",
        "unlinked": f"{pieces} of GPU work had no launch in the trace: operation (unlinked).",
        "errors": f"{calls} ended with an error.",
    }
    said = [text for key, text in problems.items() if row[key]]
    return [" ".join(said)] if said else []


def problems(rows: Rows) -> list[str]:
    """Rows of `cuda_problem`: what the numbers leave out."""
    return [f"rlscope did not record all of CUDA: {units.visible(row['problem'])}." for row in rows]


def kernels(rows: Rows) -> list[str]:
    """Rows of `cuda_kernel`: the longest of each operation."""
    named = [row for row in rows if row["function"] is not None]
    shown = [
        f"{units.label(units.kernel(row['function']))} in "
        f"{units.label(units.operation(row['operation']))} "
        f"{units.duration(row['duration_ns'])} ({units.count(row['launches'])} x)"
        for row in named
    ]
    return [f"Longest kernels: {', '.join(shown)}."] if shown else []
