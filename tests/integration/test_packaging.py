"""What a user installs: the sdist, the wheel and the editable install carry the whole product."""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from support.files.built_wheel import ROOT, attempt, new_venv, run, source_files

# Besides rlscope_*: what librlscope.so interposes, and what the CUDA driver calls in cuInit.
EXPORTS = {"_exit", "_Exit", "InitializeInjection"}
# The oldest glibc that the core's own calls need: pthread_create lives in libc.so from 2.34 on.
OLDEST_GLIBC = 34
FRAMEWORKS = ["torch==2.13.0", "tensorflow-cpu", "jax[cpu]"]


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of a new venv that has the wheel and its requirements, nothing else."""
    return new_venv(tmp_path_factory.mktemp("venv"), wheel)


@pytest.fixture(scope="module")
def package(installed: Path) -> Path:
    """Where the wheel was unpacked; -I, or the checkout in the current folder would be found."""
    return Path(run(installed, "-I", "-c", "import rlscope; print(rlscope.__path__[0])").strip())


def test_the_sdist_holds_every_source(sdist: Path) -> None:
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    folders = ("rlscope", "csrc", "analysis", "workloads", "tests", "docs", "docker")
    expected = {name for name in source_files() if name.split("/")[0] in folders}
    assert expected <= names
    assert not [name for name in names if name.endswith((".so", ".pyc"))]


def test_the_wheel_holds_the_core_the_queries_and_the_pth_line(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    tail = {Path(name).name for name in names}
    assert "rlscope.pth" in names
    assert {"rlscope/librlscope.so", "rlscope/librlscope_cudart.so"} <= set(names)
    assert any(name.startswith("rlscope/_runtime.") for name in names)
    assert any(name.startswith("rlscope/_trace.") for name in names)
    assert {"py.typed", "_runtime.pyi", "_trace.pyi", "trace.proto"} <= tail
    queries = {path.name for path in (ROOT / "analysis").rglob("*.sql")}
    assert {name.rpartition("/")[2] for name in names if name.endswith(".sql")} == queries
    assert any(name.startswith("rlscope/workloads/") for name in names)
    assert any(name.startswith("rlscope/report/vendor/") and name.endswith(".js") for name in names)
    assert not [name for name in names if name.startswith(("tests/", "csrc/", "analysis/"))]


def test_the_wheel_has_every_module_of_the_package(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    modules = {name for name in source_files() if name.endswith(".py")}
    top = {name for name in modules if name.startswith("rlscope/")}
    mapped = {f"rlscope/{name}" for name in modules if name.startswith(("analysis/", "workloads/"))}
    assert {name for name in names if name.endswith(".py")} == top | mapped


def test_the_tag_is_manylinux_and_as_old_as_the_core_allows(wheel: Path) -> None:
    tag = re.search(r"manylinux_2_(\d+)_\w+\.whl$", wheel.name)
    assert tag is not None
    host = tuple(int(part) for part in platform.libc_ver()[1].split("."))
    if host < (2, 38):  # from 2.38 on, strtol is a new symbol that no source can avoid
        assert int(tag[1]) <= OLDEST_GLIBC
    assert zipfile.ZipFile(wheel).testzip() is None


def test_the_core_needs_libc_only(package: Path) -> None:
    assert _needed(package / "librlscope.so") <= {
        "libc.so.6",
        "ld-linux-x86-64.so.2",
        "ld-linux-aarch64.so.1",
    }


def test_extensions_bring_their_own_libstdcxx(package: Path) -> None:
    extensions = list(package.glob("_*.so"))
    assert len(extensions) == 2
    for extension in extensions:
        assert not [name for name in _needed(extension) if "stdc++" in name or "c++abi" in name]
        # Its symbols stay inside, so that no framework's copy is taken for ours, nor ours for its.
        assert _exports(extension) == {f"PyInit_{extension.name.partition('.')[0]}"}


def _needed(library: Path) -> set[str]:
    lines = run("readelf", "-d", library).splitlines()
    return {line.split("[")[1].rstrip("]") for line in lines if "(NEEDED)" in line}


def _exports(library: Path) -> set[str]:
    lines = run("nm", "-D", "--defined-only", library).splitlines()
    return {line.split()[-1] for line in lines if line}


def test_the_core_exports_its_own_names_only(package: Path) -> None:
    names = _exports(package / "librlscope.so")
    assert names >= EXPORTS
    assert not {name for name in names if not name.startswith("rlscope_")} - EXPORTS


def test_thread_local_storage_stays_within_64_bytes(package: Path) -> None:
    segments = run("readelf", "-lW", package / "librlscope.so").splitlines()
    tls = [line.split() for line in segments if line.strip().startswith("TLS")]
    assert len(tls) == 1
    assert 0 < int(tls[0][5], 16) <= 64  # MemSiz


def test_an_installed_wheel_records_and_reports(installed: Path, tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(
        "import rlscope as rls\n"
        "for _ in range(3):\n"
        "    rls.iteration()\n"
        "    with rls.operation('inference'):\n"
        "        sum(range(10_000))\n"
    )
    trace = tmp_path / "trace"
    run(installed.parent / "rls-prof", "-o", trace, installed, script)
    assert (trace / "report.html").stat().st_size > 100_000
    counting = "SELECT count(*) AS n FROM operation_instance"
    answer = run(installed.parent / "rlscope", "query", trace, counting, "--format", "csv")
    assert answer.split() == ["n", "3"]


def test_the_kit_for_a_gpu_machine_runs_without_a_network(wheel: Path, tmp_path: Path) -> None:
    """Made, checked by itself in a fresh environment, and run there on simulated CUDA."""
    kit = tmp_path / "kit"
    made = run(sys.executable, ROOT / "tests/gpu/kit.py", "--wheel", wheel, "--output", kit)
    assert "self-check: good" in made and "MiB, for Python" in made
    steps, results = ("counts", "golden-records", "subscribed"), tmp_path / "results"
    command = [sys.executable, kit / "run", "--place", tmp_path / "place", "--results", results]
    done = run(ROOT / "tests/simcuda/run", *command, *steps, cwd=tmp_path)
    assert "3 PASS, 0 FAIL, 0 SKIP" in done
    for fact, says in (
        ({"there": "no_numpy"}, "this Python has no no_numpy: take the one that has PyTorch"),
        ({"python": [3, 7]}, "this kit has wheels for Python 3.7, this is"),
    ):
        other = json.loads((kit / "kit.json").read_text()) | fact
        (kit / "kit.json").write_text(json.dumps(other))
        refused = attempt(*command)
        assert refused.returncode == 1
        assert says in refused.stderr


CMAKE = """#!/bin/sh
case "$1" in
-S) exec {cmake} "$@" -DRLSCOPE_PYTHON=OFF ;;
esac
"""


def test_a_build_folder_outlives_the_tools_that_it_was_configured_with(tmp_path: Path) -> None:
    """pip installs ninja for each build anew and removes it. Here CMake configures, no more."""
    cmake, ninja = shutil.which("cmake"), shutil.which("ninja")
    assert cmake is not None and ninja is not None
    for number in range(2):
        tools = tmp_path / f"tools{number}"
        tools.mkdir()
        (tools / "ninja").symlink_to(ninja)
        (tools / "cmake").write_text(CMAKE.format(cmake=cmake))
        (tools / "cmake").chmod(0o755)
        run(
            *("env", f"PATH={tools}:{os.environ['PATH']}", sys.executable, "setup.py", "build_ext"),
            *("--build-temp", tmp_path / "temp", "--build-lib", tmp_path / "lib"),
            cwd=ROOT,
        )
        shutil.rmtree(tools)


def test_an_editable_install_carries_the_pth_line() -> None:
    """This checkout is installed that way by `make test`."""
    site = run(sys.executable, "-c", "import sysconfig; print(sysconfig.get_path('platlib'))")
    line = Path(site.strip()) / "rlscope.pth"
    if not list(Path(site.strip()).glob("__editable__*rlscope*")):
        pytest.skip("rlscope is not installed in editable mode here")
    assert line.read_bytes() == (ROOT / "rlscope/capture/rlscope.pth").read_bytes()


@pytest.fixture(scope="module")
def beside_frameworks(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of a venv into which the wheel came after the frameworks; nothing else moved."""
    python = new_venv(tmp_path_factory.mktemp("frameworks"), "pip", *FRAMEWORKS)
    before = set(run(python, "-m", "pip", "freeze").splitlines())
    assert {line.partition("==")[0] for line in before} >= {"torch", "jax", "tensorflow_cpu"}
    run(python, "-m", "pip", "install", "--quiet", wheel)
    assert before <= set(run(python, "-m", "pip", "freeze").splitlines())
    run(python, "-m", "pip", "check")
    return python


@pytest.mark.slow
@pytest.mark.parametrize(
    "before",
    ["torch", "tensorflow", "jax", "torch, tensorflow, jax", "jax, tensorflow, torch"],
)
def test_beside_frameworks_without_the_preload(
    before: str, beside_frameworks: Path, tmp_path: Path
) -> None:
    """The wheel changes none of their versions, imports after them, and records."""
    script = tmp_path / "script.py"
    script.write_text(
        f"import {before}, os\n"
        "assert 'LD_PRELOAD' not in os.environ\n"
        "import rlscope as rls\n"
        f"with rls.profile({str(tmp_path / 'trace')!r}):\n"
        "    for _ in range(5):\n"
        "        with rls.operation('x'):\n"
        "            pass\n"
    )
    run(beside_frameworks, script)
    reading = f"import rlscope as rls; t = rls.load({str(tmp_path / 'trace')!r})"
    counting = "print(t.sql('SELECT count(*) AS n FROM operation_instance')['n'][0])"
    assert run(beside_frameworks, "-I", "-c", f"{reading}; {counting}").strip() == "5"
