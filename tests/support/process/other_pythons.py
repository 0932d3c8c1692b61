"""Another release of CPython that records.

Only the recorder is built for it, so that it needs none of rlscope's dependencies. The rls-prof
that starts it and reads its trace is that of this environment.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from support.process.traced_python import ROOT, TracedPython, untraced_environment


def find_python(minor: int) -> str:
    """Python 3.`minor` of this machine; skips the test where there is none."""
    script = ROOT / "tests" / "newest_python.sh"
    command = ["sh", str(script), str(minor), str(minor)]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    if found.returncode != 0:
        pytest.skip(f"no Python 3.{minor} with a GIL, venv and headers is installed")
    return found.stdout.strip()


def make_other_python(minor: int, folder: Path, traced: TracedPython) -> TracedPython:
    """A venv of Python 3.`minor` in which the rls-prof of `traced` records programs."""
    python = find_python(minor)
    package = folder / "rlscope"
    package.mkdir(parents=True)
    for path in (ROOT / "rlscope").iterdir():
        if not path.name.startswith("_runtime."):
            (package / path.name).symlink_to(path)
    shutil.copy(_build_recorder(python, minor), package)
    venv = folder / "venv"
    command = [python, "-m", "venv", "--without-pip", str(venv)]
    subprocess.run(command, check=True, env=untraced_environment())
    (site,) = venv.glob("lib/python*/site-packages")
    (site / "a_folders.pth").write_text(f"{folder}\n")
    shutil.copy(ROOT / "rlscope" / "capture" / "rlscope.pth", site)
    return TracedPython(str(venv / "bin" / "python"), traced.prof)


def _build_recorder(python: str, minor: int) -> Path:
    """The extension module _runtime for that Python; what was compiled before stays in build/."""
    build = ROOT / "build" / f"recorder-3.{minor}"
    settings = [f"-DPython_EXECUTABLE={python}", "-DRLSCOPE_READER=OFF"]
    for command in (
        ["cmake", "-S", str(ROOT / "csrc"), "-B", str(build), "-G", "Ninja", *settings],
        ["cmake", "--build", str(build), "--target", "_runtime"],
    ):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    (module,) = (build / "python").glob("_runtime*.so")
    return module
