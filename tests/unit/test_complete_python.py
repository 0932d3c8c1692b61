"""A Python that can make no venv, or compile no extensions, is told which packages are missing."""

from __future__ import annotations

import sys
import sysconfig
from importlib.machinery import ModuleSpec
from pathlib import Path

import complete_python
import pytest

MINOR = f"python3.{sys.version_info[1]}"


def test_the_packages_that_a_python_needs_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def find(name: str) -> ModuleSpec | None:
        return None if name == "ensurepip" else ModuleSpec(name, None)

    monkeypatch.setattr(complete_python, "find_spec", find)
    monkeypatch.setattr(sysconfig, "get_path", lambda name: str(tmp_path))
    assert complete_python.missing() == [f"{MINOR}-venv", f"{MINOR}-dev"]
    (tmp_path / "Python.h").touch()
    assert complete_python.missing() == [f"{MINOR}-venv"]
