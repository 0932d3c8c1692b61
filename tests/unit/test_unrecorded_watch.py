"""When the watch for processes without a recorder lists all processes of the machine."""

import os
from pathlib import Path

import pytest

from rlscope.record import missing_programs, unrecorded
from rlscope.record.missing_programs import AbsenceWatch
from rlscope.record.processes import Image, ProcessLog
from rlscope.record.unrecorded import UnrecordedWatch
from rlscope.rundir.proc import last_pid, process_start_time


def root() -> Image:
    start = process_start_time(os.getpid())
    assert start is not None
    return Image(os.getpid(), os.getppid(), start, 0, "test", forked=False)


def test_processes_are_listed_where_one_has_begun(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed: list[bytes | None] = []
    last: list[bytes | None] = [b"7"]

    def running() -> list[int]:
        listed.append(last[0])
        return [1, os.getpid()]

    monkeypatch.setattr(unrecorded, "last_pid", lambda: last[0])
    monkeypatch.setattr(unrecorded, "_running_pids", running)
    monkeypatch.setattr(unrecorded, "_PATIENCE", 0)
    place = str(tmp_path)
    watch = UnrecordedWatch(place, place, ProcessLog(place), root(), lambda line: None)
    for number in (b"7", b"7", b"8", b"8", None, None):
        last[0] = number
        watch.look()
    assert listed == [b"7", b"8", None, None]
    last[0] = b"9"
    for _ in range(unrecorded._FORGET_LOOKS + 1):
        watch.look()
    assert listed[4:] == [b"9", b"9"], "once because it is new, once to forget"


def test_the_last_pid_changes_with_each_new_process() -> None:
    before = last_pid()
    if before is None:
        pytest.skip("the kernel does not say")
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    assert last_pid() != before


def test_processes_older_than_the_program_are_asked_once_in_so_many_looks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    older: list[set[int]] = []

    def inheritors(*arguments: object) -> list[Image]:
        found = arguments[3]
        assert isinstance(found, set)
        older.append(set(found))
        found.add(1)
        return []

    monkeypatch.setattr(missing_programs, "inheritors", inheritors)
    place = str(tmp_path)
    watch = AbsenceWatch(ProcessLog(place), place, ["test"], root(), lambda line: None)
    for _ in range(missing_programs._FORGET_LOOKS + 1):
        watch.look()
    empty = [place for place, each in enumerate(older) if not each]
    assert empty == [0, missing_programs._FORGET_LOOKS - 1]
