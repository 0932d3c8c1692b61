"""A trace that was rolled up answers as one of which everything was kept, to the nanosecond."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from ground_truth.compare import first_difference
from ground_truth.profiles import PROFILE
from ground_truth.raw import RawProcess
from ground_truth.relations import RELATIONS, Rows
from ground_truth.segments import write_segments
from ground_truth.strategies import processes
from ground_truth.swept import read, sweep
from ground_truth.written import ORIGIN_NS
from rlscope import _trace

_WHOLE = [name for name in RELATIONS if name != "operation_instance"]
_ANY_SIZE = -(1 << 40)


def without_cuda(process: RawProcess) -> RawProcess:
    """Processes with CUDA are kept whole."""
    threads = tuple(replace(thread, cuda_calls=()) for thread in process.threads)
    return replace(process, gpu=(), threads=threads)


def end_is_free(process: RawProcess) -> bool:
    """Nothing is recorded behind the end, or the interpreter's, before these are known."""
    ends = [item.end_ns for thread in process.threads for item in thread.items]
    return process.python_end_ns is None and max(ends, default=0) <= process.end_ns


def roll_up(process: RawProcess, directory: Path, until_ns: int) -> None:
    _trace.roll_up(
        str(directory),
        until_ns + ORIGIN_NS,
        least_saved=_ANY_SIZE,
        buckets=8,
        most_paths=process.most_paths,
    )


def is_rolled_up(directory: Path) -> bool:
    return any(len(path.name.split(".")[3]) > 6 for path in (directory / "trace").iterdir())


def ended_from(rows: Rows, time_ns: int) -> set[tuple[object, ...]]:
    """The instances that ended at this time, or later."""
    return {row for row in rows["operation_instance"] if row.start_ns + row.duration_ns >= time_ns}  # type: ignore[attr-defined]


@PROFILE
@given(
    processes().map(without_cuda),
    st.integers(1, 7),
    st.lists(st.integers(1, 12), max_size=6),
    st.lists(st.integers(-1, 70), min_size=1, max_size=4),
    st.booleans(),
)
def test_what_was_rolled_up_is_in_the_sums(
    process: RawProcess, chunk: int, cuts: list[int], times: list[int], is_running: bool
) -> None:
    whole = sweep(process)
    with tempfile.TemporaryDirectory(prefix="rlscope-") as folder:
        directory = Path(folder) / "trace"
        end = write_segments(process, directory, chunk=chunk, cuts=cuts)
        known_at_once = not (is_running and end_is_free(process))
        if known_at_once:
            end()
        else:
            times = [min(time_ns, process.end_ns) for time_ns in times]
        for time_ns in sorted(times):
            roll_up(process, directory, time_ns)
        if not known_at_once:
            end()
        rows = read(directory, most_paths=process.most_paths)
        rows["loss"] = [row for row in rows["loss"] if row[0] != "rolled_up"]
        until_ns = max(times) if is_rolled_up(directory) else -1
    difference = first_difference(rows, whole, _WHOLE)
    assert difference is None, f"rolled up - / + whole: {difference}"
    kept = set(rows["operation_instance"])
    assert ended_from(whole, until_ns) <= kept <= set(whole["operation_instance"])
