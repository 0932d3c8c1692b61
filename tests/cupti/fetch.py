"""Fetches NVIDIA's CUPTI, unpacked: releases of the simulated one, and the newest.

    fetch.py FOLDER [RELEASE...]

FOLDER/13.0.85/include and /lib then hold the headers and the library of 13.0.85. What lies there
already is not fetched again. A release that pip cannot fetch is a line with the reason. It fails
with none at all, and with one missing where RLSCOPE_TEST_REQUIRE lists `cupti`.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.cuda.cupti_releases import in_folder, simulated

PACKAGE, NEWEST = "nvidia-cuda-cupti", "newest"


def requirement(release: str) -> str:
    """What pip calls it: until CUDA 12 the package is named after the major.

    >>> requirement("12.4.127"), requirement("newest")
    ('nvidia-cuda-cupti-cu12==12.4.127', 'nvidia-cuda-cupti')
    """
    if release == NEWEST:
        return PACKAGE
    major = int(release.partition(".")[0])
    return f"{PACKAGE}-cu{major}=={release}" if major < 13 else f"{PACKAGE}=={release}"


def download(wanted: str, folder: Path) -> Path | str:
    """The wheel, or why there is none."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--retries", "1"]
    done = subprocess.run([*command, "--dest", folder, wanted], capture_output=True, text=True)
    wheels = list(folder.glob("*.whl"))
    if done.returncode == 0 and wheels:
        return wheels[0]
    errors = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
    return (errors or [f"pip ended with {done.returncode}"])[-1]


def wanted_part(name: str) -> str | None:
    """Where a file of the wheel goes; None: it is not wanted.

    >>> wanted_part("nvidia/cu13/include/cupti.h"), wanted_part("nvidia/cu13/lib/libnvperf.so")
    ('include/cupti.h', None)
    """
    _, in_include, header = name.partition("/include/")
    if in_include and header.endswith(".h"):
        return f"include/{header}"
    file = name.rpartition("/")[2]
    return f"lib/{file}" if file.startswith("libcupti.so.") else None


def unpack(wheel: Path, folder: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            part = wanted_part(name)
            if part is not None:
                (folder / part).parent.mkdir(parents=True, exist_ok=True)
                (folder / part).write_bytes(archive.read(name))


def fetch(release: str, into: Path) -> str:
    """Fetches one, unless it is there already; why it could not, or nothing."""
    if (into / release).exists():
        return ""
    with tempfile.TemporaryDirectory(dir=into) as temporary:
        wheel = download(requirement(release), Path(temporary))
        if isinstance(wheel, str):
            return wheel
        folder, unpacked = into / wheel.name.split("-")[1], Path(temporary, "unpacked")
        unpack(wheel, unpacked)
        if not list(in_folder("", unpacked)):
            return f"{wheel.name} has no headers and library of CUPTI"
        if not folder.exists():
            shutil.move(unpacked, folder)
            print(f"fetched CUPTI {folder.name}", flush=True)
    return ""


def main() -> int:
    into, *wanted = Path(sys.argv[1]), *sys.argv[2:]
    into.mkdir(parents=True, exist_ok=True)
    missing = 0
    for release in wanted or [*simulated(), NEWEST]:
        if reason := fetch(release, into):
            print(f"SKIP CUPTI {release}: {reason}", flush=True)
            missing += 1
    if not any(into.iterdir()):
        print("no CUPTI can be fetched: see above", file=sys.stderr)
        return 1
    return int(missing > 0 and "cupti" in os.environ.get("RLSCOPE_TEST_REQUIRE", "").split(","))


if __name__ == "__main__":
    sys.exit(main())
