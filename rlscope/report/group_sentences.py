"""Groups of operations in words: what the largest one is made of, and which come next."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from rlscope.analysis import environment_verdicts, groups, verdicts
from rlscope.report import layers, loop_sentences, units

# Groups that the second sentence names, and operations of the first group.
_NEXT = 3
# Layers of the first group.
_LARGEST = 4

Rows = Sequence[dict[str, Any]]


def shares_of_operations(times: Rows, facts: dict[str, Any]) -> Iterable[str]:
    """ "Learning by operation: ...": parts of the largest group. Without a loop, how to get one.

    Args:
        times: rows of `group_time`.
        facts: the row of `coverage`.
    """
    if not times:
        return
    if not facts["looping_processes"]:
        into = loop_sentences.annotation(facts)
        yield (
            f"Put the steps of the training loop into {into} to see where its time goes. "
            "Or name the class of its environment: rls-prof --environment CLASS."
        )
        return
    rows = _of_first(times)
    members = {row["operation"]: row["operation_ns"] for row in rows}
    if len(members) > 1:
        waiting_ns = _waiting(rows, "operation")
        whole_ns = times[0]["whole_ns"]
        yield f"{_title(times)} by operation: {_shares(members, waiting_ns, whole_ns)}."


def without_environment(times: Rows, facts: dict[str, Any]) -> str:
    """The last words of a sentence, if a program acts and rlscope knows no environment of it."""
    if not environment_verdicts.is_environment_missed(times, facts):
        return ""
    return (
        " rlscope saw no environment: if the program steps one, name its class by rls-prof "
        "--environment CLASS."
    )


def shares_of_layers(times: Rows, facts: dict[str, Any]) -> Iterable[str]:
    """ "Learning by layer: ..."."""
    if not times:
        return
    rows = _of_first(times)
    if facts["looping_processes"]:
        yield f"{_title(times)} by layer: {_layer_shares(rows)}."
    elif any(row["layer"] != "none" for row in rows):
        yield f"By layer: {_layer_shares(rows)} of the recorded time."


def others(times: Rows, facts: dict[str, Any]) -> Iterable[str]:
    """ "Next: ...": the groups after the largest one."""
    if not times or not facts["looping_processes"]:
        return
    said = (times[0]["group"], groups.WAITING_BETWEEN)
    found = {row["group"]: row["group_ns"] for row in times if row["group"] not in said}
    if found:
        waiting_ns = _waiting(times, "group")
        yield f"Next: {_shares(found, waiting_ns, times[0]['whole_ns'])}."


def _of_first(times: Rows) -> Rows:
    return [row for row in times if row["group"] == times[0]["group"]]


def _title(times: Rows) -> str:
    return loop_sentences.title(times[0]["group"])


def _waiting(times: Rows, part: str) -> dict[str, int]:
    """Time in layer wait of each group or operation (`part`) that spends most of its time there."""
    sums: dict[str, int] = {}
    for row in times:
        if row["layer"] == "wait":
            sums[row[part]] = sums.get(row[part], 0) + row["duration_ns"]
    whole_ns = {row[part]: row[f"{part}_ns"] for row in times}
    return {name: ns for name, ns in sums.items() if verdicts.is_most(ns, whole_ns[name])}


def _shares(parts: dict[str, int], waiting_ns: dict[str, int], whole_ns: int) -> str:
    """The largest parts by name; the smallest one can only be named alone."""
    return ", ".join(
        f"{units.label(name)} {units.share(ns, whole_ns)}"
        + (f" ({units.share(waiting_ns[name], whole_ns)} waiting)" if name in waiting_ns else "")
        for place, (name, ns) in enumerate([*parts.items()][:_NEXT])
        if place == 0 or verdicts.is_group_named(ns, whole_ns)
    )


def _layer_shares(rows: Rows) -> str:
    """ "framework 31.0 %, python 21.8 %": of the same whole as all shares."""
    sums: dict[tuple[str, bool], int] = {}
    for row in rows:
        state = (row["layer"], row["gpu_busy"])
        sums[state] = sums.get(state, 0) + row["duration_ns"]
    largest = sorted(sums.items(), key=lambda item: -item[1])[:_LARGEST]
    return ", ".join(
        f"{_layer_name(*state)} {units.share(ns, rows[0]['whole_ns'])}" for state, ns in largest
    )


def _layer_name(layer: str, gpu_busy: bool) -> str:
    return layers.label("waiting" if layer == "wait" else layer, gpu_busy)
