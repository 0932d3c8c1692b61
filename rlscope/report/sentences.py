"""Rows of tables in words, as panels and the terminal say them."""

from __future__ import annotations

from collections import Counter
from typing import Any

from rlscope.analysis.interception import BLIND
from rlscope.relations import step_numbers
from rlscope.report import bookkeeping as bookkeeping_costs
from rlscope.report import shares, units

# Ways between layers and functions that one sentence names.
_WAYS = 4
_FUNCTIONS = 3

_HOW = {
    "patch": "Native calls were recorded by patching the interpreter's pointers to them",
    "monitoring": "Native calls were recorded by sys.monitoring, which sees fewer of them and "
    "costs more,",
}


def iteration(summary: dict[str, Any]) -> str:
    """One row of `iteration_summary`: "120 complete iterations of trainer: median 31.2 ms, ..."."""
    parts = [
        f"{units.plural(summary['iterations'], 'complete iteration')} of "
        f"{units.visible(summary['name'] or '?')}: median {units.duration(summary['median_ns'])}",
        f"p95 {units.duration(summary['p95_ns'])}",
        f"range {units.duration(summary['min_ns'])} to {units.duration(summary['max_ns'])}",
    ]
    if summary["drift"] is not None:
        parts.append(
            f"drift {100 * summary['drift']:+.1f} % from the first tenth "
            f"({units.duration(summary['first_tenth_ns'])}) to the last "
            f"({units.duration(summary['last_tenth_ns'])})"
        )
    found = " (found automatically)" if summary["source"] == "automatic" else ""
    steps = step_numbers.sentence([summary.get("steps")])
    return ", ".join(parts) + found + (f"; {units.visible(steps)}" if steps else "") + "."


def automatic(rows: list[dict[str, Any]], facts: dict[str, Any]) -> list[str]:
    """Rows of `automatic_operations`: what rlscope found by itself, and how. Silent where the
    program's own operations take nearly all."""
    rows = [row for row in rows if row["loop_ns"]]
    if sum(row["loop_ns"] for row in rows) <= shares.NOTABLE_FOUND * facts["inside_ns"]:
        return []
    by_rule: dict[str, list[str]] = {}
    for row in rows:
        share = units.share(row["loop_ns"], facts["span_ns"])
        by_rule.setdefault(row["rule"] or "", []).append(
            f"{units.visible(row['operation'])} {share}"
        )
    found = [
        ", ".join(parts) + (f" ({units.visible(rule)})" if rule else "")
        for rule, parts in by_rule.items()
    ]
    return [f"Found automatically: {'; '.join(found)}."]


def beside_owner(row: dict[str, Any]) -> str:
    """An operation of a thread that did not own its process all the time."""
    thread = units.label(row["thread"] or str(row["os_tid"]))
    return (
        f"Thread {thread}: {units.label(row['operation'])} {units.duration(row['duration_ns'])}, "
        f"{units.duration(row['beside_ns'])} of it while another thread owned the process."
    )


def progress(row: dict[str, Any]) -> str:
    """One row of `extrapolation`: "The whole run of trainer takes about 2 h 05 min, ..."."""
    name = units.visible(row["name"] or "?")
    if row["whole_ns"] is None or row["share"] is None:
        return f"{name} reported progress {units.plural(row['reports'], 'time')}, but nothing done."
    elapsed = units.duration(row["elapsed_ns"])
    if row["share"] >= 1:
        return f"{name} reported the whole run: {row['done']:,.6g} in {elapsed}."
    return (
        f"The whole run of {name} takes about {units.duration(row['whole_ns'])}, extrapolated from "
        f"{units.share(row['share'], 1)} of it: {row['done']:,.6g} of {row['total']:,.6g} in "
        f"{elapsed}."
    )


def cut(row: dict[str, Any]) -> str:
    """One row of `cut`: "Recording was cut short 1.20 s after the start: the disk ... is full."."""
    if row["kind"] == "cut":
        why = f": {row['reason']}" if row["reason"] else ""
        after_ns = max(0, row["after_ns"])
        when = f"{units.duration(after_ns)} after the start" if after_ns else "before the start"
        said = f"Recording was cut short {when}{why}."
    else:
        said = (
            f"Recording of {units.plural(row['processes'], 'process')} was cut short, the first "
            f"time {units.duration(row['after_ns'])} after the start: the process that drains the "
            "rings was gone, and no other one could be started."
        )
    if row["left_ns"]:
        said += f" The program went on for {units.duration(row['left_ns'])}, of which nothing is"
        said += " in the trace."
    return said


def nested(directories: str) -> str:
    """Column `nested` of the run."""
    return f"The program ran another rls-prof, and its trace is in {directories}."


def coverage(facts: dict[str, Any]) -> list[str]:
    """The row of `coverage`, one fact per sentence."""
    notes = [
        f"{units.count(facts['events'])} events in {units.size(facts['file_bytes'])}, "
        f"{units.duration(facts['recorded_ns'])} of "
        f"{units.plural(facts['processes'], 'process')} recorded.",
        *bookkeeping(facts),
    ]
    if facts["exit_flush_ns"]:
        waited = units.duration(facts["exit_flush_ns"])
        notes.append(f"Exits waited {waited} until all records were written.")
    if facts["not_recorded_ns"]:
        notes.append(
            f"{units.duration(facts['not_recorded_ns'])} between recording windows were not "
            "recorded: a row of the table of operations, a grey area of the timeline, and in no "
            "other chart."
        )
    if facts["looping_processes"]:
        notes.append(_outside(facts))
    if facts["several_threads"]:
        notes.append(
            f"In {units.plural(facts['several_threads'], 'process')} more than one thread had "
            "operations. The charts show the one that owned the process, the main thread first; "
            "panel Threads has the others, relation `breakdown_by_thread` all."
        )
    if facts["longest_stall_ns"]:
        notes.append(
            "Records may have waited for the disk of the trace: stores of the drainer beside the "
            f"rings did, up to {units.duration(facts['longest_stall_ns'])}."
        )
    if facts["tasks"]:
        notes.append(
            "asyncio tasks were distinguished at their annotations only: time between a switch and "
            "the next annotation is charged to the task before."
        )
    return notes


def _outside(facts: dict[str, Any]) -> str:
    return (
        f"Before the training loop {units.duration(facts['startup_ns'])}, in it outside operations "
        f"{units.duration(facts['between_ns'])}, after it {units.duration(facts['end_ns'])}."
    )


def bookkeeping(facts: dict[str, Any]) -> list[str]:
    """Time that recording took of the program, as far as it is known, and beside it."""
    return [*overhead(facts), *_drainer(facts), _own_threads(facts)]


def overhead(facts: dict[str, Any]) -> list[str]:
    """The training loop with and without the cost of its records, which the analysis takes out."""
    raw_ns = facts["span_ns"]
    if facts["corrected_ns"] is None or not raw_ns:
        return []
    of = "training loop" if facts["looping_processes"] else "recorded time"
    removed = [raw_ns - facts[f"corrected{end}_ns"] for end in ("", "_high", "_low")]
    share, least, most = (units.share(ns, raw_ns) for ns in removed)
    low, high = (units.duration(facts[f"corrected{end}_ns"]) for end in ("_low", "_high"))
    left = facts["unknown_costs"]
    unknown = f" Not known, and part of both times: the cost of {left}." if left else ""
    source = facts["cost_method"]
    of_cuda = facts["cuda_cost_method"] or source
    cuda = "" if of_cuda == source else f" That of CUDA calls comes from {of_cuda}."
    hidden = ", less than this run can tell apart" if removed[1] <= 0 else ""
    return [
        f"Overhead: recording took {share} of the {of} ({least} to {most}){hidden}: "
        f"{units.duration(raw_ns)} as recorded, {units.duration(facts['corrected_ns'])} without "
        f"({low} to {high}). The cost of most records comes from {source}.{cuda}{unknown}"
    ]


def _drainer(facts: dict[str, Any]) -> list[str]:
    if facts["drainer_cpu_ns"] is None or not facts["cpu_ns"]:
        return []
    return [
        f"Records: {bookkeeping_costs.counts(facts)}. The drainer took "
        f"{units.share(facts['drainer_cpu_ns'], facts['cpu_ns'])} of the program's CPU time "
        "beside it."
    ]


def _own_threads(facts: dict[str, Any]) -> str:
    """The profiler's own CPU time beside the program's, where both are known."""
    if facts["profiler_cpu_ns"] is None or not facts["cpu_ns"]:
        return "The CPU time of the profiler's own threads is not known for this run."
    if not facts["profiler_cpu_ns"]:
        return "No thread of the profiler ran inside the processes."
    return (
        f"The profiler's own threads inside the processes took "
        f"{units.duration(facts['profiler_cpu_ns'])} of CPU time beside "
        f"{units.duration(facts['cpu_ns'])} of the program "
        f"({units.share(facts['profiler_cpu_ns'], facts['cpu_ns'])})."
    )


def interception(rows: list[dict[str, Any]]) -> list[str]:
    """Rows of `interception`: how native calls were recorded, and what that cannot see."""
    return [sentence for row in rows for sentence in _engine(row)]


def _engine(row: dict[str, Any]) -> list[str]:
    reason = f": {units.visible(row['reason'])}" if row["reason"] else ""
    where = f"in {units.plural(row['processes'], 'process')}"
    if row["engine"] == "off":
        said = [f"Native calls and waits were not recorded {where}{reason}. They count as python."]
    else:
        libraries = units.visible(row["libraries"]) or "no library that was watched"
        said = [f"{_HOW[row['engine']]} {where}{reason}. Recorded: {libraries}."]
    if row["engine"] == "patch" and not row["has_waits"]:
        said.append(
            "Waits and pickling were not recorded (rls-prof --no-waits, or RLSCOPE_WAITS=0). They "
            "count as the layer around them."
        )
    if row["scan_ns"]:
        said.append(
            f"Start-up took {units.duration(row['startup_ns'])} longer because recording had to "
            f"begin, and imports {units.duration(row['scan_ns'])} because functions had to be "
            "patched."
        )
    if row["engine"] in BLIND and BLIND[row["engine"]]:
        said.append(f"Not seen: {'; '.join(BLIND[row['engine']])}.")
    if row["problems"]:
        said.append(f"Not watched: {units.visible(row['problems'])}.")
    return said


def _rate(count: float) -> str:
    """Four digits, and never a power of ten."""
    return f"{count:,.0f}" if count >= 1000 else f"{count:.4g}"


def crossings(rows: list[dict[str, Any]]) -> list[str]:
    """Rows of `transitions`, added up over operations: one sentence."""
    counts: Counter[str] = Counter()
    rates: Counter[str] = Counter()
    for row in rows:
        way = f"{row['from_layer']} to {row['to_layer']}"
        counts[way] += row["count"]
        rates[way] += row["per_iteration"] or 0
    if not counts:
        return []
    named = [
        f"{way} {units.count(count)}"
        + (f" ({_rate(rates[way])} per iteration)" if rates[way] else "")
        for way, count in counts.most_common(_WAYS)
    ]
    return [f"Entries into another layer: {', '.join(named)}."]


def longest_calls(rows: list[dict[str, Any]]) -> list[str]:
    """Rows of `native_call_total`: one sentence."""
    if not rows:
        return []
    calls = [
        f"{units.visible(row['function'])} {units.share(row['share'], 1)} "
        f"({units.duration(row['duration_ns'] / row['calls'])} x {units.count(row['calls'])})"
        for row in rows[:_FUNCTIONS]
    ]
    return [f"Of the time in native calls: {', '.join(calls)}."]
