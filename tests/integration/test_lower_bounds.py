"""The oldest requirements that pip may leave in place: the installed wheel works with them."""

from __future__ import annotations

import re
import sys
import zipfile
from pathlib import Path

import pytest
from support.files.built_wheel import ROOT, new_venv, run

# What needs no build and no second interpreter: analysis, store, report, annotations, the browser.
TESTS = ["tests/unit", "tests/sql", "tests/integration/test_report_browser.py"]
# Newer pyarrow does not import beside the oldest NumPy.
TOOLS = ["gymnasium", "hypothesis", "pandas", "pyarrow<20", "pytest", "selenium"]
BOUND = re.compile(r"^Requires-Dist: ([\w-]+)[^;\n]*>=([\d.]+)[^;\n]*$", re.MULTILINE)


def oldest(wheel: Path) -> list[str]:
    """name==lower bound of every base requirement."""
    with zipfile.ZipFile(wheel) as archive:
        (metadata,) = (name for name in archive.namelist() if name.endswith("/METADATA"))
        text = archive.read(metadata).decode()
    return [f"{name}=={version}" for name, version in BOUND.findall(text)]


@pytest.mark.slow
@pytest.mark.skipif(sys.version_info >= (3, 12), reason="NumPy 1.24 has no wheel for this Python")
def test_every_requirement_at_its_lower_bound(wheel: Path, tmp_path: Path) -> None:
    requirements = oldest(wheel)
    names = {requirement.partition("==")[0] for requirement in requirements}
    assert names >= {"duckdb", "numpy", "plotly", "protobuf", "psutil", "sqlalchemy"}
    python = new_venv(tmp_path / "venv", wheel, *requirements, *TOOLS)
    # The program pytest, not `python -m pytest`: that would import the checkout's rlscope.
    pytest_program = python.with_name("pytest")
    selected = ["-m", "not slow and not gpu", *TESTS]
    answer = run(pytest_program, "-q", "-p", "no:cacheprovider", *selected, cwd=ROOT)
    assert re.search(r"^\d+ passed", answer, re.MULTILINE), answer
