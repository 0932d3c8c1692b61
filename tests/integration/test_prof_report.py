"""What rls-prof prints and makes at the end of a run, and how it fails there."""

import contextlib
import errno
import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest
from support.files.facts import assert_says
from support.process.traced_python import TracedPython

from rlscope import registry
from rlscope.analysis.coverage import coverage
from rlscope.opening import load
from rlscope.record.child import Ending
from rlscope.record.program import Outcome
from rlscope.report import bookkeeping, closing, sentences
from rlscope.report.contents import Contents
from rlscope.report.report_file import link
from rlscope.terminal import status_line

pytestmark = pytest.mark.usefixtures("without_waits")

_PROGRAM = """
import rlscope as rls
for _ in range(3):
    rls.iteration()
    with rls.operation("inference"):
        sum(range(100_000))
    with rls.operation("simulation"):
        pass
print("done")
raise SystemExit(3)
"""


def _run(
    traced: TracedPython, *arguments: str, prof: list[str] | None = None
) -> "subprocess.CompletedProcess[str]":
    command = [*(prof or [traced.prof]), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)


def test_breakdown_and_report(traced: TracedPython, directory: str) -> None:
    result = _run(traced, "-o", directory, traced.python, "-c", _PROGRAM)
    assert (result.returncode, result.stdout) == (3, "done\n")
    lines = result.stderr.splitlines()
    assert lines[0] == "rls-prof: the program exited with code 3"
    assert lines[1].startswith(f"rls-prof: trace {directory}: 6 events, none lost, ")
    assert lines[-1] == f"rls-prof: report file://{directory}/report.html"
    breakdown = "\n".join(lines[2:-1])
    assert "inference" in breakdown and "simulation" in breakdown
    assert Path(directory, "report.html").stat().st_size > 100_000


def _on_terminal(command: list[str], **environ: str) -> str:
    """What the command writes to its stderr, a terminal of 100 columns."""
    screen, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("4H", 30, 100, 0, 0))
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=terminal, env={**os.environ, **environ}
    ) as process:
        os.close(terminal)
        shown = b""
        with contextlib.suppress(OSError):  # EIO: no writer is left
            while part := os.read(screen, 65536):
                shown += part
        process.communicate(timeout=120)
    os.close(screen)
    return shown.decode()


@pytest.mark.parametrize("variables", [{"TERM": "xterm"}, {"TERM": "xterm", "NO_COLOR": "1"}])
def test_on_a_terminal_steps_overwrite_each_other_without_a_colour(
    traced: TracedPython, directory: str, variables: dict[str, str]
) -> None:
    command = [traced.prof, "-o", directory, traced.python, "-c", _PROGRAM]
    shown = _on_terminal(command, **variables)
    assert "\x1b" not in shown, "neither colours nor any other escape sequence"
    steps = [each.strip() for each in shown.split("\r")]
    assert "analysing 6 events..." in steps
    panels = len(registry.builtin(registry.PANELS))
    assert f"writing the report: Operations (1 of {panels})..." in steps
    assert f"writing the report: Run ({panels} of {panels})..." in steps
    assert max(len(each) for each in steps if each.endswith("...")) <= 100
    # The last step was wiped before the last line.
    assert shown.rpartition("...")[2].replace(" ", "").startswith("\r\rrls-prof:report")


def test_a_dumb_terminal_and_a_log_show_no_steps(traced: TracedPython, directory: str) -> None:
    command = [traced.prof, "-o", directory, traced.python, "-c", _PROGRAM]
    assert "writing the report" not in _on_terminal(command, TERM="dumb")
    assert "writing the report" not in _run(traced, "--force", "-o", directory, "true").stderr


def test_a_log_names_the_work_on_many_events(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not status_line.announces(999_999)
    assert status_line.announces(1_000_000)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    assert not status_line.announces(1_000_000)


def test_a_report_is_a_link_that_a_terminal_opens(tmp_path: Path) -> None:
    assert link(tmp_path / "my run" / "é#1.html") == (f"file://{tmp_path}/my%20run/%C3%A9%231.html")


def test_same_as_a_verb_of_rlscope(traced: TracedPython, directory: str) -> None:
    verb = [traced.python, "-m", "rlscope", "prof"]
    result = _run(traced, "-o", directory, traced.python, "-c", _PROGRAM, prof=verb)
    assert (result.returncode, result.stdout) == (3, "done\n")
    assert f"rls-prof: report file://{directory}/report.html" in result.stderr


def test_price_of_recording_is_measured(traced: TracedPython, directory: str) -> None:
    program = """
import time
import rlscope as rls
while time.process_time() < 0.3:
    with rls.operation("x"):
        pass
"""
    result = _run(traced, "--no-report", "-o", directory, traced.python, "-c", program)
    (line,) = (line for line in result.stderr.splitlines() if "recording took" in line)
    assert " of the program's CPU time: " in line
    assert re.search(r": [\d,]+ operations of [\d.]+ ns, .*in a loop.* in [\d.]+ m?s; ", line)
    assert "the drainer used " in line


def test_native_calls_are_not_priced_as_operations(
    traced: TracedPython, directory: str, library: str
) -> None:
    program = f"""
import sys, time
sys.path.insert(0, {os.path.dirname(library)!r})
import rlscope as rls
rls.layer("simulator", module="sample")
import sample
while time.process_time() < 0.3:
    for _ in range(1000):
        sample.noargs()
with rls.operation("last"):
    pass
"""
    result = _run(traced, "--no-waits", "-o", directory, traced.python, "-c", program)
    assert result.returncode == 0, result.stderr
    with load(directory) as trace:
        (facts,) = coverage(trace).to_dicts()
        samples = trace.sql("SELECT metric, value FROM machine_sample").to_dicts()
        costs = {row["metric"]: row["value"] for row in samples}
    assert facts["operation_events"] == 1
    assert facts["native_events"] >= 1000
    assert facts["automatic_events"] == facts["cuda_events"] == 0
    assert facts["events"] == facts["operation_events"] + facts["native_events"]
    assert bookkeeping.cost_ns({**facts, **costs}) == (
        costs["operation_cost_ns"] + facts["native_events"] * costs["native_cost_ns"]
    )
    assert costs["native_cost_ns"] > 0
    said = " ".join(sentences.bookkeeping(facts))
    assert f"Records: 1 operation, {facts['native_events']:,} native calls. " in said


def test_a_program_too_short_to_tell_the_price_says_so() -> None:
    short, long = (Outcome("", Ending(0, ns)) for ns in (99_000_000, 100_000_000))
    assert closing.measure_price(short, Contents(events=5)) is None
    assert_says(closing.too_short_line(short, Contents(events=5)), "99.0 ms", "too little")
    assert closing.too_short_line(short, Contents()) == ""
    assert closing.too_short_line(long, Contents(events=5)) == ""


def test_events_of_a_removed_file_are_named_though_the_rings_held_more() -> None:
    statistics = {"cut": errno.ENOENT, "cut_ns": 0, "events": 9, "removed": 5}
    outcome = Outcome("run", Ending(0, 0), statistics=statistics)
    lines = list(closing.trace_lines(outcome, Contents(events=100, size=1000)))
    assert_says(lines[1], "lost", "5 events")


def test_quiet_run_still_makes_the_report(traced: TracedPython, directory: str) -> None:
    result = _run(traced, "--quiet", "-o", directory, traced.python, "-c", _PROGRAM)
    assert (result.returncode, result.stdout, result.stderr) == (3, "done\n", "")
    assert Path(directory, "report.html").exists()


def test_failure_of_ours_is_one_line_and_keeps_the_exit_code(
    traced: TracedPython, directory: str
) -> None:
    vandal = f"rm -rf {directory}/*; exit 5"
    result = _run(traced, "-o", directory, "sh", "-c", vandal)
    assert result.returncode == 5
    failures = [line for line in result.stderr.splitlines() if "cannot" in line]
    assert failures == [
        f"rls-prof: cannot read the trace: {directory} is not a trace: it has no processes.log"
    ]
    assert "Traceback" not in result.stderr


def test_directory_that_vanishes_changes_nothing_for_the_program(
    traced: TracedPython, directory: str
) -> None:
    program = f"""
import shutil
import rlscope as rls
shutil.rmtree({directory!r})
for _ in range(100_000):
    with rls.operation("x"):
        pass
print("done")
"""
    result = _run(traced, "-o", directory, traced.python, "-c", program)
    assert (result.returncode, result.stdout) == (0, "done\n")
    assert "Traceback" not in result.stderr


def test_report_of_a_program_without_annotations(traced: TracedPython, directory: str) -> None:
    result = _run(traced, "-o", directory, traced.python, "-c", "print('done')")
    assert (result.returncode, result.stdout) == (0, "done\n")
    assert "no events, none lost; annotate the program" in result.stderr
    assert os.path.exists(f"{directory}/report.html")
