"""Several starts into one directory: one records, the others say which process holds it."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support.process.recorded_child import environment
from support.process.traced_python import TracedPython

from rlscope import _trace

pytestmark = pytest.mark.usefixtures("clean_environment")

_PIPES = {
    "stdin": subprocess.PIPE,
    "stdout": subprocess.PIPE,
    "stderr": subprocess.PIPE,
    "text": True,
}
_SECONDS = 120.0


class Starters:
    """So many rls-prof that start at once; the program of each waits for the end of its stdin."""

    def __init__(self, traced: TracedPython, directory: str, number: int, *options: str) -> None:
        command = traced.command(*options, "-o", directory, "cat")
        self._running = [subprocess.Popen(command, **_PIPES) for _ in range(number)]

    def race(self) -> tuple[str, list[str]]:
        """What the one that records prints, and each of the others, which end before it does."""
        refused = []
        deadline = time.monotonic() + _SECONDS
        while len(self._running) > 1:
            assert time.monotonic() < deadline, "several record into one directory"
            ended = [each for each in self._running if each.poll() is not None]
            for each in ended:
                self._running.remove(each)
                _, said = each.communicate()
                assert each.returncode == 1, said
                refused.append(said)
            time.sleep(0.01)
        (winner,) = self._running
        _, said = winner.communicate("", timeout=_SECONDS)
        assert winner.returncode == 0, said
        self._winner = winner.pid
        return said, refused

    def check(self, directory: str) -> None:
        """Runs the race and looks at what it left."""
        said, refused = self.race()
        assert f"rls-prof: trace {directory}: no events, none lost" in said
        held = f"rls-prof: directory holds a run that is still going (pid {self._winner}), "
        assert set(refused) <= {f"{held}choose another: {directory}\n"}
        (process,) = _trace.Directory(directory).processes
        assert (process["comm"], process["ended"]) == ("cat", "exit")


def races(traced: TracedPython, folder: Path, number: int) -> None:
    for attempt in range(number):
        directory = str(folder / str(attempt))
        Starters(traced, directory, 2 + attempt % 7).check(directory)
        shutil.rmtree(directory)


def test_of_several_starters_one_records_and_the_others_name_it(
    traced: TracedPython, tmp_path: Path
) -> None:
    races(traced, tmp_path, 3)


@pytest.mark.slow
def test_of_several_starters_one_records_200_times(traced: TracedPython, tmp_path: Path) -> None:
    races(traced, tmp_path, 200)


def test_of_several_starters_with_force_one_replaces_the_run(
    traced: TracedPython, directory: str
) -> None:
    traced.run("-o", directory, "true")
    for _ in range(3):
        Starters(traced, directory, 4, "--force").check(directory)


def test_a_directory_whose_rls_prof_was_killed_can_be_replaced(
    traced: TracedPython, directory: str
) -> None:
    command = traced.command("-o", directory, "sh", "-c", "echo $$; exec sleep 1000")
    with subprocess.Popen(command, **_PIPES) as killed:
        assert killed.stdout is not None
        program = int(killed.stdout.readline())
        killed.kill()
    refused = traced.run("-o", directory, "--force", "true")
    assert refused.stderr == (
        f"rls-prof: directory holds a run that is still going (pid {program}), "
        f"choose another: {directory}\n"
    )
    os.kill(program, signal.SIGKILL)
    while os.path.exists(f"/proc/{program}/maps") and Path(f"/proc/{program}/maps").read_text():
        time.sleep(0.01)
    kept = traced.run("-o", directory, "true")
    assert "directory holds a run, will not overwrite without --force" in kept.stderr
    assert traced.run("-o", directory, "--force", "true").returncode == 0


def test_a_profile_holds_its_directory_against_rls_prof(
    traced: TracedPython, directory: str
) -> None:
    program = f"""
import rlscope as rls
with rls.profile({directory!r}):
    print(flush=True)
    input()
"""
    with subprocess.Popen([sys.executable, "-c", program], env=environment(), **_PIPES) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        refused = traced.run("-o", directory, "--force", "true")
        assert refused.returncode == 1
        assert f"still going (pid {holder.pid}), choose another: {directory}" in refused.stderr
        holder.communicate("\n")
    assert traced.run("-o", directory, "--force", "true").returncode == 0


def test_rls_prof_holds_its_directory_against_a_profile(
    traced: TracedPython, directory: str
) -> None:
    program = f"""
import rlscope as rls
try:
    with rls.profile({directory!r}, force=True):
        print("recorded")
except rls.errors.DirectoryInUse as error:
    print(error)
"""
    with subprocess.Popen(traced.command("-o", directory, "cat"), **_PIPES) as holder:
        assert holder.stdin is not None
        while not Path(directory, "rings", "control").exists():
            time.sleep(0.01)
        refused = subprocess.run(
            [sys.executable, "-c", program], env=environment(), capture_output=True, text=True
        )
        assert re.fullmatch(
            rf"directory holds a run that is still going \(pid {holder.pid}\).*\n", refused.stdout
        ), refused
        holder.communicate("")
    assert holder.returncode == 0


def test_a_profile_can_replace_its_own_run(directory: str) -> None:
    program = f"""
import rlscope as rls
for _ in range(2):
    with rls.profile({directory!r}, force=True):
        with rls.operation("x"):
            pass
"""
    subprocess.run([sys.executable, "-c", program], env=environment(), check=True)
    (process,) = _trace.Directory(directory).processes
    assert process["events"] == 1


def test_a_start_that_fails_leaves_no_claim(traced: TracedPython, tmp_path: Path) -> None:
    """Only the kernel sees that the program's dynamic loader is not there."""
    (tmp_path / "there").mkdir()
    loader = re.compile(rb"/lib[^\0]*/ld-linux[^\0]*")
    program = loader.sub(lambda found: b"/" * len(found[0]), Path("/bin/true").read_bytes())
    (tmp_path / "program").write_bytes(program)
    (tmp_path / "program").chmod(0o755)
    for name, left in [("new", False), ("there", True)]:
        result = traced.run("-o", str(tmp_path / name), str(tmp_path / "program"))
        assert result.returncode in (126, 127), result
        assert (tmp_path / name).exists() == left
    assert os.listdir(tmp_path / "there") == []
    assert traced.run(str(tmp_path / "program"), cwd=tmp_path).returncode in (126, 127)
    assert os.listdir(tmp_path / "rlscope_out") == []


@pytest.mark.slow
@pytest.mark.parametrize("drainer", ["rls-prof", "the process itself"])
def test_a_run_gives_other_machines_a_sign_of_life(
    traced: TracedPython, directory: str, drainer: str
) -> None:
    program = """
import sys
import rlscope as rls
if sys.argv[1:]:
    rls.profile(sys.argv[1]).__enter__()
with rls.operation("x"):
    print(flush=True)
    input()
"""
    if drainer == "rls-prof":
        command = traced.command("-o", directory, traced.python, "-c", program)
    else:
        command = [sys.executable, "-c", program, directory]
    with subprocess.Popen(command, env=environment(), **_PIPES) as running:
        assert running.stdout is not None
        running.stdout.readline()
        control = Path(directory, "rings", "control")
        os.utime(control, (1, 1))
        deadline = time.monotonic() + _SECONDS
        while control.stat().st_mtime == 1 and time.monotonic() < deadline:
            time.sleep(0.1)
        assert control.stat().st_mtime > 1
        running.communicate("\n")
