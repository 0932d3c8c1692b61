"""What the stopwatch says, as it is written and read."""

from __future__ import annotations

from pathlib import Path

from rlscope.rundir import stopwatch_file
from rlscope.rundir.stopwatch_file import OperationTime, RecordedBlock, TimedBlock


def test_blocks_come_back_from_their_file(tmp_path: Path) -> None:
    path = stopwatch_file.beside(str(tmp_path / "turns"))
    assert stopwatch_file.read(path) == ([], [])
    times = (
        OperationTime(True, ("a",), 1.5, 2, 4),
        OperationTime(False, ("a", "b c\n"), 2.0**40, 1, 2),
    )
    timed = [
        TimedBlock(7, 1, 10**12, 2.5, times),
        TimedBlock(7, 2, 1, -0.5, None),
        TimedBlock(7, 3, 1, 0.0, ()),
    ]
    recorded = RecordedBlock(7, 1, 20, 5, 10**15)
    for each in timed:
        stopwatch_file.append_timed(path, each)
    stopwatch_file.append_recorded(path, recorded)
    with open(path, "a") as file:
        file.write('{"timed": [7, 4')  # being written
    assert stopwatch_file.read(path) == (timed, [recorded])


def test_a_path_is_written_as_in_a_trace() -> None:
    names = ("a/b", "c\\d", "e")
    assert OperationTime(True, names, 0, 0, 0).path == r"a\/b/c\\d/e"
