"""A run that was cut short says so first, with reason and time, and holds what it says."""

from __future__ import annotations

import contextlib
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.process.traced_python import TracedPython

from rlscope.opening import load
from rlscope.report import catalogue, contents
from rlscope.report.renderers import html
from rlscope.report.renderers import json as json_renderer
from rlscope.report.renderers.terminal import render_summary

pytestmark = pytest.mark.usefixtures("without_waits")

# Records until recording stops, then lives on for a moment.
_UNTIL_CUT = """
import sys, time
import rlscope as rls
from rlscope import _runtime
print("ready", flush=True)
while _runtime.is_recording():
    for _ in range(1000):
        with rls.operation("x"):
            pass
time.sleep(0.1)
sys.stdin.read()
print("done")
"""
_REMOVED = "the files of the trace were removed"
# Records until rlscope drains the rings by a thread in the process itself, and after that.
_UNTIL_HELPED = """
import os
import rlscope as rls
print("ready", flush=True)
total = 0
while len(os.listdir("/proc/self/task")) == 1:
    for _ in range(1000):
        with rls.operation("x"):
            pass
    total += 1000
for _ in range(100_000):
    with rls.operation("x"):
        pass
print(total + 100_000, flush=True)
"""
_PIPES = {
    "stdin": subprocess.PIPE,
    "stdout": subprocess.PIPE,
    "stderr": subprocess.PIPE,
    "text": True,
}


def run(
    traced: TracedPython, directory: str, program: str, *options: str, **how: Any
) -> subprocess.CompletedProcess[str]:
    """A run with its report, whose program must end well."""
    command = [traced.prof, *options, "-o", directory, traced.python, "-c", program]
    result = subprocess.run(
        command, input="", capture_output=True, text=True, check=False, timeout=120, **how
    )
    assert (result.returncode, result.stdout) == (0, "ready\ndone\n"), result
    return result


def said(result: subprocess.CompletedProcess[str]) -> list[str]:
    return [
        line.removeprefix("rls-prof: ")
        for line in result.stderr.splitlines()
        if line.startswith("rls-prof: ")
    ]


def lost_until_cut(held: contents.Contents) -> str:
    """What rls-prof says of losses: a busy machine may fill a ring before the disk is full."""
    assert held.lost.keys() <= {"ring_full"}
    return f"lost: ring_full {held.lost['ring_full']:,}" if held.lost else "none lost"


def check_says_first(directory: str, reason: str, *, end_known: bool = True) -> None:
    """The headline, wherever it stands, and what it is taken from."""
    with load(directory) as trace:
        ((run_ns, cut_ns),) = trace.sql("SELECT start_ns, cut_ns FROM run")
        ((kind, count, left_ns, detail),) = trace.sql(
            "SELECT kind, count, duration_ns, detail FROM loss WHERE kind = 'cut'"
        )
        assert (kind, count, detail) == ("cut", 1, reason)
        assert cut_ns > run_ns
        assert (left_ns is not None and left_ns >= 100_000_000) == end_known
        went_on = " The program went on for " if end_known else ""
        first = f"Recording was cut short .* after the start: {re.escape(reason)}\\.{went_on}"
        summary = " ".join(render_summary(trace, width=100).split())
        assert re.match(f"! {first}", summary), summary
        header = html.render(trace).partition("<header>")[2].partition("<h1>")[0]
        named = r'\s*(<p class="(about|run)">[^<]*</p>\s*)*'
        assert re.match(rf'{named}<p class="detail warning">{first}', header), header[:300]
        headline = json.loads(json_renderer.render(trace))["headline"]
        assert re.match(first, headline["cut"])
    (listed,) = catalogue.read(directory)
    # A full disk may have no room for tables.
    assert listed.state == "cut" and listed.note in ("", catalogue.NO_TABLES)


def test_a_disk_that_is_nearly_full(traced: TracedPython, directory: str) -> None:
    environ = {**os.environ, "RLSCOPE_MIN_FREE": "999999999999999999"}
    lines = said(run(traced, directory, _UNTIL_CUT, env=environ))
    reason = "the disk of the trace is nearly full (RLSCOPE_MIN_FREE sets the limit)"
    first, second = (line for line in lines if "ecording" in line or "trace /" in line)
    assert first.startswith(f"Recording was cut short before the start: {reason}. The program went")
    assert second == f"trace {directory}: no events up to then, none lost"
    with load(directory) as trace:
        assert list(trace.sql("SELECT sum(duration_ns) FROM breakdown")) == [(None,)]


def test_a_file_of_the_largest_size(traced: TracedPython, directory: str) -> None:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))

    lines = said(run(traced, directory, _UNTIL_CUT, "--no-report", preexec_fn=limit))
    reason = "a trace file reached its size limit (ulimit -f)"
    assert re.fullmatch(
        rf"Recording was cut short .* after the start: {re.escape(reason)}\. The program went on "
        r"for .* not in the trace\.",
        lines[0],
    )
    held = contents.read(directory)
    # Nor is the frame damaged of which only the beginning fitted.
    expected = f"trace {directory}: {held.events:,} events up to then, {lost_until_cut(held)}, "
    assert lines[1].startswith(expected)
    check_says_first(directory, reason)


def test_a_trace_of_the_largest_size(traced: TracedPython, directory: str) -> None:
    lines = said(run(traced, directory, _UNTIL_CUT, "--max-size", "2M", "--no-report"))
    reason = "the trace reached its size limit (--max-size)"
    assert any(line.startswith("Recording was cut short") and reason in line for line in lines)
    assert sum(file.stat().st_size for file in Path(directory).glob("trace/*")) <= 2 << 20
    check_says_first(directory, reason)


def test_a_full_disk(traced: TracedPython, tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(disk)]
    if subprocess.run(mount, capture_output=True).returncode != 0:
        pytest.skip("this user may not mount a tmpfs")
    try:
        environ = {**os.environ, "RLSCOPE_MIN_FREE": "0"}
        lines = said(run(traced, str(disk / "run"), _UNTIL_CUT, "--no-report", env=environ))
        reason = "the disk of the trace is full"
        held = contents.read(str(disk / "run"))
        assert any(f" events up to then, {lost_until_cut(held)}, " in line for line in lines), lines
        check_says_first(str(disk / "run"), reason)
    finally:
        subprocess.run(["umount", "-l", disk], check=True)


def test_quiet_says_that_a_run_was_cut(traced: TracedPython, directory: str) -> None:
    environ = {**os.environ, "RLSCOPE_MIN_FREE": "999999999999999999"}
    result = run(traced, directory, _UNTIL_CUT, "--quiet", "--no-report", env=environ)
    assert "Recording was cut short" in result.stderr


def test_what_the_program_drained_itself_is_in_the_closing_line(
    traced: TracedPython, directory: str
) -> None:
    """rls-prof is stopped, so the rings fill until a thread in the program takes them over."""
    command = traced.command("-o", directory, traced.python, "-c", _UNTIL_HELPED)
    with subprocess.Popen(command, **_PIPES) as prof:
        assert prof.stdout is not None and prof.stderr is not None
        assert prof.stdout.readline() == "ready\n"
        prof.send_signal(signal.SIGSTOP)
        total = int(prof.stdout.readline())
        prof.send_signal(signal.SIGCONT)
        _, stderr = prof.communicate(timeout=60)
    held = contents.read(directory)
    lost = held.lost.get("ring_full", 0)
    text = f"lost: ring_full {lost:,}" if lost else "none lost"
    assert f"rls-prof: trace {directory}: {held.events:,} events, {text}, " in stderr
    assert abs(2 * (total - held.events) - lost) <= 2
    # The price is of all events, and of the thread in the program too.
    (price,) = (line for line in stderr.splitlines() if "recording took" in line)
    assert f": {held.events:,} operations of " in price
    assert " threads of rlscope inside it " in price


@pytest.fixture
def recording(traced: TracedPython, directory: str) -> Iterator[subprocess.Popen[str]]:
    """rls-prof with its report; its program records until recording stops."""
    command = [traced.prof, "-o", directory, traced.python, "-c", _UNTIL_CUT]
    with subprocess.Popen(command, **_PIPES) as prof:
        assert prof.stdout is not None
        assert prof.stdout.readline() == "ready\n"
        while not any(file.stat().st_size > 4096 for file in Path(directory).glob("trace/*")):
            time.sleep(0.01)  # until records were drained
        yield prof


def remove(directory: str) -> None:
    """Remove a directory in which a process may make a file meanwhile."""
    while os.path.exists(directory):
        with contextlib.suppress(OSError):
            shutil.rmtree(directory)


@pytest.mark.parametrize("again", [False, True])
def test_a_directory_that_was_removed(
    recording: subprocess.Popen[str], directory: str, again: bool
) -> None:
    remove(directory)
    if again:
        os.mkdir(directory)
    assert recording.stderr is not None
    assert recording.stderr.readline() == (
        f"rls-prof: recording was cut short: {_REMOVED}; the program goes on\n"
    )
    stdout, stderr = recording.communicate("", timeout=60)
    assert (recording.returncode, stdout) == (0, "done\n")
    assert re.fullmatch(
        rf"rls-prof: the trace directory was removed, about \S+ m?s after the start: {directory}\n"
        r"rls-prof: the trace lost [\d,]+ events .*\n",
        stderr,
    )
    # The new directory is another program's.
    assert os.listdir(directory) == [] if again else not os.path.exists(directory)


def test_an_interpreter_of_a_removed_directory_is_not_said_to_lack_rlscope(
    traced: TracedPython, directory: str
) -> None:
    """It could not announce itself."""
    program = f"sleep 1; rm -rf {directory}; exec {traced.python} -c 'import time; time.sleep(3)'"
    result = traced.run("-o", directory, "sh", "-c", program)
    assert "the trace directory was removed" in result.stderr
    assert "has no Python layer" not in result.stderr


def test_a_directory_that_was_renamed(
    recording: subprocess.Popen[str], directory: str, tmp_path: Path
) -> None:
    moved = tmp_path / "moved"
    os.rename(directory, moved)
    (log,) = (moved / "trace").glob("*.rls")
    enough = log.stat().st_size + 4000  # more than a chunk without events has
    deadline = time.monotonic() + 60
    while log.stat().st_size < enough and time.monotonic() < deadline:
        time.sleep(0.01)
    assert log.stat().st_size >= enough
    os.unlink(log)  # ends the recording
    _, stderr = recording.communicate("", timeout=60)
    lines = stderr.splitlines()
    # What was in the file is missing; what was in the rings is not. A line before these says that
    # the program goes on, unless it has ended by then.
    (trace,) = (
        at for at, line in enumerate(lines) if line.startswith(f"rls-prof: trace {moved}: ")
    )
    lost = lines[trace - 1]
    assert re.fullmatch(r"rls-prof: the trace lost [\d,]+ events .*", lost)
    assert lines[-1] == f"rls-prof: report file://{moved}/report.html"
    check_says_first(str(moved), _REMOVED, end_known=False)  # the program found no log to say


def test_a_profile_whose_directory_was_removed_says_so(
    traced: TracedPython, directory: str
) -> None:
    program = f"""
import shutil
import rlscope as rls
with rls.profile({directory!r}):
    with rls.operation("x"):
        shutil.rmtree({directory!r})
"""
    result = subprocess.run([traced.python, "-c", program], capture_output=True, text=True)
    assert (result.returncode, result.stderr) == (
        0,
        f"rlscope: the trace directory was removed or renamed during the run: {directory}\n",
    )
