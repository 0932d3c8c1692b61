"""The directory of a run and the environment of its processes."""

from __future__ import annotations

import json
import os
import re
import stat
import struct
import tempfile
from pathlib import Path

import pytest
from support.process.process_records import make_record, rings_records

from rlscope.errors import DirectoryInUse, RecordingError
from rlscope.record import profile
from rlscope.recorder import LIBRARY
from rlscope.rundir import process_log
from rlscope.rundir.new_run import prepare_directory
from rlscope.rundir.old_run import living_processes, remove_run
from rlscope.rundir.process_log import Event
from rlscope.rundir.run_json import mask_secrets, write_run_json


def start_time(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19])


def log_process(directory: Path, pid: int, began: int) -> None:
    with open(directory / "processes.log", "ab") as log:
        log.write(make_record(Event.BEGAN, pid, began))


def prepared(path: Path, *, force: bool = False) -> Path:
    """A directory that was made ready by a process that records no more."""
    directory = prepare_directory(path, force=force)
    directory.release()
    return Path(directory)


def test_a_new_directory_is_made_with_private_rings(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path)
    directory = prepared(tmp_path / "link" / "runs" / "ppo")
    assert directory == tmp_path.resolve() / "runs" / "ppo"
    assert stat.S_IMODE((directory / "rings").stat().st_mode) == 0o700
    assert (directory / "trace").is_dir()


def test_other_peoples_files_do_not_matter(tmp_path: Path) -> None:
    (tmp_path / "model.pt").write_text("x")
    prepared(tmp_path)
    prepared(tmp_path)  # nothing was recorded: not a run yet
    assert (tmp_path / "model.pt").read_text() == "x"


def test_a_run_is_refused_and_force_removes_just_the_run(tmp_path: Path) -> None:
    prepared(tmp_path)
    write_run_json(str(tmp_path), command=["train.py"])
    (tmp_path / "tables" / "event").mkdir(parents=True)
    (tmp_path / "tables" / "event" / "part.parquet").write_text("x")
    (tmp_path / "trace" / "host.1.2.3.rls").write_text("x")
    (tmp_path / "model.pt").write_text("x")
    with pytest.raises(DirectoryInUse, match="will not overwrite without force"):
        prepare_directory(tmp_path)
    prepared(tmp_path, force=True)
    assert sorted(os.listdir(tmp_path)) == ["claim.2", "model.pt", "rings", "trace"]


def test_force_never_removes_a_foreign_run_json(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text('{"id": 5}')
    with pytest.raises(DirectoryInUse, match=r"did not write run\.json"):
        prepare_directory(tmp_path, force=True)
    assert (tmp_path / "run.json").read_text() == '{"id": 5}'


def test_force_follows_no_symbolic_link(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "precious.rls").write_text("x")
    run = tmp_path / "run"
    run.mkdir()
    (run / "trace").symlink_to(elsewhere)
    remove_run(str(run))
    assert (elsewhere / "precious.rls").exists()


# No process has it: the kernel's largest number is smaller.
DEAD = 1 << 22 | 77


def write_killed_run(directory: Path, rings: Path) -> None:
    """A run of a process that is gone, whose rings lie elsewhere."""
    prepared(directory)
    write_run_json(str(directory), command=["train.py"])
    log = make_record(Event.BEGAN, DEAD) + rings_records(rings)
    (directory / "processes.log").write_bytes(log)


def ring_folder(folder: Path, user: int | None = None) -> Path:
    return folder / f"rlscope-{os.getuid() if user is None else user}-{DEAD}-99"


def test_force_removes_the_rings_that_lie_elsewhere(tmp_path: Path) -> None:
    rings = ring_folder(tmp_path)
    make_files(rings, f"{DEAD}.77.5.process", f"{DEAD}.77.5.1.ring", f"{DEAD}.77.5.1.names")
    write_killed_run(tmp_path / "run", rings)
    prepared(tmp_path / "run", force=True)
    assert not rings.exists()


@pytest.mark.parametrize("form", ["another name", "a link", "another user", "ours"])
def test_force_leaves_what_a_log_names_that_holds_no_rings_of_ours(
    tmp_path: Path, form: str
) -> None:
    mine = tmp_path / "mine"
    (mine / "empty" / "emptier").mkdir(parents=True)
    rings = {
        "another name": mine,
        "a link": ring_folder(tmp_path),
        "another user": ring_folder(tmp_path, os.getuid() + 1),
        "ours": ring_folder(tmp_path),
    }[form]
    if form == "a link":
        rings.symlink_to(mine)
    elif form != "another name":
        (rings / "empty").mkdir(parents=True)
    if form != "ours":
        make_files(rings, f"{DEAD}.77.5.process")
    write_killed_run(tmp_path / "run", rings)
    before = sorted(tmp_path.rglob("*"))
    prepared(tmp_path / "run", force=True)
    gone = {path.relative_to(tmp_path).parts[0] for path in set(before) - set(tmp_path.rglob("*"))}
    assert gone == {"run"}


def test_a_log_is_believed_where_its_checksums_hold(tmp_path: Path) -> None:
    note = rings_records(ring_folder(tmp_path / ("long " * 20)))
    assert len(note) > 2 * 128
    for at in range(0, len(note), 8):
        damaged = bytearray(note)
        damaged[at] ^= 1
        records, taken = process_log.parse(bytes(damaged))
        assert len(records) == len(note) // 128 - 1
        assert process_log.ring_folder(records) is None
        assert taken <= len(note)
    # A full disk cut the first record short: what follows lies elsewhere than in steps of 128.
    torn = make_record(Event.BEGAN, 9)[:50] + make_record(Event.BEGAN, 10)
    assert [record.pid for record in process_log.parse(torn)[0]] == [10]


def test_a_log_is_followed_over_damage(tmp_path: Path) -> None:
    log = tmp_path / "processes.log"
    pieces = [make_record(Event.BEGAN, pid) for pid in range(1, 5)]
    pieces[1] = pieces[1][:100]  # torn
    data = b"".join(pieces)
    seen, done = [], 0
    for end in range(0, len(data) + 1, 10):
        log.write_bytes(data[:end])
        records, done = process_log.read_on(tmp_path, done)
        seen += [record.pid for record in records]
    log.write_bytes(data)
    seen += [record.pid for record in process_log.read_on(tmp_path, done)[0]]
    assert seen == [1, 3, 4]


@pytest.mark.parametrize("name", ["trace", "rings"])
def test_nothing_is_recorded_through_a_symbolic_link(tmp_path: Path, name: str) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / name).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(RecordingError, match="Not a directory"):
        prepare_directory(tmp_path / "run")


OURS = (
    "trace/a.host.12.345.6.rls",
    "rings/control",
    "rings/12.345.6789.process",
    "rings/12.345.6789.1.ring",
    "rings/12.345.6789.2.names",
    "tables/lock",
    "tables/manifest.json",
    "tables/event.json.77.tmp",
    "tables/run/part.parquet",
    "tables/breakdown/process_id=0/part.parquet",
    "tables/breakdown/process_id=1/part.77.tmp",
    "processes.log",
    "sources.jsonl",
    "run.json.77.tmp",
    ".report.html.77.tmp",
    "claim.0123456789abcdef.tmp",
)
FOREIGN = (
    "report.txt",
    "trace/notes.txt",
    "trace/mine.rls",
    "trace/mine/a.host.12.345.6.rls",
    "rings/mine.ring",
    "tables/notes.json",
    "tables/mine.csv",
    "tables/mine/data.parquet",
    "tables/breakdown/process_id=0/mine.parquet",
    "tables/part.parquet",
    "run.json.tmp",
)


def make_files(directory: Path, *names: str) -> None:
    for name in names:
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        (directory / name).write_text("")


def files_of(directory: Path) -> list[str]:
    """Files except the claims."""
    paths = (path.relative_to(directory) for path in directory.rglob("*") if path.is_file())
    return sorted(str(path) for path in paths if not re.fullmatch(r"claim\.\d+", str(path)))


def test_force_leaves_foreign_files_in_folders_of_ours(tmp_path: Path) -> None:
    prepared(tmp_path)
    write_run_json(str(tmp_path), command=["train.py"])
    make_files(tmp_path, *OURS, *FOREIGN)
    prepared(tmp_path, force=True)
    assert files_of(tmp_path) == sorted(FOREIGN)
    assert not (tmp_path / "tables" / "run").exists()


@pytest.mark.parametrize(
    "name",
    ["report.html", "report.json", "machine.jsonl", "sources.jsonl", "rlscope_calibration.json"],
)
def test_force_never_removes_a_foreign_result(tmp_path: Path, name: str) -> None:
    prepared(tmp_path)
    write_run_json(str(tmp_path), command=["train.py"])
    (tmp_path / name).write_text("mine")
    with pytest.raises(DirectoryInUse, match=f"did not write {name}"):
        prepare_directory(tmp_path, force=True)
    assert files_of(tmp_path) == sorted([name, "run.json"])


@pytest.mark.parametrize("name", ["report.html", "processes.log", "tables"])
def test_what_force_cannot_remove_is_found_before_anything_is_removed(
    tmp_path: Path, name: str
) -> None:
    prepared(tmp_path)
    write_run_json(str(tmp_path), command=["train.py"])
    kept = [file for file in OURS if not file.startswith(name)]
    make_files(tmp_path, *kept)
    (tmp_path / name).touch() if name == "tables" else (tmp_path / name).mkdir()
    before = files_of(tmp_path)
    with pytest.raises(DirectoryInUse, match=f"did not write {name}"):
        prepare_directory(tmp_path, force=True)
    assert files_of(tmp_path) == before
    (tmp_path / name).unlink() if name == "tables" else (tmp_path / name).rmdir()
    prepared(tmp_path, force=True)
    assert files_of(tmp_path) == []


def test_a_removal_that_is_cut_short_can_be_repeated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepared(tmp_path)
    write_run_json(str(tmp_path), command=["train.py"])
    make_files(tmp_path, *OURS)
    left = iter(range(5))  # files that can be removed
    unlink = os.unlink

    def fail_later(path: str, *, dir_fd: int | None = None) -> None:
        if "claim." not in path and next(left, None) is None:
            raise PermissionError(1, "Operation not permitted")
        unlink(path, dir_fd=dir_fd)

    with monkeypatch.context() as patch:
        patch.setattr(os, "unlink", fail_later)
        with pytest.raises(RecordingError, match="Operation not permitted"):
            prepare_directory(tmp_path, force=True)
    assert (tmp_path / "run.json").exists()
    prepared(tmp_path, force=True)
    assert files_of(tmp_path) == []


@pytest.mark.parametrize("name", ["report.html", "machine.jsonl", "tables"])
def test_results_without_a_run_are_somebody_elses(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()
    with pytest.raises(DirectoryInUse, match=f"did not write {name}"):
        prepare_directory(tmp_path, force=True)


def test_a_process_lives_if_pid_and_start_time_agree(tmp_path: Path) -> None:
    own = os.getpid()
    log_process(tmp_path, own, start_time(own) + 1)  # a recycled pid
    assert living_processes(str(tmp_path)) == []
    log_process(tmp_path, own, start_time(own))
    (tmp_path / "processes.log").open("ab").write(b"half a record")
    assert living_processes(str(tmp_path)) == [own]
    with pytest.raises(DirectoryInUse, match=rf"still going \(pid {own}\)"):
        prepare_directory(tmp_path, force=True)


def test_a_drainer_is_a_process_of_its_run(tmp_path: Path) -> None:
    own = os.getpid()
    (tmp_path / "rings").mkdir()
    page = struct.pack("<QIIQ", 0x314C544E43534C52, 1, own, start_time(own))
    (tmp_path / "rings" / "control").write_bytes(page.ljust(4096, b"\0"))
    assert living_processes(str(tmp_path)) == [own]


def test_files_of_a_run_without_its_logs_are_a_run(tmp_path: Path) -> None:
    prepared(tmp_path)
    make_files(tmp_path, "trace/host.12.345.6.rls")
    with pytest.raises(DirectoryInUse, match="will not overwrite without force"):
        prepare_directory(tmp_path)
    assert files_of(tmp_path) == ["trace/host.12.345.6.rls"]


def test_a_run_that_cannot_begin_removes_what_it_made_and_no_more(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    for name, left in [("new", False), ("there", True)]:
        directory = prepare_directory(tmp_path / name)
        write_run_json(directory.path, command=["train.py"])
        directory.abandon()
        assert (tmp_path / name).exists() == left
    assert os.listdir(tmp_path / "there") == []


def test_a_run_that_another_process_holds_by_now_is_not_removed(tmp_path: Path) -> None:
    directory = prepare_directory(tmp_path)
    write_run_json(directory.path, command=["train.py"])
    (tmp_path / "claim.2").write_text("{}")
    directory.abandon()
    assert files_of(tmp_path) == ["run.json"]


def test_what_cannot_be_made_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RecordingError, match=r"^cannot record into .*/file/run: Not a directory$"):
        prepare_directory(tmp_path / "file" / "run")


def test_run_json_says_what_ran_without_secrets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    monkeypatch.setenv("WANDB_API_KEY", "hush")
    command = ["train.py", "--seed", "1", "--api-key", "hush", "--token=hush"]
    write_run_json(str(tmp_path), command=command, start_ns=5, options={"iterations": 3})
    text = (tmp_path / "run.json").read_text()
    assert "hush" not in text
    run = json.loads(text)
    assert run["command"] == ["train.py", "--seed", "1", "--api-key", "***", "--token=***"]
    assert (run["start_ns"], run["name"]) == (5, tmp_path.name)
    assert run["environment"] == {"OMP_NUM_THREADS": "3"} | {
        name: value for name, value in run["environment"].items() if name != "OMP_NUM_THREADS"
    }
    assert run["options"] == {"iterations": 3}
    assert run["host"]["cores"] >= 1
    assert os.listdir(tmp_path) == ["run.json"]


@pytest.mark.parametrize(
    ("command", "masked"),
    [
        (["--password", "--weird"], ["--password", "***"]),
        (["--key", "--token", "x"], ["--key", "--token", "***"]),
        (["--Client-SECRET=x", "y"], ["--Client-SECRET=***", "y"]),
        (["monkey", "-key", "x"], ["monkey", "-key", "x"]),
        (["--key"], ["--key"]),
    ],
)
def test_secrets_are_masked(command: list[str], masked: list[str]) -> None:
    assert mask_secrets(command) == masked


def test_the_environment_of_a_child_appends_and_respects_what_is_there() -> None:
    assert profile.traced_environment("/runs/x", {}) == {
        "RLSCOPE_DIR": "/runs/x",
        "LD_PRELOAD": LIBRARY,
        "CUDA_INJECTION64_PATH": LIBRARY,
    }
    there = {"LD_PRELOAD": "/lib/other.so", "CUDA_INJECTION64_PATH": "/lib/nsys.so"}
    assert profile.traced_environment("/runs/x", there) == {
        "RLSCOPE_DIR": "/runs/x",
        "LD_PRELOAD": f"/lib/other.so:{LIBRARY}",
    }
    ours = {"LD_PRELOAD": LIBRARY, "CUDA_INJECTION64_PATH": LIBRARY}
    assert profile.traced_environment("/runs/y", ours) == {"RLSCOPE_DIR": "/runs/y"}
    both = profile.traced_environment("/runs/z", ours, interpose=True)["LD_PRELOAD"]
    assert both == f"{LIBRARY}:{LIBRARY.removesuffix('.so')}_cudart.so"


def test_an_injection_library_of_another_tool_is_named() -> None:
    assert profile.foreign_injection({}) == ""
    assert profile.foreign_injection({"CUDA_INJECTION64_PATH": LIBRARY}) == ""
    assert "/lib/nsys.so" in profile.foreign_injection({"CUDA_INJECTION64_PATH": "/lib/nsys.so"})


def test_a_path_that_ld_preload_cannot_hold_gets_a_private_link(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    library = str(tmp_path / "with blank" / "librlscope.so")
    link = profile.preload_path(library)
    assert " " not in link
    assert os.readlink(link) == library
    assert profile.preload_path(library) == link
    assert stat.S_IMODE(os.lstat(os.path.dirname(link)).st_mode) == 0o700


def test_a_link_folder_that_others_can_write_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    folder = tmp_path / f"rlscope-{os.getuid()}"
    folder.mkdir()
    folder.chmod(0o777)
    link = profile.preload_path(str(tmp_path / "with blank" / "librlscope.so"))
    assert not link.startswith(str(tmp_path))
    os.unlink(link)
