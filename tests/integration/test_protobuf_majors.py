"""The descriptor set serves every protobuf runtime: the format test passes under each major."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from support.files.built_wheel import ROOT, attempt, run


@pytest.mark.parametrize("major", [4, 5, 6, 7])
def test_message_classes_are_made_by_every_protobuf(major: int, tmp_path: Path) -> None:
    wanted = f"protobuf=={major}.*"
    installed = attempt(sys.executable, "-m", "pip", "install", "-q", "--target", tmp_path, wanted)
    if installed.returncode != 0:
        pytest.skip(f"{wanted} does not install here")
    version = "import google.protobuf as p; print(p.__version__)"
    assert run(sys.executable, "-c", version, path=tmp_path).startswith(f"{major}.")
    test = ROOT / "tests/unit/test_format_descriptor.py"
    options = ["-q", "-p", "no:cacheprovider"]
    tested = run(sys.executable, "-m", "pytest", *options, test, cwd=ROOT, path=tmp_path)
    assert " passed" in tested
