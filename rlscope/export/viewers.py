"""What the formats of viewers share: a file, the timeline that goes into it, and the counts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from rlscope.export.exporter import Exported, Tell
from rlscope.export.output import new_file
from rlscope.export.timeline import LAUNCH, Counter, Slices, Timeline, open_timeline
from rlscope.export.window import Window
from rlscope.relations.trace import Trace


@dataclass
class ViewerFile:
    """Opened by `viewer_file`."""

    file: IO[bytes]
    timeline: Timeline
    exported: Exported
    _tell: Tell

    def slices(self, *, arrows: bool = True) -> Iterator[Slices]:
        """Those of the timeline. Each portion is counted, and told, when it is written: when the
        next one is asked for.

        Args:
            arrows: whether the format has them, so that they are counted, too.
        """
        counts = self.exported.counts
        for slices in self.timeline.slices():
            yield slices
            is_cut = (slices["start_ns"] != slices["whole_start_ns"]) | (
                slices["end_ns"] != slices["whole_end_ns"]
            )
            counts["slices"] += len(is_cut)
            counts["slices cut at the window's edges"] += int(is_cut.sum())
            if arrows:  # at their ends
                ends = (slices["flow"] != 0) & (slices["category"] != LAUNCH)
                counts["arrows"] += int(ends.sum())
            self._tell(counts["slices"] / self.timeline.intervals)

    def counters(self) -> Iterator[Counter]:
        """Those of the timeline, whose readings are counted."""
        for counter in self.timeline.counters():
            yield counter
            self.exported.counts["readings"] += len(counter.values)


@contextmanager
def viewer_file(
    trace: Trace, window: Window, path: Path, *, force: bool, tell: Tell
) -> Iterator[ViewerFile]:
    """A new file for the timeline of a window. Raises RlscopeError, TraceError, QueryError."""
    with new_file(path, force=force) as file, open_timeline(trace, window) as timeline:
        yield ViewerFile(file, timeline, Exported(left_out=timeline.left_out()), tell)
