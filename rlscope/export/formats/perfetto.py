"""Perfetto's protobuf trace, for ui.perfetto.dev and trace_processor."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rlscope import _trace
from rlscope.export.exporter import Exported, Tell
from rlscope.export.timeline import CATEGORIES, Process, Timeline
from rlscope.export.viewers import ViewerFile, viewer_file
from rlscope.export.window import Window
from rlscope.relations.trace import Trace

_OF_NOBODY = 0


class _Perfetto:
    ending = ".pftrace"

    def write(
        self, trace: Trace, window: Window, path: Path, *, force: bool, tell: Tell
    ) -> Exported:
        with viewer_file(trace, window, path, force=force, tell=tell) as opened:
            timeline = opened.timeline
            encoder = _trace.PerfettoEncoder(
                window.from_ns,
                categories=CATEGORIES,
                names=timeline.names,
                operations=timeline.operations,
            )
            processes = {process: _describe(encoder, process) for process in timeline.processes}
            tracks = _describe_tracks(encoder, timeline, processes)
            for slices in opened.slices():
                encoder.slices(
                    tracks[slices["track"]],
                    starts_ns=slices["start_ns"],
                    ends_ns=slices["end_ns"],
                    categories=slices["category"],
                    names=slices["name"],
                    flows=slices["flow"],
                    operations=slices["operation"],
                    correlations=slices["correlation"],
                    bytes=slices["bytes"],
                    graphs=slices["graph"],
                    whole_starts_ns=slices["whole_start_ns"],
                    whole_ends_ns=slices["whole_end_ns"],
                )
                opened.file.write(encoder.take())
            encoder.finish()
            _encode_counters(encoder, opened, processes)
            opened.file.write(encoder.take())
        return opened.exported


def _describe(encoder: _trace.PerfettoEncoder, process: Process) -> int:
    return encoder.process(process.pid, process.name, process.role, process.start_ns)


def _describe_tracks(
    encoder: _trace.PerfettoEncoder, timeline: Timeline, processes: dict[Process, int]
) -> NDArray[np.int64]:
    """The uuid of each track."""
    return np.array(
        [
            encoder.thread(track.process.pid, track.tid, track.name)
            if track.kind == "thread"
            else encoder.track(processes[track.process], track.name, track.track)
            for track in timeline.tracks
        ],
        dtype=np.int64,
    )


def _encode_counters(
    encoder: _trace.PerfettoEncoder, opened: ViewerFile, processes: dict[Process, int]
) -> None:
    for counter in opened.counters():
        parent = _OF_NOBODY if counter.process is None else processes[counter.process]
        uuid = encoder.counter(parent, counter.name, counter.unit)
        encoder.readings(uuid, counter.times_ns, counter.values)


EXPORTER = _Perfetto()
