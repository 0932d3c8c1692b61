"""The workflow of docs/guide/diff.md as a shell script in a fresh clone: both outcomes of its gate.

The programs sleep, and the planted operation sleeps four times as long. So load of the machine
changes neither outcome.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml

GUIDE = Path(__file__).parents[2] / "docs" / "guide" / "diff.md"
PROGRAM = """\
import time

import rlscope as rls

for _ in range(20):
    rls.iteration()
    with rls.operation("simulation"):
        for _ in range(3):
            time.sleep({seconds})
    with rls.operation("update"):
        time.sleep(0.002)
"""


def steps() -> dict[str, str]:
    """Name -> script of each step that runs one; with two runs of each side, to be quick."""
    text = GUIDE.read_text()
    workflow: Any = yaml.safe_load(text.partition("```yaml\n")[2].partition("```")[0])
    return {
        each["name"]: each["run"].replace("1 2 3 4 5", "1 2")
        for each in workflow["jobs"]["gate"]["steps"]
        if "run" in each and each["name"] != "Install"
    }


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A clone of a repository whose base sleeps 1 ms in a simulation."""
    origin = tmp_path / "origin"
    origin.mkdir()
    git(origin, "init", "--quiet", "--initial-branch=main")
    commit(origin, 0.001)
    git(tmp_path, "clone", "--quiet", str(origin), "clone")
    return tmp_path / "clone"


def git(folder: Path, *arguments: str) -> str:
    who = ["-c", "user.name=a", "-c", "user.email=a@b"]
    done = subprocess.run(
        ["git", *who, *arguments], cwd=folder, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def commit(folder: Path, seconds: float, note: str = "") -> None:
    (folder / "train.py").write_text(PROGRAM.format(seconds=seconds) + note)
    git(folder, "add", "train.py")
    git(folder, "commit", "--quiet", "--message", "Train")


def run_workflow(clone: Path) -> tuple[int, str]:
    """Its exit code, and its summary."""
    summary = clone.parent / "summary.md"
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "BASE": git(clone, "rev-parse", "HEAD~1"),
        "GITHUB_WORKSPACE": str(clone),
        "GITHUB_STEP_SUMMARY": str(summary),
    }
    code = 0
    for script in steps().values():
        done = subprocess.run(
            ["bash", "-e", "-o", "pipefail", "-c", script],
            cwd=clone, env=environment, capture_output=True, text=True,
        )  # fmt: skip
        code = done.returncode
        if code:
            break
    assert summary.exists(), done.stderr
    return code, summary.read_text()


def test_a_slower_operation_fails_the_workflow_and_is_named(clone: Path) -> None:
    commit(clone, 0.004)
    code, summary = run_workflow(clone)
    assert code == 1
    assert "fails" in summary.splitlines()[0] and "simulation" in summary.splitlines()[0]
    suite = ElementTree.fromstring((clone / "gate.xml").read_text())
    assert "simulation" in {
        each.attrib["name"] for each in suite if each.find("failure") is not None
    }
    assert (clone / "diff.html").stat().st_size > 0


def test_a_change_that_changes_nothing_passes_the_workflow(clone: Path) -> None:
    """A busy machine may keep the gate from telling, and that passes, too."""
    commit(clone, 0.001, "# a comment\n")
    code, summary = run_workflow(clone)
    assert code == 0
    assert "passes" in summary.splitlines()[0] or "cannot tell" in summary.splitlines()[0]
