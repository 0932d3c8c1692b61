"""What a user installs: the wheel and the editable install carry the whole product."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# Besides rlscope_*: what librlscope.so interposes, and what the CUDA driver calls in cuInit.
EXPORTS = {"_exit", "_Exit", "InitializeInjection"}
LONG = bool(os.environ.get("RLSCOPE_TEST_LONG"))

# One group: with pytest-xdist the wheel is built once, by one worker.
pytestmark = pytest.mark.xdist_group("packaging")


def run(*command: object, **kwargs: object) -> str:
    environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "RLSCOPE_DIR")}
    done = subprocess.run(
        [str(part) for part in command],
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
        **kwargs,  # type: ignore[call-overload]
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel that `pip install .` builds from a clean copy of the sources."""
    source = tmp_path_factory.mktemp("source") / "rlscope"
    files = run("git", "-C", ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    for name in filter(None, files.split("\0")):
        target = source / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).is_symlink():
            target.symlink_to((ROOT / name).readlink())
        elif (ROOT / name).exists():
            target.write_bytes((ROOT / name).read_bytes())
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", folder, source)
    return next(folder.glob("rlscope-*.whl"))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of a new venv that has the wheel and its requirements, nothing else."""
    venv = tmp_path_factory.mktemp("venv")
    run(sys.executable, "-m", "venv", venv)
    python = venv / "bin" / "python"
    run(python, "-m", "pip", "install", "--quiet", wheel)
    return python


def test_the_wheel_holds_the_core_the_queries_and_the_pth_line(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    tail = {Path(name).name for name in names}
    assert "rlscope.pth" in names
    assert "rlscope/librlscope.so" in names
    assert any(name.startswith("rlscope/_runtime.") for name in names)
    assert any(name.startswith("rlscope/_trace.") for name in names)
    assert {"py.typed", "_runtime.pyi", "_trace.pyi", "trace.proto"} <= tail
    assert any(name.startswith("rlscope/analysis/") for name in names)
    assert any(name.startswith("rlscope/workloads/") for name in names)
    assert any(name.startswith("rlscope/report/vendor/") and name.endswith(".js") for name in names)
    assert not [name for name in names if name.startswith(("tests/", "csrc/", "analysis/"))]


def test_the_core_needs_libc_only(installed: Path) -> None:
    folder = Path(run(installed, "-c", "import rlscope; print(rlscope.__path__[0])").strip())
    needed = run("readelf", "-d", folder / "librlscope.so")
    lines = [line for line in needed.splitlines() if "(NEEDED)" in line]
    libraries = {line.split("[")[1].rstrip("]") for line in lines}
    assert libraries <= {"libc.so.6", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}
    for extension in folder.glob("_*.so"):
        assert "libstdc++" not in run("readelf", "-d", extension)


def test_the_core_exports_its_own_names_only(installed: Path) -> None:
    folder = Path(run(installed, "-c", "import rlscope; print(rlscope.__path__[0])").strip())
    symbols = run("nm", "-D", "--defined-only", folder / "librlscope.so").split("\n")
    names = {line.split()[-1] for line in symbols if line}
    assert names
    assert not {name for name in names if not name.startswith("rlscope_")} - EXPORTS


def test_thread_local_storage_stays_within_64_bytes(installed: Path) -> None:
    folder = Path(run(installed, "-c", "import rlscope; print(rlscope.__path__[0])").strip())
    segments = run("readelf", "-lW", folder / "librlscope.so").splitlines()
    tls = [line.split() for line in segments if line.strip().startswith("TLS")]
    assert len(tls) == 1
    assert int(tls[0][5], 16) <= 64  # MemSiz


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
    answer = run(
        installed.parent / "rlscope",
        "query",
        trace,
        "SELECT count(*) AS n FROM operation_instance",
        "--format",
        "csv",
    )
    assert answer.split() == ["n", "3"]


def test_an_editable_install_carries_the_pth_line() -> None:
    """This checkout is installed that way by `make test`."""
    site = run(sys.executable, "-c", "import sysconfig; print(sysconfig.get_path('platlib'))")
    line = Path(site.strip()) / "rlscope.pth"
    if not list(Path(site.strip()).glob("__editable__*rlscope*")):
        pytest.skip("rlscope is not installed in editable mode here")
    assert line.read_bytes() == (ROOT / "rlscope/capture/rlscope.pth").read_bytes()


@pytest.mark.skipif(not LONG, reason="installs gigabytes; make check-long")
def test_the_wheel_changes_no_version_of_a_framework(wheel: Path, tmp_path: Path) -> None:
    run(sys.executable, "-m", "venv", tmp_path)
    python = tmp_path / "bin" / "python"
    frameworks = ["torch==2.13.0", "tensorflow-cpu", "jax[cpu]"]
    run(python, "-m", "pip", "install", "--quiet", *frameworks)
    before = set(run(python, "-m", "pip", "freeze").splitlines())
    run(python, "-m", "pip", "install", "--quiet", wheel)
    after = set(run(python, "-m", "pip", "freeze").splitlines())
    assert before <= after
    code = "import torch, tensorflow, jax, rlscope as rls\nwith rls.operation('x'): print('ok')"
    assert run(python, "-c", code).strip().endswith("ok")
