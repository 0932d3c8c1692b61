"""`rlscope report` as a user runs it: a file, a line that names it, one line when it fails."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.files import example_run
from support.process.command_line import rlscope


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("run") / "ppo"
    example_run.write(directory)
    return directory


def _alone(*arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    """In a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "rlscope", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, **environment},
    )


def test_the_page_lies_in_the_trace(run: Path) -> None:
    done = _alone("report", run)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"{run / 'report.html'}\n"
    assert "Simulation takes" in (run / "report.html").read_text(encoding="utf-8")


def test_the_page_may_lie_elsewhere(run: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    assert rlscope("report", run, "-o", page).returncode == 0
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert list(tmp_path.iterdir()) == [page]


def test_a_pipe_or_a_device_stays_what_it_is(run: Path, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    page = tmp_path / "page.html"
    with page.open("wb") as file, subprocess.Popen(["cat", pipe], stdout=file) as reader:
        done = rlscope("report", run, "-o", pipe)
        if done.returncode:
            reader.kill()
    assert (done.returncode, done.stderr) == (0, "")
    assert page.read_bytes().startswith(b"<!doctype html>")
    assert pipe.is_fifo()


def test_the_tables_come_as_json(run: Path, tmp_path: Path) -> None:
    output = tmp_path / "tables.json"
    assert rlscope("report", run, "--format", "json", "-o", output).returncode == 0
    panels = json.loads(output.read_text(encoding="utf-8"))["panels"]
    tree = panels["operations"]["operation_tree"]
    assert {row["operation"] for row in tree} >= {"rollout", "rollout/simulation", "update/forward"}


def test_the_summary_is_a_screen_of_text(run: Path) -> None:
    done = _alone("summary", run, COLUMNS="90", PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert max(map(len, lines)) <= 90
    assert len(lines) <= 50 + 12  # with CUDA
    assert any(line.startswith("  simulation  ") for line in lines)


def test_what_is_no_trace_is_one_line(tmp_path: Path) -> None:
    done = rlscope("report", tmp_path)
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "report.html").exists()


@pytest.mark.parametrize("names", [["gone"], ["gone", "lost"]], ids=len)
def test_a_page_that_cannot_be_written_is_one_line_before_a_run_is_read(
    tmp_path: Path, names: list[str]
) -> None:
    runs = [tmp_path / name for name in names]
    done = rlscope("report", *runs, "-o", tmp_path / "missing" / "page.html")
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert line.endswith("page.html: No such file or directory")


def test_an_unknown_format_is_a_usage_error(run: Path) -> None:
    done = rlscope("report", run, "--format", "pdf")
    assert done.returncode == 2
    assert "there are: terminal, html, json" in done.stderr
