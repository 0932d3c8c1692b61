"""Which process a trace directory belongs to, whatever was left there, whatever comes at once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rlscope.errors import DirectoryInUse
from rlscope.rundir import claim
from rlscope.rundir.process_identity import this_process

GONE = 4_194_304  # a pid that no kernel gives


def leave_claim(directory: Path, number: int, seconds_ago: float = 0.0, **changes: Any) -> None:
    """A claim of another process."""
    facts = json.loads(this_process().write())
    path = directory / f"claim.{number}"
    path.write_text(json.dumps({**facts, "pid": GONE, **changes}))
    then = path.stat().st_mtime - seconds_ago
    os.utime(path, (then, then))


def at_once(number: int, work: Callable[[], object]) -> list[object]:
    """What `work` returned or raised in so many threads that begin together."""
    barrier = threading.Barrier(number)
    results: list[object] = []

    def run() -> None:
        barrier.wait()
        try:
            results.append(work())
        except Exception as error:
            results.append(error)

    threads = [threading.Thread(target=run) for _ in range(number)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def refuse_links(monkeypatch: pytest.MonkeyPatch) -> None:
    def link(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", link)


@pytest.mark.parametrize("links", [True, False])
@pytest.mark.parametrize("before", [0, 3])
def test_of_processes_that_claim_at_once_one_gets_the_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, links: bool, before: int
) -> None:
    if not links:
        refuse_links(monkeypatch)
    for attempt in range(20):
        directory = tmp_path / str(attempt)
        directory.mkdir()
        if before:
            leave_claim(directory, before)
        results = at_once(6, lambda where=str(directory): claim.take(where))
        winners = [result for result in results if isinstance(result, claim.Claim)]
        assert len(winners) == 1, results
        refused = [str(result) for result in results if result not in winners]
        assert all("still going" in text or "is claimed" in text for text in refused), refused
        winners[0].settle()
        assert os.listdir(directory) == [f"claim.{before + 1}"]


def test_the_living_holder_is_named(tmp_path: Path) -> None:
    program = f"from rlscope.rundir import claim; claim.take({str(tmp_path)!r}); print(); input()"
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        with pytest.raises(DirectoryInUse, match=rf"still going \(pid {holder.pid}\), choose ano"):
            claim.take(str(tmp_path))
        assert os.listdir(tmp_path) == ["claim.1"]
        holder.communicate("\n")
    claim.take(str(tmp_path)).settle()
    assert os.listdir(tmp_path) == ["claim.2"]


def test_a_recycled_pid_is_not_the_holder(tmp_path: Path) -> None:
    leave_claim(tmp_path, 1, pid=os.getpid(), start_time=1)
    claim.take(str(tmp_path))


def test_a_process_holds_what_it_has_claimed_against_itself(tmp_path: Path) -> None:
    held = claim.take(str(tmp_path))
    with pytest.raises(DirectoryInUse, match=rf"\(pid {os.getpid()}\)"):
        claim.take(str(tmp_path))
    held.withdraw()
    assert os.listdir(tmp_path) == []
    claim.take(str(tmp_path))


@pytest.mark.parametrize(
    ("where", "text"),
    [
        ({"host": "node3", "boot_id": "another"}, rf"\(pid {GONE} on node3\)"),
        ({"pid_namespace": 5}, rf"\(pid {GONE} in another container of this machine\)"),
    ],
)
def test_a_holder_that_cannot_be_looked_up_lives_as_long_as_its_run_gives_signs(
    tmp_path: Path, where: dict[str, Any], text: str
) -> None:
    leave_claim(tmp_path, 1, seconds_ago=30, **where)
    with pytest.raises(DirectoryInUse, match=text):
        claim.take(str(tmp_path))
    leave_claim(tmp_path, 1, seconds_ago=3600, **where)
    control = tmp_path / "rings" / "control"
    control.parent.mkdir()
    control.write_bytes(b"")  # what a drainer touches
    with pytest.raises(DirectoryInUse, match=text):
        claim.take(str(tmp_path))
    os.utime(control, (1, 1))
    claim.take(str(tmp_path))


def test_a_holder_elsewhere_that_said_goodbye_is_gone(tmp_path: Path) -> None:
    leave_claim(tmp_path, 1, host="node3", boot_id="another", released=True)
    claim.take(str(tmp_path))


def test_a_released_claim_stays_and_is_followed(tmp_path: Path) -> None:
    claim.take(str(tmp_path)).release()
    assert os.listdir(tmp_path) == ["claim.1"]
    second = claim.take(str(tmp_path))
    assert sorted(os.listdir(tmp_path)) == ["claim.1", "claim.2"]
    second.withdraw()
    assert os.listdir(tmp_path) == ["claim.1"]


@pytest.mark.parametrize("text", ["", "{", "[]", '{"pid": 5}'])
def test_a_claim_that_was_not_finished_is_awaited_and_then_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    monkeypatch.setattr(claim, "_EMPTY_SECONDS", 0.05)
    path = tmp_path / "claim.1"
    path.write_text(text)
    with pytest.raises(DirectoryInUse, match="directory is claimed by another process"):
        claim.take(str(tmp_path))
    os.utime(path, (1, 1))
    claim.take(str(tmp_path))


def test_an_older_number_of_a_living_process_is_not_overlooked(tmp_path: Path) -> None:
    """A process listed claim.3, slept until the run and its directory were gone, then made
    claim.4 beside claim.1 of a new run."""
    leave_claim(tmp_path, 1, pid=os.getppid(), start_time=start_time(os.getppid()))
    leave_claim(tmp_path, 3)
    with pytest.raises(DirectoryInUse, match=rf"\(pid {os.getppid()}\)"):
        claim.take(str(tmp_path))
    assert sorted(os.listdir(tmp_path)) == ["claim.1", "claim.3"]


def test_a_fork_child_gives_nothing_up(tmp_path: Path) -> None:
    held = claim.take(str(tmp_path))
    before = (tmp_path / "claim.1").read_text()
    child = os.fork()
    if child == 0:
        held.release()
        held.withdraw()
        os._exit(0)
    os.waitpid(child, 0)
    assert (tmp_path / "claim.1").read_text() == before


def test_nothing_is_changed_where_the_directory_is_another_one_by_now(tmp_path: Path) -> None:
    directory = tmp_path / "run"
    directory.mkdir()
    held = claim.take(str(directory))
    directory.rename(tmp_path / "moved")
    directory.mkdir()
    (directory / "claim.1").write_text("not ours")
    held.release()
    held.withdraw()
    assert (directory / "claim.1").read_text() == "not ours"


def start_time(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19])
