"""fetch.py with an index of one made-up wheel, and with none."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("fetch.py")
NAME = "nvidia_cuda_cupti-13.9.1"
FILES = {
    "nvidia/cu13/include/cupti.h": "/* header */",
    "nvidia/cu13/include/Openacc/cupti_openacc.h": "/* another */",
    "nvidia/cu13/lib/libcupti.so.13": "library",
    "nvidia/cu13/lib/libnvperf_host.so": "another library",
    f"{NAME}.dist-info/METADATA": "Metadata-Version: 2.1\nName: nvidia-cuda-cupti\nVersion: 13.9.1",
    f"{NAME}.dist-info/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    f"{NAME}.dist-info/RECORD": "",
}


def fetch(
    into: Path, index: Path, *releases: str, require: str = ""
) -> subprocess.CompletedProcess[str]:
    """Runs it where pip knows the wheels of a folder alone."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("PIP_")}
    own |= {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(index), "PIP_CONFIG_FILE": os.devnull}
    return subprocess.run(
        [sys.executable, str(SCRIPT), str(into), *releases],
        env=own | {"RLSCOPE_TEST_REQUIRE": require},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def index(tmp_path: Path) -> Path:
    """A folder with the wheel."""
    folder = tmp_path / "index"
    folder.mkdir()
    with zipfile.ZipFile(folder / f"{NAME}-py3-none-any.whl", "w") as wheel:
        for name, text in FILES.items():
            wheel.writestr(name, text)
    return folder


def test_headers_and_library_are_unpacked_and_fetched_once(tmp_path: Path, index: Path) -> None:
    into = tmp_path / "into"
    done = fetch(into, index, "13.9.1")
    assert (done.returncode, done.stdout) == (0, "fetched CUPTI 13.9.1\n")
    unpacked = {str(path.relative_to(into)) for path in into.rglob("*") if path.is_file()}
    assert unpacked == {
        "13.9.1/include/cupti.h",
        "13.9.1/include/Openacc/cupti_openacc.h",
        "13.9.1/lib/libcupti.so.13",
    }
    for again in ("13.9.1", "newest"):
        done = fetch(into, index, again)
        assert (done.returncode, done.stdout) == (0, "")


def test_one_that_cannot_be_had_is_a_line_and_fails_where_it_is_required(
    tmp_path: Path, index: Path
) -> None:
    into = tmp_path / "into"
    done = fetch(into, index, "12.4.127", "newest")
    assert done.returncode == 0
    skipped, fetched = done.stdout.splitlines()
    assert skipped.startswith("SKIP CUPTI 12.4.127: ERROR: No matching distribution")
    assert fetched == "fetched CUPTI 13.9.1"
    assert fetch(into, index, "12.4.127", require="torch,cupti").returncode == 1


def test_without_any_it_fails(tmp_path: Path, index: Path) -> None:
    done = fetch(tmp_path / "into", index, "12.4.127")
    assert done.returncode == 1
    assert done.stderr == "no CUPTI can be fetched: see above\n"
