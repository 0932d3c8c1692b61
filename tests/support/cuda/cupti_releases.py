"""Copies of NVIDIA's CUPTI: those that `make test-cupti` fetched, and those that are installed."""

from __future__ import annotations

import os
import re
import subprocess
import sysconfig
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
FOLDER = ROOT / "build" / "cupti"
TABLE = ROOT / "tests" / "simcuda" / "core" / "cupti_versions.h"
MADE_UP = "14.0.0"

# Where headers and libraries lie in a folder that has CUDA.
_LAYOUTS = (
    ("include", "lib"),
    ("include", "lib64"),
    ("extras/CUPTI/include", "extras/CUPTI/lib64"),
)


@dataclass(frozen=True)
class Release:
    """One CUPTI."""

    name: str
    """As of its wheel, 13.0.85; of an installed one its folder."""
    include: Path
    library: Path

    def __str__(self) -> str:
        return self.name

    @property
    def major(self) -> int:
        """The major release of its CUDA."""
        return int(self.library.name.split(".")[2])

    @property
    def version(self) -> tuple[int, ...]:
        """Major and minor, by its headers: 12.9 and before count otherwise."""
        text = (self.include / "cupti_version.h").read_text()
        number = int(re.findall(r"^#define CUPTI_API_VERSION (\d+)", text, re.MULTILINE)[0])
        return (number // 10000, number // 100 % 100) if number >= 10000 else (12, number)


def simulated() -> list[str]:
    """Releases that the simulated CUPTI can be, in order, but for the made-up one."""
    found = re.findall(r'\{"(\d+\.\d+\.\d+)",', TABLE.read_text())
    return [name for name in found if name != MADE_UP]


def in_folder(name: str, folder: Path) -> Iterator[Release]:
    """The CUPTI of a folder, if it has one."""
    for include, lib in _LAYOUTS:
        libraries = sorted((folder / lib).glob("libcupti.so.[1-9][0-9]*"))
        if libraries and (folder / include / "cupti.h").exists():
            yield Release(name, folder / include, libraries[0])
            return


def _fetched() -> Iterator[Release]:
    """Those that lie below build/, in order."""
    folders = sorted(FOLDER.glob("*.*.*"), key=lambda path: [int(n) for n in path.name.split(".")])
    for folder in folders:
        yield from in_folder(folder.name, folder)


def _installed() -> Iterator[Release]:
    """Those of toolkits and of this Python."""
    site = Path(sysconfig.get_paths()["purelib"]) / "nvidia"
    home = Path(os.environ.get("CUDA_HOME") or "/nowhere")
    toolkits = [home, *Path("/usr/local").glob("cuda*")]
    folders = [*toolkits, *site.glob("cu[1-9]*"), site / "cuda_cupti"]
    for folder in dict.fromkeys(path.resolve() for path in folders):
        yield from in_folder(str(folder), folder)


def exported(library: Path) -> set[str]:
    """CUPTI's functions that a library has, each with the version that it gives them."""
    command = ["nm", "--dynamic", "--defined-only", "--with-symbol-versions", library]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return set(re.findall(r" (cupti\S+)$", done.stdout, re.MULTILINE))


def every_release(releases: Iterable[Release]) -> pytest.MarkDecorator:
    """Gives a test one release after the other; skips its module where there is none."""
    found = list(releases)
    if not found:
        pytest.skip("no CUPTI for it: make test-cupti fetches it", allow_module_level=True)
    return pytest.mark.parametrize("release", found, ids=str)


FETCHED = list(_fetched())
SIMULATED = [release for release in FETCHED if release.name in simulated()]
RELEASES = [*FETCHED, *_installed()]
