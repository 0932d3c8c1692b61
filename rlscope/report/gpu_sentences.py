"""What windows of GPU work say of all iterations, and what recording CUDA took, in words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rlscope.analysis import verdicts
from rlscope.costs import record_costs
from rlscope.report import units

Row = dict[str, Any]


def busy(estimates: list[Row]) -> list[str]:
    """Rows of `gpu_windows.estimates`: GPU time and kernels of all iterations, by process."""
    return [f"{_of_process(row, estimates)}{_busy(row)}" for row in estimates]


def _busy(row: Row) -> str:
    seen = units.share(row["seen"], row["iterations"])
    if row["kernels"] is None:
        return (
            f"GPU work was seen in {seen} of the iterations, in too few windows to say what the "
            "others launched."
        )
    share, low, high = (
        units.share(row[f"busy_ns{end}"], row["duration_ns"]) for end in ("", "_low", "_high")
    )
    kernels, fewest, most = (_count(row[f"kernels{end}"]) for end in ("", "_low", "_high"))
    return (
        f"GPU busy about {share} ({low} to {high}), seen in {seen} of the iterations. They "
        f"launched about {kernels} kernels ({fewest} to {most}).{_unknown(row)}"
    )


def _unknown(row: Row) -> str:
    said = ""
    if verdicts.is_unknown_notable(row["unknown"], row["iterations"]):
        share = units.share(row["unknown"], row["iterations"])
        said = f" {share} of the iterations are of a kind that no window has, and do not count."
    if verdicts.is_unlike_notable(row["unlike_ns"], row["duration_ns"]):
        share = units.share(row["unlike_ns"], row["duration_ns"])
        said += (
            f" Iterations with {share} of the time are much longer than those that windows have, "
            "and count as these."
        )
    return said


def _count(number: int) -> str:
    """Four digits of it."""
    digits = len(str(number))
    return units.count(round(number, min(0, 4 - digits)))


def _of_process(row: Row, rows: list[Row]) -> str:
    """Which one, where there are several."""
    return f"{units.visible(row['name'] or '?')}: " if len(rows) > 1 else ""


def choices(rows: list[Row]) -> list[str]:
    """Rows of `gpu_windows.choices`: what was recorded last in each process, and why."""
    last = {row["process_id"]: row for row in rows}
    several = [*last.values()]
    said = (f"{_of_process(row, several)}{_chosen(row)}" for row in several)
    return [*dict.fromkeys(said)]


def _chosen(row: Row) -> str:
    if row["why"] is None:
        return f"All GPU work was recorded: {units.visible(row['problem'])}."
    if row["why"] == "cheap":
        return (
            f"Windows of GPU work showed that recording takes at most {_part(row['slower_high'])} "
            f"of the loop. From {_after(row)} on, all was recorded."
        )
    rate = units.count(round(row["launches_per_s"]))
    if row["why"] == "graphs":
        return (
            f"All GPU work was recorded, with {rate} launches a second, because the program uses "
            "CUDA graphs. With `--cuda-graph-trace node`, rlscope can record windows."
        )
    most = _part(row["launches_per_s"] * record_costs.LAUNCH_ON_H100_NS[2] / 1e9)
    if row["why"] == "few_launches":
        return (
            f"All GPU work was recorded, because {rate} launches a second are few: recording them "
            f"takes at most {most} of the loop, by the costs on an H100."
        )
    return (
        f"From {_after(row)} on, GPU work was recorded in windows: with {rate} launches a second, "
        f"recording all may take up to {most} of the loop, by the costs on an H100."
    )


def _part(part: float) -> str:
    return units.share(max(part, 0.0), 1)


def _after(row: Row) -> str:
    return f"second {row['after_ns'] / 1e9:.0f} of the process"


def cost(costs: list[Row], total: list[Row], facts: Row, *, brief: bool = False) -> list[str]:
    """What recording CUDA took: by windows of this run, else that it was not measured.

    Args:
        costs: rows of `gpu_windows.window_costs`.
        total: the row of `cuda_total`.
        facts: the row of `coverage`.
        brief: as a terminal says it.
    """
    (sums,) = total
    if costs:
        # A calibration of the program has the cost of calls, and the correction takes it out.
        calls = _calls(sums) if verdicts.is_cuda_cost_unknown(facts) else ""
        return [f"{_of_process(row, costs)}{_of_windows(row, calls)}" for row in costs]
    return [*_not_measured(sums, facts, brief=brief)]


def _of_windows(row: Row, calls: str) -> str:
    if row["share"] is None:
        return (
            "Recording GPU work: what it took is not measured, because there were too few windows "
            "with other iterations beside them."
        )
    share, low, high = _percent(row, "share")
    windows = units.plural(row["windows"] + 1, "window")
    return (
        f"Recording GPU work in {windows} took {share} of the iterations ({low} to {high}), by the "
        f"iterations beside the windows in this run. {_slower(row)}{calls}"
    )


def _slower(row: Row) -> str:
    slower, least, most = _percent(row, "slower")
    if row["slower_low"] <= 0:
        return (
            "This run cannot tell that an iteration in a window took longer than others "
            f"({least} to {most})."
        )
    return f"An iteration in a window took {slower} longer ({least} to {most})."


def _calls(total: Row) -> str:
    """What windows cannot see, because it is on both sides of the comparison."""
    if not total["calls_everywhere"]:
        return ""
    least, most = (units.share(part, 1) for part in record_costs.CALLS_OF_LOOP)
    return (
        f" What recording {units.plural(total['calls'], 'CUDA call')} took is not in it: on an "
        f"H100 it was {least} to {most} of a loop."
    )


def _not_measured(total: Row, facts: Row, *, brief: bool) -> Iterator[str]:
    """Only where nothing else says what CUDA's records cost."""
    if not verdicts.is_cuda_cost_unknown(facts) or not total["launches"]:
        return
    mean, low, high = (
        units.duration(total["launches"] * ns) for ns in record_costs.LAUNCH_ON_H100_NS
    )
    launches = units.plural(total["launches"], "launch")
    said = f"What recording CUDA took is not measured: on an H100 {low} to {high} for {launches}."
    more = (
        f" That is about {mean} of CPU time. Where the CPU waits for the GPU anyway, it is no time "
        "of the loop. `rls-prof --gpu-share 10%` and `rlscope calibrate` measure it."
    )
    yield said if brief else said + more


def _percent(row: Row, name: str) -> tuple[str, str, str]:
    share, low, high = (units.share(row[f"{name}{end}"], 1) for end in ("", "_low", "_high"))
    return share, low, high
