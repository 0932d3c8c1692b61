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


def totals(rows: Rows) -> list[str]:
    """The row of `cuda_total`: GPU time and launches, then what is wrong or could not be joined.

    Of GPU work that was not recorded nothing is said.
    """
    (row,) = rows
    facts = [f"{units.plural(row['calls'], 'CUDA call')} took {units.duration(row['api_ns'])}"]
    if row["gpu_ns"] is not None:
        facts.insert(0, _gpu_time(row["gpu_ns"], row["apart_ns"]))
    if row["launches"]:
        facts.append(
            f"{units.plural(row['launches'], 'launch')}, "
            f"{units.share(row['launch_bound'], row['launches'])} launch-bound (the GPU waited for "
            "the CPU: its stream was idle when the call ended)"
        )
    return [f"{'; '.join(facts)}.", *_problems(row)]


def _gpu_time(busy_ns: int, apart_ns: int) -> str:
    """Of all GPUs; a GPU that processes share is busy for less time than they are together."""
    time = f"GPU time {units.duration(busy_ns)} (simultaneous work of a GPU counts once)"
    if apart_ns == busy_ns:
        return time
    return f"{time}, {units.duration(apart_ns)} added up over the processes that share a GPU"


def _problems(row: dict[str, Any]) -> list[str]:
    problems = {
        "without_work": ("launch", "without GPU work (captured into a graph, failed, or lost)"),
        "unlinked": ("piece", "of GPU work without a launch in the trace: (unlinked)"),
        "errors": ("CUDA call", "with an error"),
    }
    said = [
        f"{units.plural(row[key], noun)} {text}"
        for key, (noun, text) in problems.items()
        if row[key]
    ]
    return [f"{'; '.join(said)}."] if said else []


def problems(rows: Rows) -> list[str]:
    """Rows of `cuda_problem`: what the numbers leave out."""
    return [f"Not all of CUDA was recorded: {units.visible(row['problem'])}." for row in rows]


def operations(rows: Rows) -> list[str]:
    """Rows of `cuda_operation`, whose GPU time is seen from both ends of a launch."""
    shown = [
        f"{units.label(row['operation'])} {units.duration(row['launched_ns'])} / "
        f"{units.duration(row['while_ns'])}"
        for row in rows
        if row["launched_ns"] or row["while_ns"]
    ]
    return [f"GPU time that it launched / while it ran: {', '.join(shown)}."] if shown else []


def kernels(rows: Rows) -> list[str]:
    """Rows of `cuda_kernel`: the longest of each operation."""
    named = [row for row in rows if row["function"] is not None]
    shown = [
        f"{units.label(units.kernel(row['function']))} in {units.label(row['operation'])} "
        f"{units.duration(row['duration_ns'])} ({units.count(row['launches'])} x)"
        for row in named
    ]
    return [f"Longest kernels: {', '.join(shown)}."] if shown else []


def copies(rows: Rows) -> list[str]:
    """Rows of `cuda_copy`: "Copies: host to device (pageable) 12.0 MiB in 40, ..."."""
    shown = [
        f"{words(row['direction'])} ({row['memory']}) {units.size(row['bytes'])} in "
        f"{units.count(row['copies'])}, {units.duration(row['duration_ns'])}"
        for row in rows
    ]
    return [f"Copies: {'; '.join(shown)}."] if shown else []


def syncs(rows: Rows) -> list[str]:
    """Rows of `cuda_sync`: which operations waited for the GPU."""
    shown = [
        f"{units.label(row['operation'])} {units.duration(row['waiting_ns'])} of "
        f"{units.duration(row['duration_ns'])} in {units.count(row['calls'])} x {row['kind']}"
        for row in rows
        if row["operation"] is not None and row["waiting_ns"]
    ]
    return [f"Waited for the GPU: {'; '.join(shown)}."] if shown else []
