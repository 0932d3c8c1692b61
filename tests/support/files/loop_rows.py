"""Relations of a training loop of 10 s, as rules of analysis/findings ask them, made by hand.

trace = loop_rows(times=[Time("inference", "framework", 4 * SECOND, "/me/train.py", 3)])
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rlscope import registry
from rlscope.analysis.critical_loop import critical_loop
from rlscope.analysis.finding import Finding, Rule
from support.files.relation_rows import SECOND, Relations, process, share

LOOP_NS = 10 * SECOND
FILE = "/me/train.py"


@dataclass(frozen=True)
class Time:
    """Time of the loop in a state, at a line of the program, in calls of functions of libraries."""

    operation: str
    layer: str
    duration_ns: int
    line: int = 1
    inside: Sequence[tuple[str, str]] = ()
    """File and function of these calls, the outermost first: in line 2 of each."""
    readings: int = 100


def loop_rows(
    *times: Time,
    entries: Mapping[str, int] | None = None,
    text: str = "",
    more_breakdown: Sequence[Mapping[str, Any]] = (),
    more_times: Mapping[int, Sequence[Time]] | None = None,
    **more: Any,
) -> Relations:
    """The rest of the loop is a learning that no rule looks for, entered as often as others are.
    `more_times`: of other processes, by their numbers."""
    rest = LOOP_NS - sum(time.duration_ns for time in times)
    everything = [*times, Time("update", "python", rest, line=999)]
    entries = {"update": max((entries or {"": 1}).values()), **(entries or {})}
    operations = list(dict.fromkeys(time.operation for time in everything))
    paths = [path for path in operations if path != "(none)"]
    made = {
        "run": [{"start_ns": 0, "end_ns": LOOP_NS}],
        "host": [{"host_id": 0, "cores": 2}],
        "process": [process(0, 0, LOOP_NS, host_id=0)],
        "breakdown": [*_breakdown(everything), *more_breakdown],
        "operation": [
            {"operation_id": place, "path": path, "source": "automatic"}
            for place, path in enumerate(paths)
        ],
        "operation_instance": [
            {"process_id": 0, "operation_id": place}
            for place, path in enumerate(paths)
            for _ in range(entries.get(path, 1))
        ],
        "stack": [],
        "stack_time": [],
        "source_line": [],
        "source_text": [
            {"file": FILE, "line": number, "text": line}
            for number, line in enumerate(text.splitlines(), 1)
        ],
    }
    for process_id, own in {0: everything, **(more_times or {})}.items():
        for time in own:
            _add_stack(made, time, process_id)
    return Relations(**{**made, **more})


def _breakdown(times: Iterable[Time]) -> list[Mapping[str, Any]]:
    sums: dict[tuple[str, str], int] = {}
    for time in times:
        key = time.operation, time.layer
        sums[key] = sums.get(key, 0) + time.duration_ns
    return [
        share(0, operation, layer, ns, source=None if operation == "(none)" else "automatic")
        for (operation, layer), ns in sums.items()
    ]


def _add_stack(made: dict[str, Any], time: Time, process_id: int) -> None:
    frames = [
        (FILE, "train", True, time.line),
        *((*each, each[0] == FILE, 2) for each in time.inside),
    ]
    parent = None
    for file, function, is_own, line in frames:
        number = len(made["stack"]) + 1
        made["stack"].append(
            {
                "process_id": process_id,
                "stack_id": number,
                "parent_id": parent,
                "function": function,
                "file": file,
                "line": line,
                "is_own": is_own,
            }
        )
        parent = number
    state = {
        "process_id": process_id,
        "stage": "loop",
        "operation": time.operation,
        "layer": time.layer,
        "readings": time.readings,
    }
    ns = time.duration_ns
    low_ns, high_ns = round(0.9 * ns), round(1.1 * ns)
    made["stack_time"].append(
        state | {"stack_id": parent, "self_ns": ns, "self_low_ns": low_ns, "self_high_ns": high_ns}
    )
    own = {"own_ns": ns, "own_low_ns": low_ns, "own_high_ns": high_ns, "total_ns": ns}
    line = {"file": FILE, "line": time.line, "function": "train", "is_own": True}
    made["source_line"].append(state | line | own | {"self_ns": 0 if time.inside else ns})


def calls(operation: str, function: str, count: int, duration_ns: int) -> dict[str, Any]:
    """A row of native_call, of a framework."""
    row = {"process_id": 0, "operation": operation, "function": function, "layer": "framework"}
    return {**row, "calls": count, "duration_ns": duration_ns, "self_ns": duration_ns}


def found(rule: Rule, trace: Relations) -> list[Finding]:
    """What a rule finds in the loop. What shows its numbers can be run."""
    loop = critical_loop(trace)
    assert loop is not None
    findings = [*rule.find(trace, loop)]
    for each in findings:
        trace.sql(each.evidence_sql)
    return findings


def found_by(name: str, trace: Relations) -> list[Finding]:
    """The same of a rule by its name."""
    return found(registry.load(registry.FINDINGS, name), trace)
