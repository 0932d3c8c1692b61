"""The intervals that a timeline of a run should show, by its relations; no code under test.

shown(trace)                    Counter of Shown: of the whole run
shown(trace, from_ns, until_ns) cut at the edges of a window
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import count, pairwise
from typing import Any, NamedTuple

from rlscope.opening import Trace

LATEST_NS = (1 << 63) - 1


class Shown(NamedTuple):
    process: str
    place: str
    """Name of the track."""
    category: str
    text: str
    start_ns: int
    end_ns: int
    whole_ns: tuple[int, int]
    """Start and length before it was cut."""
    lane: int = 0
    """The first lane of its track in which it overlaps no other interval in part."""


def shown(trace: Trace, from_ns: int = 0, until_ns: int = LATEST_NS) -> Counter[Shown]:
    cut = [
        one._replace(start_ns=max(one.start_ns, from_ns), end_ns=min(one.end_ns, until_ns))
        for one in _all(trace)
        if one.start_ns < until_ns and (one.end_ns > from_ns or one.start_ns >= from_ns)
    ]
    tracks: dict[tuple[str, str], list[Shown]] = {}
    for one in cut:
        tracks.setdefault((one.process, one.place), []).append(one)
    return Counter(one for track in tracks.values() for one in _in_lanes(track))


def _in_lanes(track: list[Shown]) -> Iterator[Shown]:
    opened: list[tuple[int, int]] = []  # lanes and ends
    for one in sorted(track, key=lambda one: (one.start_ns, -one.end_ns)):
        opened = [(lane, end_ns) for lane, end_ns in opened if end_ns > one.start_ns]
        taken = {lane for lane, end_ns in opened if end_ns < one.end_ns}
        lane = next(lane for lane in count() if lane not in taken)
        opened.append((lane, one.end_ns))
        yield one._replace(lane=lane)


def arrows(trace: Trace) -> Counter[tuple[tuple[int, int], tuple[int, int]]]:
    """(process, start) of a launch or work, and of the next work of that launch."""
    chains: dict[tuple[int, int], list[tuple[int, int, bool]]] = {}
    for row in trace.table("event").to_dicts():
        if row["correlation_id"] and row["kind"] not in ("sync", "overhead"):
            key = (row["process_id"], row["correlation_id"])
            is_work = row["kind"] != "cuda_call"
            chains.setdefault(key, []).append((row["start_ns"], int(is_work), is_work))
    found: Counter[tuple[tuple[int, int], tuple[int, int]]] = Counter()
    for (process, _), chain in chains.items():
        if len({is_work for *_, is_work in chain}) == 2:
            found.update(pairwise((process, start_ns) for start_ns, *_ in sorted(chain)))
    return found


def _all(trace: Trace) -> Iterator[Shown]:
    names = dict(trace.sql("SELECT process_id, name FROM process"))
    threads = {row["thread_id"]: row for row in trace.table("thread").to_dicts()}
    operations = dict(trace.sql("SELECT operation_id, name FROM operation"))
    functions = dict(trace.sql("SELECT name, function FROM kernel"))
    for row in trace.table("event").to_dicts():
        yield _interval(
            names[row["process_id"]],
            _place(row, threads),
            *_text(row, operations, functions),
            row["start_ns"],
            row["duration_ns"],
        )
    for row in trace.table("iteration").to_dicts():
        process, text = names[row["process_id"]], f"iteration {row['iteration']}"
        start_ns, length_ns = row["start_ns"], row["duration_ns"]
        yield _interval(process, "iterations", "iteration", text, start_ns, length_ns)
    for row in trace.table("phase").to_dicts():
        process, start_ns, length_ns = names[row["process_id"]], row["start_ns"], row["duration_ns"]
        yield _interval(process, "phases", "phase", row["name"], start_ns, length_ns)
    windows = sorted(trace.sql("SELECT process_id, start_ns, duration_ns FROM recording_window"))
    for (one, start_ns, length_ns), (other, next_ns, _) in pairwise(windows):
        end_ns = start_ns + length_ns
        if one == other and next_ns > end_ns:
            text = "(not recorded)"
            yield _interval(names[one], "recording", "gap", text, end_ns, next_ns - end_ns)


def _interval(
    process: str, place: str, category: str, text: str, start_ns: int, length_ns: int
) -> Shown:
    end_ns = start_ns + length_ns
    return Shown(process, place, category, text, start_ns, end_ns, (start_ns, length_ns))


def _place(row: dict[str, Any], threads: dict[int, dict[str, Any]]) -> str:
    if row["thread_id"] is not None:
        thread = threads[row["thread_id"]]
        return thread["name"] or f"thread {thread['os_tid']}"
    apart = {"sync": "CUDA synchronisation", "overhead": "CUPTI"}
    return apart.get(row["kind"], f"GPU {row['device']} stream {row['stream']}")


def _text(
    row: dict[str, Any], operations: dict[int, str], functions: dict[str, str]
) -> tuple[str, str]:
    """Category and text."""
    if row["kind"] == "operation":
        return "operation", operations[row["operation_id"]]
    text = row["name"] or row["kind"]
    if row["thread_id"] is not None:
        return row["layer"], text
    return row["kind"], functions.get(text, text) if row["kind"] == "kernel" else text
