"""What a user installs, built once per test session: the sdist, the wheel made from it, a venv."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
_OURS = ("PYTHONPATH", "RLSCOPE_", "LD_PRELOAD")


def attempt(
    *command: object, cwd: Path | None = None, path: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Runs a command without a surrounding checkout or recorder; `path` is its PYTHONPATH."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith(_OURS)}
    if path is not None:
        environment["PYTHONPATH"] = str(path)
    return subprocess.run(
        [str(part) for part in command],
        env=environment,
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=1200,
    )


def run(*command: object, cwd: Path | None = None, path: Path | None = None) -> str:
    """Standard output of a command that succeeds; see `attempt`."""
    done = attempt(*command, cwd=cwd, path=path)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def source_files() -> list[str]:
    """Files of the project: versioned and new ones, nothing that was built."""
    listed = run("git", "-C", ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    return [name for name in listed.split("\0") if name and os.path.lexists(ROOT / name)]


def copy_sources(folder: Path, *, but: tuple[str, ...] = ()) -> None:
    """Copies the project's files, and nothing that was built; `but`: folders left out."""
    for name in source_files():
        if name.split("/")[0] in but:
            continue
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).is_symlink():
            target.symlink_to((ROOT / name).readlink())
        else:
            target.write_bytes((ROOT / name).read_bytes())
            target.chmod((ROOT / name).stat().st_mode)


def build_sdist(folder: Path) -> Path:
    """The sdist of a clean copy of the sources, by this Python's setuptools: the wheel's build has
    an environment of its own."""
    source = folder / "rlscope"
    copy_sources(source)
    building = ("--sdist", "--no-isolation", "--skip-dependency-check")
    run(sys.executable, "-m", "build", *building, "--outdir", folder, source)
    return next(folder.glob("rlscope-*.tar.gz"))


def build_wheel(sdist: Path, folder: Path, python: str = sys.executable) -> Path:
    """The wheel that pip makes from the sdist, tagged as `make wheel` tags it."""
    built = folder / "built"
    run(python, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", built, sdist)
    run("sh", ROOT / "tests/tag_wheel.sh", built, folder / "dist", sys.executable)
    (wheel,) = (folder / "dist").glob("rlscope-*.whl")
    return wheel


def new_venv(folder: Path, *requirements: object) -> Path:
    """The Python of a new venv that holds these requirements, nothing else."""
    run(sys.executable, "-m", "venv", "--without-pip", folder)
    python = folder / "bin" / "python"
    pip = (sys.executable, "-m", "pip", "--python", python)
    run(*pip, "install", "--quiet", "--no-compile", *requirements)
    return python
