"""Which Python of the system some tests run on, too."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
MINOR = f"python3.{sys.version_info[1]}"
SOABI = sysconfig.get_config_var("SOABI")


def system_python(folder: Path, answer: str) -> str:
    """What the script prints where the system's Python gives `answer` about itself."""
    python = folder / MINOR
    python.write_text(f"#!/bin/sh\n{answer}\n")
    python.chmod(0o755)
    script = ["sh", str(TESTS / "system_python.sh"), sys.executable, str(folder)]
    done = subprocess.run(script, capture_output=True, text=True)
    assert (done.returncode == 0) == bool(done.stdout)
    return done.stdout.strip()


def test_another_patch_release_of_the_system_is_taken(tmp_path: Path) -> None:
    answer = f"echo {SOABI} {sys.version_info[2] + 1}"
    assert system_python(tmp_path, answer) == str(tmp_path / MINOR)


@pytest.mark.parametrize(
    "answer",
    [f"echo {SOABI} {sys.version_info[2]}", f"echo other-{SOABI} 99", "exit 1"],
    ids=["same", "imports-other-extensions", "incomplete"],
)
def test_any_other_python_of_the_system_is_not(tmp_path: Path, answer: str) -> None:
    assert system_python(tmp_path, answer) == ""
