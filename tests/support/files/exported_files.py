"""What files of `rlscope export` show, read back: as shown_intervals.shown() has it."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from decimal import Decimal
from pathlib import Path
from typing import Any

from support.files import perfetto_trace
from support.files.shown_intervals import Shown

_LANE = re.compile(r" \((\d+)\)$")  # of a track, behind the first one


def perfetto(path: Path) -> Counter[Shown]:
    """Slices of Perfetto's file; their nesting is checked on the way."""
    content = perfetto_trace.read(path)
    names = {process.pid: process.process_name for process in content.processes.values()}
    found = []
    for one in content.slices:
        pid, place = content.place(one.track)
        assert one.end_ns is not None
        whole_ns = (
            one.arguments.get("whole_start_ns", one.start_ns),
            one.arguments.get("whole_duration_ns", one.end_ns - one.start_ns),
        )
        found.append(
            Shown(
                names[pid],
                place,
                one.category,
                one.name,
                one.start_ns,
                one.end_ns,
                whole_ns,
                _lane(content.tracks[one.track].name),
            )
        )
    return Counter(found)


def chrome(path: Path) -> Counter[Shown]:
    """Slices of Chrome's JSON; in every lane they nest."""
    document = json.loads(path.read_text(), parse_float=Decimal)
    origin_ns = document["otherData"]["run_start_ns"]
    names: dict[tuple[str, int, int], str] = {}
    found = []
    lanes = defaultdict(list)
    for event in document["traceEvents"]:
        if event["ph"] == "M" and "name" in event["args"]:
            names[event["name"], event["pid"], event["tid"]] = event["args"]["name"]
        if event["ph"] != "X":
            continue
        start_ns, length_ns = nanoseconds(event["ts"]), nanoseconds(event["dur"])
        arguments = event.get("args", {})
        start_ns += origin_ns
        place = names["thread_name", event["pid"], event["tid"]]
        lanes[event["pid"], event["tid"]].append((start_ns, start_ns + length_ns))
        found.append(
            Shown(
                names["process_name", event["pid"], 0],
                _LANE.sub("", place),
                event["cat"],
                event["name"],
                start_ns,
                start_ns + length_ns,
                (
                    arguments.get("whole_start_ns", start_ns),
                    arguments.get("whole_duration_ns", length_ns),
                ),
                _lane(place),
            )
        )
    for lane in lanes.values():
        assert_nested(lane)
    return Counter(found)


def _lane(name: str) -> int:
    found = _LANE.search(name)
    return int(found[1]) - 1 if found else 0


def nanoseconds(microseconds: Decimal) -> int:
    """Exactly."""
    thousand = microseconds * 1000
    assert thousand == int(thousand)
    return int(thousand)


def assert_nested(intervals: list[tuple[int, int]]) -> None:
    """As they stand, each lies in those that are open when it begins."""
    ends: list[int] = []
    for start_ns, end_ns in intervals:
        while ends and ends[-1] <= start_ns:
            ends.pop()
        assert not ends or end_ns <= ends[-1]
        ends.append(end_ns)


def speedscope(path: Path, origin_ns: int) -> Counter[tuple[str, str, int, int]]:
    """(track, text, start and end) of every slice; what closes is the last one that was opened."""
    document: dict[str, Any] = json.loads(path.read_text())
    texts = [frame["name"] for frame in document["shared"]["frames"]]
    found: Counter[tuple[str, str, int, int]] = Counter()
    for profile in document["profiles"]:
        assert (profile["type"], profile["unit"]) == ("evented", "nanoseconds")
        place = _LANE.sub("", profile["name"])
        opened: list[tuple[int, int]] = []
        last = profile["startValue"]
        for event in profile["events"]:
            assert last <= event["at"] <= profile["endValue"]
            last = event["at"]
            if event["type"] == "O":
                opened.append((event["frame"], event["at"]))
            else:
                frame, at = opened.pop()
                assert frame == event["frame"]
                found[place, texts[frame], at + origin_ns, event["at"] + origin_ns] += 1
        assert not opened
    return found
