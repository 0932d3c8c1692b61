"""Rings outside of the trace directory, as on a network file system: nothing of them gets lost."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from support.process.recorder_programs import compile_program, count_enters, traced_environment

from rlscope import _trace
from rlscope.errors import DirectoryInUse
from rlscope.relations.files.fingerprint import fingerprint
from rlscope.rundir.new_run import prepare_directory

ROOT = Path(__file__).resolve().parent.parent.parent

# The name is one that rls-prof gives; the path is longer than one record of the log holds.
ELSEWHERE = f"{'elsewhere ' * 8}/rlscope-{os.getuid()}-4711-99"
# What rls-prof does, in a process that can be killed.
WRAPPER = """
import signal, sys
from rlscope import _runtime
drainer = _runtime.Drainer(sys.argv[1], sys.argv[2])
drainer.start(min_free_bytes=0)
print("drains", flush=True)
signal.pause()
"""
# Announces what it recorded and stays; a byte on its input makes it go on and end.
PROGRAM = """
#include <stdio.h>
#include <unistd.h>
int main(void) {
  record(1000);
  printf("recorded\\n");
  fflush(stdout);
  char byte;
  if (read(0, &byte, 1) == 1) record(1000);
  return 0;
}
"""


@contextmanager
def wrapper(directory: Path, rings: Path) -> Iterator["subprocess.Popen[bytes]"]:
    """A process that drains; killed at the end if not before."""
    with subprocess.Popen(
        [sys.executable, "-c", WRAPPER, str(directory), str(rings)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"drains\n"
        try:
            yield process
        finally:
            process.kill()


@contextmanager
def killed_wrapper(folder: Path) -> Iterator["subprocess.Popen[bytes]"]:
    """A program that recorded 1,000 operations and goes on, its wrapper gone; killed at the end.

    The run is in folder/run, its rings in folder/elsewhere.../rings.
    """
    directory, rings = folder / "run", folder / ELSEWHERE
    directory.mkdir()
    rings.parent.mkdir()
    with wrapper(directory, rings) as drainer:
        program = subprocess.Popen(
            [compile_program(folder, PROGRAM)],
            env=traced_environment(directory),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert program.stdout is not None
        assert program.stdout.readline() == b"recorded\n"
        drainer.send_signal(signal.SIGKILL)
        drainer.wait()
    try:
        yield program
    finally:
        program.kill()
        program.communicate()


@pytest.mark.parametrize("ending", ["killed", "ends"])
@pytest.mark.parametrize("missing", ["control", "rings"])
def test_all_is_found_without_the_control_page(tmp_path: Path, ending: str, missing: str) -> None:
    directory = tmp_path / "run"
    with killed_wrapper(tmp_path) as program:
        if ending == "ends":
            program.communicate(b"x")
    if missing == "control":
        (directory / "rings" / "control").unlink()
    else:
        shutil.rmtree(directory / "rings")
    trace = _trace.Directory(str(directory))
    assert [process["os_pid"] for process in trace.processes] == [program.pid]
    assert count_enters(trace, 0) == (1000 if ending == "killed" else 2000)
    assert trace.losses(0) == []


def test_force_removes_them_once_their_process_is_gone(tmp_path: Path) -> None:
    directory, rings = tmp_path / "run", tmp_path / ELSEWHERE
    with killed_wrapper(tmp_path):
        (rings / "1.2.3.process").write_text("of another run")
        with pytest.raises(DirectoryInUse, match="still going"):
            prepare_directory(directory, force=True)
        assert len(list(rings.iterdir())) > 2
    prepare_directory(directory, force=True)
    assert [path.name for path in rings.iterdir()] == ["1.2.3.process"]


def test_tables_made_before_they_changed_are_out_of_date(tmp_path: Path) -> None:
    with killed_wrapper(tmp_path):
        pass
    made_from = fingerprint(tmp_path / "run", None)
    (ring,) = (tmp_path / ELSEWHERE).glob("*.ring")
    os.utime(ring)
    assert fingerprint(tmp_path / "run", None) != made_from
