"""What frameworks link of CUDA is read from their files."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from rlscope.doctor import checks, links
from rlscope.doctor.finding import Status


def library(path: Path, soname: str, *linked: Path) -> Path:
    """An empty shared object that needs others."""
    path.parent.mkdir(parents=True, exist_ok=True)
    command = ["gcc", "-shared", "-nostdlib", "-Wl,--no-as-needed", f"-Wl,-soname,{soname}"]
    source = ["-x", "c", "/dev/null", "-x", "none"]
    subprocess.run([*command, *source, *map(str, linked), "-o", str(path)], check=True)
    return path


@pytest.fixture
def torch(tmp_path: Path) -> Path:
    """A PyTorch for CUDA 13; returns the folder of its package."""
    runtime = library(tmp_path / "cuda" / "cudart.so", "libcudart.so.13")
    cupti = library(tmp_path / "cuda" / "cupti.so", "libcupti.so.13")
    folder = tmp_path / "packages" / "torch" / "lib"
    library(folder / "libtorch_cpu.so", "libtorch_cpu.so", runtime, cupti)
    library(folder / "libtorch_cuda.so", "libtorch_cuda.so", runtime)
    return tmp_path / "packages"


def test_pytorch_names_what_it_links(torch: Path) -> None:
    (found,) = links.of_frameworks(["", str(torch), str(torch)])
    assert (found.framework, found.major) == ("torch", 13)
    assert found.text == "links libcudart.so.13, libcupti.so.13"
    (finding,) = checks.link_findings([found])
    assert finding.status is Status.GOOD


def test_a_pytorch_for_cpus_links_none(tmp_path: Path) -> None:
    library(tmp_path / "torch" / "lib" / "libtorch_cpu.so", "libtorch_cpu.so")
    (finding,) = checks.link_findings(links.of_frameworks([str(tmp_path)]))
    assert (finding.status, finding.text) == (
        Status.ABSENT,
        "this PyTorch was built without CUDA",
    )


@pytest.mark.parametrize(("plugins", "major"), [((), 0), (("xla_cuda12",), 12), (("other",), 0)])
def test_a_plugin_brings_cuda_to_jax(tmp_path: Path, plugins: tuple[str, ...], major: int) -> None:
    (tmp_path / "jaxlib").mkdir()
    for plugin in plugins:
        (tmp_path / "jax_plugins" / plugin).mkdir(parents=True)
    (found,) = links.of_frameworks([str(tmp_path)])
    assert (found.framework, found.major) == ("jaxlib", major)


@pytest.mark.parametrize(
    ("build", "major"),
    [
        ("OrderedDict([('cuda_version', '12.5.1'), ('is_cuda_build', True)])", 12),
        ("OrderedDict([('is_cuda_build', False)])", 0),
    ],
)
def test_tensorflow_says_for_which_cuda_it_was_built(
    tmp_path: Path, build: str, major: int
) -> None:
    file = tmp_path / "tensorflow" / "python" / "platform" / "build_info.py"
    file.parent.mkdir(parents=True)
    file.write_text(f"build_info = collections.{build}\n")
    (found,) = links.of_frameworks([str(tmp_path)])
    assert (found.framework, found.major) == ("tensorflow", major)


def test_without_frameworks_there_is_nothing_to_say(tmp_path: Path) -> None:
    assert links.of_frameworks([str(tmp_path), "/nowhere"]) == []


@pytest.mark.parametrize("contents", [b"", b"#!/bin/sh", b"\x7fELF\x02\x01" + bytes(200)])
def test_what_is_no_library_needs_nothing(tmp_path: Path, contents: bytes) -> None:
    file = tmp_path / "lib.so"
    file.write_bytes(contents)
    assert links.needed(str(file)) == []


def test_a_damaged_library_needs_nothing(torch: Path) -> None:
    file = torch / "torch" / "lib" / "libtorch_cuda.so"
    whole = file.read_bytes()
    for size in range(0, len(whole), 97):
        file.write_bytes(whole[:size])
        assert set(links.needed(str(file))) <= {"libcudart.so.13"}
