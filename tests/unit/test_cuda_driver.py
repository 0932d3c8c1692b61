"""The CUDA driver is looked up as the loader does, without loading it."""

from __future__ import annotations

from pathlib import Path

import pytest

from rlscope import cuda_driver

LIBRARY, LIBRARY_OF_32_BITS = b"\x7fELF\x02\x01", b"\x7fELF\x01\x01"


@pytest.fixture(autouse=True)
def no_driver_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """This machine's own is not looked at."""
    monkeypatch.setattr(cuda_driver, "_CACHE", str(tmp_path / "ld.so.cache"))
    monkeypatch.setattr(cuda_driver, "_FOLDERS", (str(tmp_path / "default"),))


def put(folder: Path, contents: bytes) -> str:
    folder.mkdir()
    file = folder / "libcuda.so.1"
    file.write_bytes(contents)
    return str(file)


def test_the_path_of_libraries_comes_first(tmp_path: Path) -> None:
    put(tmp_path / "default", LIBRARY)
    own = put(tmp_path / "own", LIBRARY)
    path = {"LD_LIBRARY_PATH": f"{tmp_path}/nowhere:{tmp_path}/own"}
    assert cuda_driver.driver_path(path) == own


def test_the_loaders_cache_names_it(tmp_path: Path) -> None:
    own = put(tmp_path / "own", LIBRARY)
    cache = f"glibc-ld.so.cache1.1\0libcuda.so.1\0{own}\0libcuda.so\0{own[:-2]}\0"
    (tmp_path / "ld.so.cache").write_bytes(cache.encode())
    assert cuda_driver.driver_path({}) == own


def test_one_of_32_bits_is_passed_over(tmp_path: Path) -> None:
    put(tmp_path / "own", LIBRARY_OF_32_BITS)
    found = put(tmp_path / "default", LIBRARY)
    assert cuda_driver.driver_path({"LD_LIBRARY_PATH": str(tmp_path / "own")}) == found


def test_what_is_no_library_ends_the_search_as_it_ends_the_loaders(tmp_path: Path) -> None:
    put(tmp_path / "own", b"")
    put(tmp_path / "default", LIBRARY)
    assert cuda_driver.driver_path({"LD_LIBRARY_PATH": str(tmp_path / "own")}) == ""


def test_nowhere_is_none() -> None:
    assert cuda_driver.driver_path({}) == ""
