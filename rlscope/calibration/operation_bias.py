"""How far the corrected time of each operation is off, from one run of `rlscope validate`.

    trace ------ breakdown of the iterations of recorded blocks --+
                                                                  +--> time of an entry, in pairs
    stopwatch -- operations of timed blocks, less its own cost ---+

The two blocks of a pair are of one round. What is compared is the time of one entry: an operation
that is not in every iteration is in one block more often than in the other. The control compares
entries of timed blocks with those of the next timed block.
"""

from __future__ import annotations

import statistics
import sys
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from rlscope.costs import inflation
from rlscope.costs.inflation import Added
from rlscope.opening import load
from rlscope.rundir.stopwatch_file import RecordedBlock, TimedBlock

_LAST = (sys.maxsize, 0)  # behind all iterations that end at one time
LEAST_SHARE = 0.001
"""Of the time of the loop: an operation with less is left out."""

NO_OPERATIONS = (
    "the program annotates none, and automatic ones have no stopwatch: "
    "where they begin and end is known only later"
)
NOT_FOLLOWED = "the stopwatch does not follow operations in asyncio tasks"

_ITERATIONS = """
SELECT os_pid, process_id, iteration, iteration.start_ns + duration_ns AS end_ns
FROM iteration JOIN process USING (process_id) WHERE complete
"""
_TIMES = """
SELECT process_id, iteration, operation, CAST(SUM(duration_ns) AS BIGINT) AS ns
FROM iteration_breakdown WHERE source = 'explicit' AND iteration IS NOT NULL
GROUP BY ALL
"""
_ENTRIES = """
SELECT process_id, iteration, path AS operation, COUNT(*) AS entries
FROM operation_instance JOIN operation USING (operation_id)
WHERE source = 'explicit' GROUP BY ALL
"""
# Of one entry.
_REMOVED = """
WITH _own AS (
  SELECT process_id FROM process WHERE os_pid IN ({})
), _entered AS (
  SELECT path AS operation, COUNT(*) AS entries
  FROM operation_instance JOIN operation USING (operation_id) JOIN _own USING (process_id)
  WHERE source = 'explicit' GROUP BY ALL
)
SELECT operation, SUM(duration_ns - corrected_ns) / ANY_VALUE(entries) AS mean,
  SUM(duration_ns - corrected_high_ns) / ANY_VALUE(entries) AS low,
  SUM(duration_ns - corrected_low_ns) / ANY_VALUE(entries) AS high
FROM breakdown JOIN _own USING (process_id) JOIN _entered USING (operation)
WHERE source = 'explicit' GROUP BY ALL
"""


@dataclass
class Spent:
    """In one operation."""

    ns: float = 0.0
    entries: int = 0

    @property
    def of_entry(self) -> float:
        """Nanoseconds."""
        return self.ns / self.entries


Block = dict[str, Spent]
"""By path of the operation."""
Blocks = dict[tuple[int, int], Block]
"""By process and round."""


@dataclass(frozen=True)
class OperationBias:
    """One operation in one run. All numbers are shares of its time without recording."""

    added: float
    removed: float
    removed_low: float
    removed_high: float
    control: float | None
    """What it takes more than itself, both times without recording: 0 but for chance. None: there
    are too few blocks."""


@dataclass(frozen=True)
class OperationsOfRun:
    """All operations of one run."""

    biases: dict[str, OperationBias] = field(default_factory=dict)
    """By path, the longest first."""
    left_out: frozenset[str] = frozenset()
    """Too short, in too few blocks, or on another thread than the loop's."""
    absent: str | None = None
    """Why there are none."""


def compare(
    directory: str, timed: list[TimedBlock], recorded: list[RecordedBlock]
) -> OperationsOfRun:
    """What the blocks of a run say, with its trace."""
    if timed and all(block.times is None for block in timed):
        return OperationsOfRun(absent=NOT_FOLLOWED)
    without = _by_stopwatch(timed)
    if not any(without.values()):
        return OperationsOfRun(absent=NO_OPERATIONS)
    processes = {block.process for block in timed}
    with load(directory) as trace:
        with_records = _by_trace(trace, recorded)
        removed = _removed(trace, processes)
    biases, left_out = {}, set(_of_other_threads(timed))
    for path in _longest_first(without):
        added = None if path in left_out else _added(path, with_records, without)
        short = _share(path, timed, without) < LEAST_SHARE
        if added is None or short or path not in removed:
            left_out.add(path)
            continue
        mean, low, high = (each / added.base_ns for each in removed[path])
        control = _control(path, without)
        biases[path] = OperationBias(added.share.mean, mean, low, high, control)
    return OperationsOfRun(biases, frozenset(left_out))


# ---- without recording -----------------------------------------------------------------------


def _by_stopwatch(timed: list[TimedBlock]) -> Blocks:
    """Without what the stopwatch costs."""
    if not timed:
        return {}
    half_ns = statistics.median(block.half_ns for block in timed)
    blocks: Blocks = {}
    for block in timed:
        spent = blocks.setdefault((block.process, block.round), {})
        for each in block.times or ():
            if each.of_loop:
                spent[each.path] = Spent(each.ns - half_ns * each.halves, each.entries)
    return blocks


def _control(path: str, blocks: Blocks) -> float | None:
    """None: fewer pairs than say anything."""
    with_path = [
        (process, block[path].of_entry)
        for (process, _), block in blocks.items()
        if path in block and block[path].entries
    ]
    neighbours = zip(with_path[::2], with_path[1::2], strict=False)
    pairs = [(ns, other) for (of, ns), (of_other, other) in neighbours if of == of_other]
    found = inflation.compared(pairs)
    return found.share.mean if found is not None and found.base_ns > 0 else None


def _of_other_threads(timed: list[TimedBlock]) -> Iterator[str]:
    """The trace's process view has them only while the loop's thread is in no operation."""
    for block in timed:
        yield from (each.path for each in block.times or () if not each.of_loop)


def _longest_first(blocks: Blocks) -> list[str]:
    whole: dict[str, float] = defaultdict(float)
    for block in blocks.values():
        for path, spent in block.items():
            whole[path] += spent.ns
    return sorted(whole, key=lambda path: -whole[path])


def _share(path: str, timed: list[TimedBlock], blocks: Blocks) -> float:
    wall_ns = sum(block.wall_ns for block in timed)
    return sum(block[path].ns for block in blocks.values() if path in block) / max(1, wall_ns)


# ---- with records ----------------------------------------------------------------------------


def _by_trace(trace: Any, recorded: list[RecordedBlock]) -> Blocks:
    """A block whose iterations are not all in the trace is none."""
    ended: dict[int, list[tuple[int, tuple[int, int]]]] = defaultdict(list)
    for row in trace.sql(_ITERATIONS).to_dicts():
        ended[row["os_pid"]].append((row["end_ns"], (row["process_id"], row["iteration"])))
    for each in ended.values():
        each.sort()
    iterations = _by_iteration(trace)
    blocks: Blocks = {}
    for block in recorded:
        of_process = ended[block.process]
        first = bisect_right(of_process, (block.start_ns, _LAST))
        behind = bisect_right(of_process, (block.end_ns, _LAST))
        inside = [key for _, key in of_process[first:behind]]
        if len(inside) == block.iterations:
            blocks[block.process, block.round] = _sum(iterations[key] for key in inside)
    return blocks


def _by_iteration(trace: Any) -> dict[tuple[int, int], Block]:
    found: dict[tuple[int, int], Block] = defaultdict(lambda: defaultdict(Spent))
    for row in trace.sql(_TIMES).to_dicts():
        found[row["process_id"], row["iteration"]][row["operation"]].ns = row["ns"]
    for row in trace.sql(_ENTRIES).to_dicts():
        if row["iteration"] is not None:
            key = row["process_id"], row["iteration"]
            found[key][row["operation"]].entries = row["entries"]
    return found


def _sum(iterations: Iterable[Block]) -> Block:
    whole: Block = defaultdict(Spent)
    for iteration in iterations:
        for path, spent in iteration.items():
            whole[path].ns += spent.ns
            whole[path].entries += spent.entries
    return whole


def _removed(trace: Any, processes: Collection[int]) -> dict[str, tuple[float, float, float]]:
    """What the correction takes out of an entry: mean, low, high."""
    numbers = ", ".join(map(str, sorted(processes)))
    return {
        row["operation"]: (row["mean"], row["low"], row["high"])
        for row in trace.sql(_REMOVED.format(numbers)).to_dicts()
        if row["mean"] is not None
    }


# ---- both ------------------------------------------------------------------------------------


def _added(path: str, with_records: Blocks, without: Blocks) -> Added | None:
    """None: fewer pairs than say anything, or no time without recording."""
    pairs = []
    for key, block in without.items():
        on, off = with_records.get(key, {}).get(path), block.get(path)
        if on is not None and off is not None and on.entries and off.entries:
            pairs.append((on.of_entry, off.of_entry))
    added = inflation.compared(pairs)
    return added if added is not None and added.base_ns > 0 else None
