"""Folders of kept iterations: which are ours, and how they come about where links are refused."""

from __future__ import annotations

import argparse
import errno
import json
import os
import time
from pathlib import Path
from unittest import mock

import pytest

from rlscope import cuts
from rlscope.commands.options import values
from rlscope.errors import DirectoryInUse
from rlscope.record import trace_copies
from rlscope.record.iteration_keeper import KeptIterations
from rlscope.record.trace_copies import copy_trace
from rlscope.recorder import runtime
from rlscope.rundir import kept_iterations, source_files
from rlscope.rundir.kept_iterations import IterationRange


def test_ranges_are_sorted_and_counted_once() -> None:
    found = values.iteration_ranges("5000-5002,7,100-110,7-7")
    assert found == (IterationRange(7, 7), IterationRange(100, 110), IterationRange(5000, 5002))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "iterations such as 100-110,5000, got ''"),
        ("100-", "iterations such as 100-110,5000, got '100-'"),
        ("-5", "iterations such as 100-110,5000, got '-5'"),
        ("1,,2", "iterations such as 100-110,5000, got ''"),
        ("1-2-3", "iterations such as 100-110,5000, got '1-2-3'"),
        ("²", "iterations such as 100-110,5000, got '²'"),
        ("110-100", "ends before it begins: '110-100'"),
        ("5000000000", "at most 4294967295 iterations, got '5000000000'"),
    ],
)
def test_what_is_no_range(text: str, message: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError) as raised:
        values.iteration_ranges(text)
    assert str(raised.value).endswith(message)


def make_kept(directory: Path, name: str, wanted: IterationRange) -> None:
    (directory / name).mkdir()
    kept_iterations.describe(str(directory), name, wanted)


def test_only_what_run_json_names_is_ours(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text(json.dumps({"format": "rlscope", "name": "ppo"}))
    make_kept(tmp_path, "iterations-3", IterationRange(3, 3))
    make_kept(tmp_path, "iterations-5-9.tmp", IterationRange(5, 9))
    make_kept(tmp_path, "iterations-5-8", IterationRange(5, 9))  # renamed
    make_kept(tmp_path, "elsewhere", IterationRange(4, 4))
    (tmp_path / "iterations-4").symlink_to("elsewhere")
    (tmp_path / "iterations-6").mkdir()
    (tmp_path / "iterations-7").write_text("a file")
    assert kept_iterations.find(tmp_path) == [IterationRange(3, 3)]
    assert sorted(kept_iterations.folders(tmp_path)) == ["iterations-3", "iterations-5-9.tmp"]
    run = json.loads((tmp_path / "iterations-3" / "run.json").read_text())
    assert run == {"format": "rlscope", "name": "ppo, iteration 3", "kept_iterations": [3, 3]}


def test_what_a_killed_run_left_empty_is_not_in_the_way(tmp_path: Path) -> None:
    (tmp_path / "iterations-3.tmp").mkdir()
    kept_iterations.refuse_foreign(str(tmp_path), [IterationRange(3, 3)])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["iterations-3", "iterations-3.tmp"])
def test_what_is_there_already_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("a file")
    with pytest.raises(DirectoryInUse, match=f"^{name} is there already, choose another: "):
        kept_iterations.refuse_foreign(str(tmp_path), [IterationRange(3, 3)])


def test_what_is_kept_counts_for_the_size(tmp_path: Path) -> None:
    drainer = runtime.Drainer(str(tmp_path))
    drainer.start(max_bytes=8 << 20, min_free_bytes=0)
    try:
        drainer.set_kept_bytes(4 << 20)
        time.sleep(1.5)  # it looks once a second
        assert drainer.stats()["cut"] == 0
        drainer.set_kept_bytes(8 << 20)
        deadline = time.monotonic() + 60
        while not drainer.stats()["cut"] and time.monotonic() < deadline:
            time.sleep(0.02)
        assert drainer.stats()["cut"] == cuts.LARGEST_SIZE
    finally:
        drainer.stop()


def test_all_files_count_that_only_kept_iterations_hold(tmp_path: Path) -> None:
    wanted = IterationRange(3, 3)
    (tmp_path / "trace").mkdir()
    (tmp_path / "trace" / "1.rls").write_bytes(b"1" * 1000)
    kept = tmp_path / wanted.folder
    (kept / "trace").mkdir(parents=True)
    os.link(tmp_path / "trace" / "1.rls", kept / "trace" / "1.rls")  # the run holds it, too
    (kept / "trace" / "2.rls").write_bytes(b"2" * 200)
    (kept / "processes.log").write_bytes(b"3" * 30)
    keeper = KeptIterations(str(tmp_path), [wanted], max_size=0, min_free=0, say=print)
    assert keeper.kept_bytes() == 0
    keeper._kept.append(wanted)
    assert keeper.kept_bytes() == 230


def _refuse(*_: object, **__: object) -> None:
    raise OSError(errno.EPERM, os.strerror(errno.EPERM))


def test_files_are_copied_where_the_disk_has_no_links(tmp_path: Path) -> None:
    (tmp_path / "a.rls").write_bytes(b"records")
    (tmp_path / "copy").mkdir()
    with mock.patch.object(trace_copies.os, "link", _refuse):
        copy_trace([str(tmp_path / "a.rls")], str(tmp_path / "copy"), b"log", 0)
    assert (tmp_path / "copy" / "trace" / "a.rls").read_bytes() == b"records"
    assert (tmp_path / "copy" / "processes.log").read_bytes() == b"log"


def test_copies_leave_the_disk_what_it_must_have(tmp_path: Path) -> None:
    (tmp_path / "a.rls").write_bytes(b"records")
    (tmp_path / "copy").mkdir()
    with mock.patch.object(trace_copies.os, "link", _refuse), pytest.raises(OSError) as raised:
        copy_trace([str(tmp_path / "a.rls")], str(tmp_path / "copy"), b"log", 1 << 62)
    assert raised.value.errno == errno.ENOSPC


def test_links_take_no_room(tmp_path: Path) -> None:
    (tmp_path / "a.rls").write_bytes(b"records")
    (tmp_path / "copy").mkdir()
    copy_trace([str(tmp_path / "a.rls")], str(tmp_path / "copy"), b"", 1 << 62)
    assert (tmp_path / "copy" / "trace" / "a.rls").samefile(tmp_path / "a.rls")


def test_source_text_that_is_kept_later_is_in_the_copy(tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    copy.mkdir()
    trace_copies.share_source_text(str(tmp_path), str(copy), 0)  # none yet
    assert source_files.read(copy) == {}
    source_files.append(str(tmp_path), "/a.py", "a = 1\n")
    trace_copies.share_source_text(str(tmp_path), str(copy), 0)
    source_files.append(str(tmp_path), "/b.py", "b = 2\n")
    assert source_files.read(copy) == {"/a.py": "a = 1\n", "/b.py": "b = 2\n"}


@pytest.mark.parametrize("refusal", [errno.EPERM, errno.EMLINK])
def test_source_text_is_copied_again_where_links_are_refused(tmp_path: Path, refusal: int) -> None:
    copy = tmp_path / "copy"
    copy.mkdir()
    with mock.patch("os.link", side_effect=OSError(refusal, os.strerror(refusal))):
        for name in ("/a.py", "/b.py"):
            source_files.append(str(tmp_path), name, "a = 1\n")
            trace_copies.share_source_text(str(tmp_path), str(copy), 0)
            assert name in source_files.read(copy)
