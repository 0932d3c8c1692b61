"""Rows of tables in words, as panels and the terminal say them."""

from __future__ import annotations

from collections import Counter
from typing import Any

from rlscope.analysis import verdicts
from rlscope.analysis.interception import BLIND
from rlscope.relations import step_numbers
from rlscope.report import bookkeeping as bookkeeping_costs
from rlscope.report import layers, units

# Ways between layers and functions that one sentence names.
_WAYS = 4
_FUNCTIONS = 3

_HOW = {
    "patch": "by patching the interpreter's pointers to them",
    "monitoring": "by sys.monitoring, which sees fewer of them and costs more",
}


def iteration(summary: dict[str, Any]) -> str:
    """One row of `iteration_summary`: "trainer completed 120 iterations: median 31.2 ms, ..."."""
    found = " (found automatically)" if summary["source"] == "automatic" else ""
    said = [
        f"{units.visible(summary['name'] or '?')} completed "
        f"{units.plural(summary['iterations'], 'iteration')}{found}{_lengths(summary)}."
    ]
    if summary["drift"] is not None:
        said.append(
            f"They drift by {100 * summary['drift']:+.1f} % from the first tenth "
            f"({units.duration(summary['first_tenth_ns'])}) to the last "
            f"({units.duration(summary['last_tenth_ns'])})."
        )
    if steps := step_numbers.sentence([summary.get("steps")]):
        said.append(f"{units.visible(steps[:1].upper() + steps[1:])}.")
    return " ".join(said)


def _lengths(summary: dict[str, Any]) -> str:
    """ ": median 31.2 ms, p95 40.1 ms, range ...", as far as so many iterations say it."""
    median = units.duration(summary["median_ns"])
    if summary["iterations"] == 1:
        return f" of {median}"
    enough = verdicts.are_iterations_enough(summary["iterations"])
    p95 = f"p95 {units.duration(summary['p95_ns'])}, " if enough else ""
    low, high = (units.duration(summary[f"{end}_ns"]) for end in ("min", "max"))
    return f": median {median}, {p95}range {low} to {high}"


def automatic(rows: list[dict[str, Any]], facts: dict[str, Any]) -> list[str]:
    """Rows of `automatic_operations`: what rlscope found by itself, and how. Silent where the
    program's own operations take nearly all."""
    rows = [row for row in rows if row["loop_ns"]]
    if not verdicts.is_found_notable(rows, facts):
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
    return [f"rlscope found by itself: {'; '.join(found)}."]


def automatic_names(rows: list[dict[str, Any]], facts: dict[str, Any]) -> list[str]:
    """The same without shares, which a table has, and rules, which the page has."""
    names = [units.visible(row["operation"]) for row in rows if row["loop_ns"]]
    if not automatic(rows, facts):
        return []
    return [f"rlscope found by itself: {', '.join(names)}. The page says by which rules."]


def beside_owner(row: dict[str, Any]) -> str:
    """An operation of a thread that did not own its process all the time. `beside_ns` is of all
    threads of the process."""
    thread = units.label(row["thread"] or f"thread {row['os_tid']}")
    return (
        f"{thread} spent {units.duration(row['duration_ns'])} in {units.label(row['operation'])}; "
        f"all threads, {units.duration(row['beside_ns'])} while another one owned the process."
    )


def progress(row: dict[str, Any]) -> str:
    """One row of `extrapolation`: "The whole run of trainer will take about 2 h 05 min, ..."."""
    name = units.visible(row["name"] or "?")
    if row["whole_ns"] is None or row["share"] is None:
        reports = units.plural(row["reports"], "time")
        return f"{name} reported progress {reports}, each time with nothing done."
    elapsed = units.duration(row["elapsed_ns"])
    if row["share"] >= 1:
        return f"{name} reported that it did all of its work: {row['done']:,.6g} in {elapsed}."
    return (
        f"The whole run of {name} will take about {units.duration(row['whole_ns'])}, if it goes on "
        f"like its first {units.share(row['share'], 1)}: {row['done']:,.6g} of "
        f"{row['total']:,.6g} in {elapsed}."
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
            f"time {units.duration(row['after_ns'])} after the start. The process that drains the "
            "rings was gone, and no other one could be started."
        )
    if row["left_ns"]:
        said += f" The program went on for {units.duration(row['left_ns'])}, which are not in the"
        said += " trace."
    return said


def nested(directories: str) -> str:
    """Column `nested` of the run."""
    return f"The program ran another rls-prof, and its trace is in {directories}."


def coverage(facts: dict[str, Any]) -> list[str]:
    """The row of `coverage`, one fact per sentence."""
    notes = [
        f"rlscope recorded {units.count(facts['events'])} events "
        f"({units.size(facts['file_bytes'])}) in {units.duration(facts['recorded_ns'])} of "
        f"{units.plural(facts['processes'], 'process')}.",
        *bookkeeping(facts),
    ]
    if facts["exit_flush_ns"]:
        waited = units.duration(facts["exit_flush_ns"])
        notes.append(f"At their end, processes waited {waited} until all records were written.")
    if facts["not_recorded_ns"]:
        notes.append(
            f"{units.duration(facts['not_recorded_ns'])} between recording windows were not "
            "recorded. They are a row of the table of operations and grey in the timeline. No "
            "other chart shows them."
        )
    if facts["looping_processes"]:
        notes.append(_outside(facts))
    if facts["several_threads"]:
        notes.append(
            f"In {units.plural(facts['several_threads'], 'process')}, more than one thread had "
            "operations. The charts show the thread that owned the process, the main thread first. "
            "Panel Threads shows the others, and relation `breakdown_by_thread` has all."
        )
    if facts["longest_stall_ns"]:
        notes.append(
            f"Records may have waited up to {units.duration(facts['longest_stall_ns'])} for the "
            "disk of the trace: writes of the drainer did."
        )
    if facts["tasks"]:
        notes.append(
            "rlscope tells asyncio tasks apart at their annotations only. Time between a switch "
            "and the next annotation counts for the task before the switch."
        )
    return notes


def _outside(facts: dict[str, Any]) -> str:
    warm_up = f"{units.duration(facts['warmup_ns'])} in warm-up, " if facts["warmup_ns"] else ""
    processes = facts["looping_processes"]
    who = f"{units.plural(processes, 'process')} together" if processes > 1 else "The program"
    return (
        f"{who} spent {units.duration(facts['startup_ns'])} before the training loop, "
        f"{units.duration(facts['between_ns'])} in it but outside operations, {warm_up}and "
        f"{units.duration(facts['end_ns'])} after it."
    )


def bookkeeping(facts: dict[str, Any]) -> list[str]:
    """Time that recording took of the program, as far as it is known, and beside it."""
    return [*overhead(facts), *_drainer(facts), _own_threads(facts)]


def overhead(facts: dict[str, Any]) -> list[str]:
    """The training loop with and without the cost of its records, which the analysis takes out."""
    raw_ns = facts["span_ns"]
    if facts["corrected_ns"] is None or not raw_ns:
        return []
    with_, without, low, high = map(
        units.duration, (raw_ns, *(facts[f"corrected{end}_ns"] for end in ("", "_low", "_high")))
    )
    taken = "about as long" if without == with_ else f"{without} ({low} to {high}), not {with_}"
    left = facts["unknown_costs"]
    unknown = f" Both times include unknown costs: {left}." if left else ""
    return [
        f"{_taken(facts)} Without recording, it would have taken {taken}. "
        f"{_sources_of_costs(facts)}{unknown}".rstrip()
    ]


def overhead_share(facts: dict[str, Any]) -> list[str]:
    """Which share of the training loop recording took, and how that is known."""
    is_known = facts["corrected_ns"] is not None and facts["span_ns"]
    return [f"{_taken(facts)} {_sources_of_costs(facts)}".rstrip()] if is_known else []


def _sources_of_costs(facts: dict[str, Any]) -> str:
    source = facts["cost_method"]
    of_cuda = facts["cuda_cost_method"] or source
    if not source:
        return f"The cost of CUDA calls comes from {of_cuda}." if of_cuda else ""
    cuda = "" if of_cuda == source else f" The cost of CUDA calls comes from {of_cuda}."
    return f"The cost of most records comes from {source}.{cuda}"


def _taken(facts: dict[str, Any]) -> str:
    raw_ns = facts["span_ns"]
    of = "training loop" if facts["looping_processes"] else "recorded time"
    removed = [raw_ns - facts[f"corrected{end}_ns"] for end in ("", "_high", "_low")]
    share, least, most = (units.share(ns, raw_ns) for ns in removed)
    hidden = ", which this run cannot tell from nothing" if removed[1] <= 0 else ""
    without = ", without what CUDA's records took" if verdicts.is_cuda_cost_unknown(facts) else ""
    return f"Overhead: recording took {share} of the {of} ({least} to {most}){hidden}{without}."


def _drainer(facts: dict[str, Any]) -> list[str]:
    if facts["drainer_cpu_ns"] is None or not facts["cpu_ns"]:
        return []
    return [
        f"Records: {bookkeeping_costs.counts(facts)}. Beside the program, the drainer used "
        f"{units.share(facts['drainer_cpu_ns'], facts['cpu_ns'])} as much CPU time."
    ]


def _own_threads(facts: dict[str, Any]) -> str:
    """The profiler's own CPU time beside the program's, where both are known."""
    if facts["profiler_cpu_ns"] is None or not facts["cpu_ns"]:
        return "This run does not tell the CPU time of the profiler's own threads."
    if not facts["profiler_cpu_ns"]:
        return "No thread of the profiler ran inside the processes."
    return (
        f"Inside the processes, threads of the profiler used "
        f"{units.duration(facts['profiler_cpu_ns'])} of CPU time "
        f"({units.share(facts['profiler_cpu_ns'], facts['cpu_ns'])} of the program's "
        f"{units.duration(facts['cpu_ns'])})."
    )


def interception(rows: list[dict[str, Any]]) -> list[str]:
    """Rows of `interception`: how native calls were recorded, and what that cannot see."""
    return [sentence for row in rows for sentence in _engine(row)]


def _engine(row: dict[str, Any]) -> list[str]:
    reason = f": {units.visible(row['reason'])}" if row["reason"] else ""
    where = f"In {units.plural(row['processes'], 'process')}, rlscope recorded"
    if row["engine"] == "off":
        said = [f"{where} no native calls and no waits{reason}. They count as python."]
    else:
        libraries = units.visible(row["libraries"]) or "none that rlscope knows"
        said = [f"{where} native calls {_HOW[row['engine']]}{reason}. Libraries: {libraries}."]
    if row["engine"] == "patch" and not row["has_waits"]:
        said.append(
            "rlscope recorded no waits and no pickling (rls-prof --no-waits, or RLSCOPE_WAITS=0). "
            "They count as the layer around them."
        )
    if row["scan_ns"]:
        said.append(
            f"Recording made start-up {units.duration(row['startup_ns'])} longer. Patching "
            f"functions made imports {units.duration(row['scan_ns'])} longer."
        )
    if row["engine"] in BLIND and BLIND[row["engine"]]:
        said.append(f"rlscope does not see {'; '.join(BLIND[row['engine']])}.")
    if row["problems"]:
        said.append(f"rlscope could not watch {units.visible(row['problems'])}.")
    return said


def crossings(rows: list[dict[str, Any]]) -> list[str]:
    """Rows of `transitions`, added up over operations: one sentence. A count is of the whole run,
    a rate of complete iterations."""
    counts: Counter[str] = Counter()
    rates: Counter[str] = Counter()
    for row in rows:
        way = " to ".join(layers.label(row[end], False) for end in ("from_layer", "to_layer"))
        counts[way] += row["count"]
        rates[way] += row["per_iteration"] or 0
    if not counts:
        return []
    named = [
        f"{way} {units.count(count)}"
        + (f", and {units.rate(rates[way])} in an iteration" if rates[way] else "")
        for way, count in counts.most_common(_WAYS)
    ]
    return [f"Entries into another layer in the whole run: {'; '.join(named)}."]


def longest_calls(rows: list[dict[str, Any]]) -> list[str]:
    """Rows of `native_call_total`: one sentence."""
    if not rows:
        return []
    calls = [
        f"{units.visible(row['function'])} {units.share(row['share'], 1)} "
        f"({units.duration(row['duration_ns'] / row['calls'])} x {units.count(row['calls'])})"
        for row in rows[:_FUNCTIONS]
    ]
    processes = rows[0]["processes"]
    whose = f" of {units.plural(processes, 'process')} together" if processes > 1 else ""
    return [f"Largest shares of the native time{whose}: {', '.join(calls)}."]


def short_calls(rows: list[dict[str, Any]]) -> list[str]:
    """The row of `short_call`: what no count of calls has."""
    return [
        f"{units.count(row['calls'])} waits and calls of pickle took less than 5 µs each. They "
        "left no record and are in no count of calls."
        for row in rows
        if row["calls"]
    ]
