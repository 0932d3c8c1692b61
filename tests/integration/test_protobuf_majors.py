"""The descriptor set serves every protobuf runtime: the format test passes under each major."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def run(*command: object, path: Path | None = None) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(path) if path else ""}
    return subprocess.run(
        [str(part) for part in command],
        env=environment,
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
    )


@pytest.mark.parametrize("major", [4, 5, 6, 7])
def test_message_classes_are_made_by_every_protobuf(major: int, tmp_path: Path) -> None:
    wanted = f"protobuf=={major}.*"
    installed = run(sys.executable, "-m", "pip", "install", "-q", "--target", tmp_path, wanted)
    if installed.returncode != 0:
        pytest.skip(f"{wanted} does not install here")
    version = "import google.protobuf as p; print(p.__version__)"
    assert run(sys.executable, "-c", version, path=tmp_path).stdout.startswith(f"{major}.")
    test = ROOT / "tests/unit/test_format_descriptor.py"
    tested = run(
        sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", test, path=tmp_path
    )
    assert tested.returncode == 0, tested.stdout
    assert " passed" in tested.stdout
