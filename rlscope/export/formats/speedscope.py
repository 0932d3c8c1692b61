"""speedscope's JSON: an evented profile for each thread, stream and other track, and a sampled one
for the stacks of each process.

Times are nanoseconds since the start of the run. There are no arrows, no readings and no
annotations: the format has none. Stacks have sums over the run, so a part of a run has no stacks.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from rlscope import _trace
from rlscope._version import __version__
from rlscope.export import stacks
from rlscope.export.exporter import Exported, Tell
from rlscope.export.stacks import Frame, StackTime
from rlscope.export.timeline import Slices, Timeline, Track
from rlscope.export.viewers import viewer_file
from rlscope.export.window import Window
from rlscope.relations.trace import Trace

_SCHEMA = "https://www.speedscope.app/file-format-schema.json"
_IN_MEMORY = 1 << 20  # bytes of a lane beyond the first, until it goes to a temporary file


class _Speedscope:
    ending = ".speedscope.json"

    def write(
        self, trace: Trace, window: Window, path: Path, *, force: bool, tell: Tell
    ) -> Exported:
        with viewer_file(trace, window, path, force=force, tell=tell) as opened:
            (name,) = trace.table("run")["name"]
            sampled = _Stacks(_stack_times(trace, window), len(opened.timeline.names))
            frames = [*({"name": each} for each in opened.timeline.names), *sampled.frames()]
            opened.file.write(_head(name, frames).encode())
            profiles = _Profiles(opened.file, opened.timeline)
            lanes = _trace.Lanes()
            for slices in opened.slices(arrows=False):
                profiles.add(
                    slices, lanes.add(slices["track"], slices["start_ns"], slices["end_ns"])
                )
            profiles.end_track()
            for profile in sampled.profiles():
                profiles.write(profile)
                opened.exported.counts["stacks"] += len(profile["samples"])
            opened.file.write(b"\n]}\n")
        if not window.is_whole and stacks.has_stacks(trace):
            opened.exported.left_out.append("without stacks: their times are of the whole run")
        opened.exported.left_out.append("without arrows and readings: the format has none")
        return opened.exported


def _stack_times(trace: Trace, window: Window) -> list[StackTime]:
    return stacks.read(trace, window) if window.is_whole and stacks.has_stacks(trace) else []


def _head(name: str, frames: Sequence[dict[str, Any]]) -> str:
    facts = {"$schema": _SCHEMA, "name": name, "exporter": f"rlscope@{__version__}"}
    shared = {"frames": frames}
    return f'{json.dumps(facts)[:-1]},\n"shared": {json.dumps(shared)},\n"profiles": ['


class _Stacks:
    """Makes a profile of the stacks of each process.

    Args:
        first: the place of their first frame among all frames of the file.
    """

    def __init__(self, times: Sequence[StackTime], first: int) -> None:
        self._times = times
        frames = dict.fromkeys(frame for time in times for frame in time.frames)
        self._places = {frame: place for place, frame in enumerate(frames, first)}

    def frames(self) -> Iterator[dict[str, Any]]:
        for frame in self._places:
            where = {"file": frame.file, "line": frame.line} if frame.file else {}
            yield {"name": frame.function, **where}

    def profiles(self) -> Iterator[dict[str, Any]]:
        sums: dict[str, dict[Sequence[Frame], int]] = {}
        for time in self._times:
            of_process = sums.setdefault(time.process, {})
            of_process[time.frames] = of_process.get(time.frames, 0) + time.self_ns
        for process, stack_sums in sums.items():
            yield {
                "type": "sampled",
                "name": f"{process}: stacks",
                "unit": "nanoseconds",
                "startValue": 0,
                "endValue": sum(stack_sums.values()),
                "samples": [[self._places[frame] for frame in each] for each in stack_sums],
                "weights": [*stack_sums.values()],
            }


class _Profiles:
    """Writes a profile for each lane of a track. The first lane goes to the file at once; what the
    others have is kept apart until the track ends."""

    def __init__(self, file: IO[bytes], timeline: Timeline) -> None:
        self._file = file
        self._tracks = timeline.tracks
        self._origin_ns = timeline.window.run_start_ns
        self._track: Track | None = None
        self._lanes: list[_Lane] = []
        self._before = "\n"

    def add(self, slices: Slices, lanes: NDArray[np.int64]) -> None:
        """Takes slices, each with its lane."""
        columns = (
            slices["track"],
            lanes,
            slices["start_ns"] - self._origin_ns,
            slices["end_ns"] - self._origin_ns,
            slices["name"],
        )
        for number, lane, start, end, name in zip(
            *(each.tolist() for each in columns), strict=True
        ):
            track = self._tracks[number]
            if track is not self._track:
                self.end_track()
                self._track = track
            if lane == len(self._lanes):
                self._begin_lane(track, start)
            self._lanes[lane].add(start, end, name)

    def end_track(self) -> None:
        """Ends the profiles of the last track."""
        with ExitStack() as files:
            for number, lane in enumerate(self._lanes):
                lane.end()
                if number:
                    kept = files.enter_context(lane.file)
                    kept.seek(0)
                    shutil.copyfileobj(kept, self._file)
        self._lanes.clear()

    def write(self, profile: dict[str, Any]) -> None:
        """Writes a whole profile, when no track is open."""
        self._file.write(f"{self._before}{json.dumps(profile)}".encode())
        self._before = ",\n"

    def _begin_lane(self, track: Track, start_ns: int) -> None:
        number = len(self._lanes)
        file = tempfile.SpooledTemporaryFile(_IN_MEMORY) if number else self._file
        name = f"{track.process.name}: {track.name}"
        facts = {
            "type": "evented",
            "name": f"{name} ({number + 1})" if number else name,
            "unit": "nanoseconds",
            "startValue": start_ns,  # else the viewer shows how long nothing happened
        }
        file.write(f'{self._before}{json.dumps(facts)[:-1]}, "events": ['.encode())
        self._before = ",\n"
        self._lanes.append(_Lane(file))


class _Lane:
    """The events of one profile."""

    def __init__(self, file: IO[bytes]) -> None:
        self.file = file
        self._open: list[tuple[int, int]] = []  # ends and names; the innermost is last
        self._last_ns = 0
        self._before = "\n"

    def add(self, start_ns: int, end_ns: int, name: int) -> None:
        """A slice that begins after those before, and lies in those that are open then."""
        self._close(start_ns)
        self._put("O", name, start_ns)
        self._open.append((end_ns, name))

    def end(self) -> None:
        """Closes what is open, and the profile."""
        self._close(None)
        self.file.write(f'\n], "endValue": {self._last_ns}}}'.encode())

    def _close(self, until_ns: int | None) -> None:
        while self._open and (until_ns is None or self._open[-1][0] <= until_ns):
            end_ns, name = self._open.pop()
            self._put("C", name, end_ns)

    def _put(self, kind: str, name: int, at_ns: int) -> None:
        line = f'{self._before}{{"type":"{kind}","frame":{name},"at":{at_ns}}}'
        self.file.write(line.encode())
        self._before = ",\n"
        self._last_ns = at_ns


EXPORTER = _Speedscope()
