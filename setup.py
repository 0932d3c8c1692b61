"""Builds csrc/ with CMake, and adds rlscope.pth to wheels; everything else is pyproject.toml.

csrc/    librlscope.so, rlscope._runtime, rlscope._trace
"""

import base64
import hashlib
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from importlib.util import find_spec
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py
from setuptools.command.editable_wheel import editable_wheel

ROOT = Path(__file__).parent.resolve()
# The line that lets a traced interpreter instrument itself; site-packages is its only place.
PTH = ROOT / "rlscope" / "capture" / "rlscope.pth"
PROTO = ROOT / "csrc" / "trace" / "format" / "trace.proto"


class CMakeBuild(build_ext):
    """Builds csrc/ and installs the libraries into the package."""

    def build_extension(self, ext: Extension) -> None:
        build = self._folder()
        forget_configuration(build)
        configure = [
            "cmake",
            "-S",
            str(ROOT / "csrc"),
            "-B",
            str(build),
            "-G",
            "Ninja",
            f"-DPython_EXECUTABLE={sys.executable}",
            "-DCMAKE_BUILD_TYPE=RelWithDebInfo",
            f"-DRLSCOPE_ONCE={'OFF' if self.editable_mode else 'ON'}",
        ]
        if find_spec("nanobind"):  # else CMake says that it is missing, if it needs it
            configure.append(f"-Dnanobind_ROOT={kept_nanobind(build)}")
        jobs = os.environ.get("CMAKE_BUILD_PARALLEL_LEVEL", str(os.cpu_count() or 1))
        subprocess.run(configure, check=True)
        if self.editable_mode:
            keep_commands(build)
        subprocess.run(["cmake", "--build", str(build), "--parallel", jobs], check=True)
        self._install(build, Path(self.get_ext_fullpath(ext.name)).resolve().parent)

    def _folder(self) -> Path:
        """Of an editable install, which is repeated, one for each kind of Python: setuptools would
        give a new one each time, in which everything is compiled again."""
        if self.editable_mode:
            return ROOT / "build" / f"cmake-{sysconfig.get_config_var('SOABI')}"
        return Path(self.build_temp).resolve() / "csrc"

    def _install(self, build: Path, prefix: Path) -> None:
        command = ["cmake", "--install", str(build), "--prefix", str(prefix)]
        if not self.editable_mode:
            command.append("--strip")
        subprocess.run(command, check=True)

    def copy_extensions_to_source(self) -> None:
        # setuptools would copy the placeholder extension only; librlscope.so belongs beside it.
        self._install(self._folder(), ROOT / "rlscope")


def forget_configuration(build: Path) -> None:
    """As `cmake --fresh`, which CMake 3.22 lacks: compiled objects stay.

    A build folder is kept from one install to the next. What it was configured with is not: pip
    removes ninja, CMake and nanobind when an install is done, and a checkout can be moved.
    """
    (build / "CMakeCache.txt").unlink(missing_ok=True)
    shutil.rmtree(build / "CMakeFiles", ignore_errors=True)


def kept_nanobind(build: Path) -> Path:
    """The CMake folder of a copy of nanobind that lies in the build folder.

    pip unpacks nanobind into a new place for each build, and the place is in every compile command:
    neither ninja nor ccache would know the object of the build before.
    """
    import nanobind

    kept = build / f"nanobind-{nanobind.__version__}"
    if not kept.is_dir():
        unfinished = kept.with_name("nanobind.unfinished")
        shutil.rmtree(unfinished, ignore_errors=True)
        shutil.copytree(Path(nanobind.__file__).parent, unfinished)
        unfinished.rename(kept)
    return kept / "cmake"


def keep_commands(build: Path) -> None:
    """Calls CMake by one name in the commands that make libraries, wherever pip put it this time.

    Ninja repeats a step whose command has changed.
    """
    cache = (build / "CMakeCache.txt").read_text(encoding="utf-8")
    (cmake,) = re.findall(r"^CMAKE_COMMAND:INTERNAL=(.*)$", cache, re.MULTILINE)
    name = build / "cmake"
    name.unlink(missing_ok=True)
    name.symlink_to(cmake)
    for file in (build / "build.ninja", build / "CMakeFiles" / "rules.ninja"):
        text = file.read_text(encoding="utf-8")
        file.write_text(text.replace(f"{cmake} ", f"{name} "), encoding="utf-8")


class BuildWithPth(build_py):
    """Adds rlscope.pth and the trace format's files to what a wheel holds."""

    def run(self) -> None:
        super().run()
        if self.editable_mode:
            return
        library = Path(self.build_lib)
        self.copy_file(str(PTH), str(library / PTH.name))
        self.copy_file(str(PROTO), str(library / "rlscope" / PROTO.name))

    def get_outputs(self, include_bytecode: bool = True) -> list[str]:
        extra = [] if self.editable_mode else [str(Path(self.build_lib) / PTH.name)]
        return [*super().get_outputs(include_bytecode), *extra]


class EditableWithPth(editable_wheel):
    """An editable wheel carries rlscope.pth too: rls-prof works from a checkout."""

    def run(self) -> None:
        super().run()
        for wheel in Path(self.dist_dir).glob("rlscope-*editable*.whl"):
            add_to_wheel(wheel, PTH.name, PTH.read_bytes())


def add_to_wheel(wheel: Path, name: str, data: bytes) -> None:
    """Adds a file at the root of a wheel and its line to RECORD."""
    with zipfile.ZipFile(wheel) as archive:
        members = {info: archive.read(info) for info in archive.infolist()}
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, data)
        for info, content in members.items():
            if info.filename.endswith(".dist-info/RECORD"):
                content += f"{name},sha256={digest},{len(data)}\n".encode()
            archive.writestr(info, content)


setup(
    ext_modules=[Extension("rlscope._native", sources=[])],
    cmdclass={
        "build_ext": CMakeBuild,
        "build_py": BuildWithPth,
        "editable_wheel": EditableWithPth,
    },
)
