"""The roots of other systems: Debian releases with Python, made once below build/roots."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest

from support.files.built_wheel import ROOT, attempt, run

_ROOTS = ROOT / "build" / "roots"
_SCRIPT = ROOT / "tests" / "support" / "files" / "clean_root.sh"


class Release(NamedTuple):
    """A release of Debian."""

    suite: str
    python: int
    """Minor version of its Python 3."""


RELEASES = (Release("bookworm", 11), Release("trixie", 13))


def need_roots(release: Release) -> str:
    """The host's Python of the version that the release has. Skips the running test where a root
    cannot be made or entered; fails it if that is required (RLSCOPE_TEST_REQUIRE=clean_root)."""
    required = "clean_root" in os.environ.get("RLSCOPE_TEST_REQUIRE", "").split(",")
    python, why = _python_of(release), _why_not()
    if not python and not why:
        why = f"no Python 3.{release.python} with headers is installed here to build the wheel with"
    if why:
        (pytest.fail if required else pytest.skip)(why)
    return python


def _why_not() -> str:
    if os.geteuid() != 0:
        return "only root can enter another root"
    missing = [name for name in ("unshare", "chroot", "debootstrap") if shutil.which(name) is None]
    if missing:
        return f"not installed: {', '.join(missing)} (Debian: util-linux, coreutils, debootstrap)"
    tried = attempt("unshare", "--mount", "--net", "--pid", "--fork", "true")
    return f"no namespaces may be made here: {tried.stderr.strip()}" if tried.returncode else ""


def _python_of(release: Release) -> str:
    script = ROOT / "tests" / "newest_python.sh"
    return attempt("sh", script, release.python, release.python).stdout.strip()


def clean_root(release: Release) -> Path:
    """A root with the base system and Python: no compiler, no git, nothing of this host."""
    root = _ROOTS / release.suite
    if not root.is_dir():
        unfinished = _ROOTS / f"{release.suite}.unfinished"
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir(parents=True)
        packages = "--include=python3,python3-venv"
        run("debootstrap", "--variant=minbase", packages, release.suite, unfinished)
        unfinished.rename(root)
    return root


def run_in(root: Path, folder: Path, script: str) -> subprocess.CompletedProcess[str]:
    """Runs a shell script in the root; it sees `folder` as /mnt."""
    return attempt("sh", _SCRIPT, root, folder, "sh", "-c", script)
