"""speedscope's evented JSON: a profile for each thread, stream and other track.

Times are nanoseconds since the start of the run. There are no arrows, no readings and no
annotations: the format has none.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from rlscope import _trace
from rlscope._version import __version__
from rlscope.export.exporter import Exported, Tell
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
            opened.file.write(_head(name, opened.timeline.names).encode())
            profiles = _Profiles(opened.file, opened.timeline)
            lanes = _trace.Lanes()
            for slices in opened.slices(arrows=False):
                profiles.add(
                    slices, lanes.add(slices["track"], slices["start_ns"], slices["end_ns"])
                )
            profiles.end_track()
            opened.file.write(b"\n]}\n")
        opened.exported.left_out.append("without arrows and readings: the format has none")
        return opened.exported


def _head(name: str, frames: Sequence[str]) -> str:
    facts = {"$schema": _SCHEMA, "name": name, "exporter": f"rlscope@{__version__}"}
    shared = {"frames": [{"name": frame} for frame in frames]}
    return f'{json.dumps(facts)[:-1]},\n"shared": {json.dumps(shared)},\n"profiles": ['


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
