"""What the program or another one does to a run's files, and rls-prof under rls-prof."""

from __future__ import annotations

import re
import signal
import subprocess
from pathlib import Path

import pytest
from support.process.traced_python import TracedPython

from rlscope import _trace
from rlscope.opening import load
from rlscope.report import contents, headline

pytestmark = pytest.mark.usefixtures("clean_environment")

# Records, waits until some was drained if it should be, and records again, which is not. Cuts its
# own files short, maybe records.
_VANDAL = """
import glob, os, sys, time
import rlscope as rls
files, drained, more = sys.argv[1], sys.argv[2] == "drained", sys.argv[3] == "more"
directory = os.environ["RLSCOPE_DIR"]

def record():
    for _ in range(4000 if drained else 1000):
        with rls.operation("x"):
            pass

record()
while drained and sum(map(os.path.getsize, glob.glob(f"{directory}/trace/*"))) < 8000:
    time.sleep(0.01)
if drained:
    record()
print(len(glob.glob(f"{directory}/rings/*.ring")), flush=True)
for file in glob.glob(f"{directory}/rings/{files}"):
    os.truncate(file, 0)
if more:
    record()
os.kill(os.getpid(), 9)  # its exit would touch what is gone
"""


def vandalise(
    traced: TracedPython, directory: str, files: str, drained: str, more: str
) -> subprocess.CompletedProcess[str]:
    return traced.run("-o", directory, traced.python, "-c", _VANDAL, files, drained, more)


@pytest.mark.parametrize("drained", ["drained", ""])
@pytest.mark.parametrize("files", ["*.ring", "*.process", "control", "*"])
def test_rls_prof_outlives_rings_that_are_cut_short(
    traced: TracedPython, directory: str, files: str, drained: str
) -> None:
    result = vandalise(traced, directory, files, drained, "")
    assert result.returncode == -signal.SIGKILL
    assert "rls-prof: the program was killed by SIGKILL\n" in result.stderr
    held = contents.read(directory)
    shown = f"{held.events:,}" if held.events else "no"
    assert f"rls-prof: trace {directory}: {shown} events, " in result.stderr
    if files in ("*.ring", "*"):
        assert held.events < (8000 if drained else 1000)
        # A ring that was cut short before the drainer saw it cannot be opened: the second one of a
        # thread that records much, or the only one. Nor can a page.
        assert held.lost.keys() <= {"damaged_ring", "unreadable_file"}, held
        rings = int(result.stdout)
        if files == "*.ring":
            assert sum(held.lost.values()) == rings, held
        assert all(f"rls-prof: {kind}: files of " in result.stderr for kind in held.lost)
        assert held.lost
        assert "annotate the program" not in result.stderr


def test_a_program_that_records_into_rings_that_it_cut_short_is_told_why_it_died(
    traced: TracedPython, directory: str
) -> None:
    result = vandalise(traced, directory, "*.ring", "drained", "more")
    assert result.returncode == -signal.SIGBUS
    first, second = result.stderr.splitlines()[:2]
    assert first == "rls-prof: the program was killed by SIGBUS"
    assert "SIGBUS" in second and "DIR/rings" in second


# Before the program has any files, and not before all threads of rls-prof have stopped.
_STOP_RLS_PROF = """
kill -STOP $PPID
while grep -h State: /proc/$PPID/task/*/status | grep -qv stopped; do :; done
exec "$@"
"""


@pytest.mark.parametrize(
    ("files", "losses"),
    [
        ("*.ring", {"unreadable_file": 1}),
        ("*.process", {"missing_trace": 1, "unreadable_file": 1}),  # its ring cannot be read
    ],
    ids=["ring", "page"],
)
def test_files_that_were_removed_before_rls_prof_saw_them_are_a_loss(
    traced: TracedPython, directory: str, files: str, losses: dict[str, int]
) -> None:
    program = f"""
import glob, os, signal
import rlscope as rls
with rls.operation("x"):
    for file in glob.glob(os.environ["RLSCOPE_DIR"] + "/rings/{files}"):
        os.unlink(file)
os.kill(os.getppid(), signal.SIGCONT)
"""
    command = ("sh", "-c", _STOP_RLS_PROF, "sh", traced.python, "-c", program)
    result = traced.run("-o", directory, *command)
    assert result.returncode == 0
    held = contents.read(directory)
    assert (held.events, held.lost) == (0, losses)
    (line,) = (each for each in result.stderr.splitlines() if f"trace {directory}: " in each)
    assert line.startswith(f"rls-prof: trace {directory}: no events, lost: ")
    assert all(f"{kind} {count}" in line for kind, count in losses.items())


def test_a_process_that_cannot_make_its_files_is_a_loss(
    traced: TracedPython, directory: str
) -> None:
    program = """
import os, shutil
import rlscope as rls
shutil.rmtree(os.environ["RLSCOPE_DIR"] + "/rings")
with rls.operation("x"):
    pass
"""
    result = traced.run("-o", directory, traced.python, "-c", program)
    assert result.returncode == 0
    assert contents.read(directory).lost == {"no_files": 1}
    assert "rls-prof: no_files: processes that recorded nothing because " in result.stderr


def test_rls_prof_under_rls_prof(traced: TracedPython, tmp_path: Path) -> None:
    outer, inner = str(tmp_path / "outer"), str(tmp_path / "inner")
    program = "import rlscope as rls\nwith rls.operation('x'): pass"
    result = traced.run("-o", outer, *traced.command("-o", inner, traced.python, "-c", program))
    assert f"rls-prof: trace {inner}: 1 events, none lost, " in result.stderr
    ran = f"The program ran another rls-prof, and its trace is in {inner}."
    assert f"rls-prof: trace {outer}: no events, none lost\nrls-prof: {ran}\n" in result.stderr
    with load(outer) as trace:
        assert headline.read(trace).sentence == f"Nothing was recorded here. {ran}"
        assert list(trace.sql("SELECT nested FROM run")) == [(inner,)]
    with load(inner) as trace:
        assert "x takes" in headline.read(trace).sentence
        assert list(trace.sql("SELECT nested FROM run")) == [(None,)]


@pytest.mark.usefixtures("without_waits")
def test_rls_prof_under_a_program_that_records_too(traced: TracedPython, tmp_path: Path) -> None:
    outer = str(tmp_path / "outer")
    inner = [str(tmp_path / f"inner{number}") for number in range(2)]
    program = f"""
import subprocess, sys
import rlscope as rls
with rls.operation("x"):
    for directory in {inner!r}:
        subprocess.run([{traced.prof!r}, "--no-report", "-o", directory, "true"], check=True)
"""
    result = traced.run("-o", outer, traced.python, "-c", program)
    ran = f"The program ran another rls-prof, and its trace is in {', '.join(inner)}."
    assert re.search(rf"trace {outer}: 1 events, .*\nrls-prof: {re.escape(ran)}\n", result.stderr)
    assert _trace.Directory(outer).nested == inner
    with load(outer) as trace:
        summary = headline.read(trace)
        assert "x takes" in summary.sentence
        assert ran in [each.text for each in summary.details]
