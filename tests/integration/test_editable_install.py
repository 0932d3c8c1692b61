"""An editable install, which is repeated after each change of the C++, compiles what changed."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from support.files.built_wheel import attempt, copy_sources, run

# Instead of csrc/, which takes minutes: a static library below an extension module, and as there
# nothing is compiled in the uppermost folder.
TOP = """
cmake_minimum_required(VERSION 3.22)
project(small LANGUAGES CXX)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
add_subdirectory(small)
"""
CMAKE = """
find_package(Python 3.10 REQUIRED COMPONENTS Interpreter Development.Module)
if(NOT nanobind_ROOT)
  execute_process(COMMAND "${Python_EXECUTABLE}" -m nanobind --cmake_dir
                  OUTPUT_STRIP_TRAILING_WHITESPACE OUTPUT_VARIABLE nanobind_ROOT)
endif()
find_package(nanobind CONFIG REQUIRED)
add_library(numbers STATIC one.cc two.cc)
nanobind_add_module(_small NB_STATIC small.cc)
target_compile_options(nanobind-static PRIVATE -O0 -g0)
target_link_libraries(_small PRIVATE numbers)
install(TARGETS _small LIBRARY DESTINATION .)
"""
SOURCES = {
    "CMakeLists.txt": CMAKE,
    "one.cc": "int One() { return 1; }\n",
    "two.cc": "int Two() { return 2; }\n",
    "small.cc": "#include <nanobind/nanobind.h>\nint One();\nint Two();\n"
    'NB_MODULE(_small, module) { module.def("sum", [] { return One() + Two(); }); }\n',
}


def write_checkout(folder: Path) -> None:
    copy_sources(folder, but=("csrc", "tests", "docs"))
    small = folder / "csrc" / "small"
    small.mkdir(parents=True)
    (small.parent / "CMakeLists.txt").write_text(TOP)
    for name, text in SOURCES.items():
        (small / name).write_text(text)


def install(python: Path, checkout: Path) -> list[tuple[str, str]]:
    """The steps of the build: pip unpacks CMake, ninja and nanobind anew."""
    pip = (sys.executable, "-m", "pip", "--python", python)
    done = attempt(*pip, "install", "-v", "--no-deps", "--editable", checkout)
    said = done.stdout + done.stderr
    assert done.returncode == 0, said
    return re.findall(r"\[\d+/\d+\] (Building|Linking) .*?([^/ ]+)$", said, re.MULTILINE)


def sum_of(python: Path) -> str:
    return run(python, "-c", "from rlscope import _small; print(_small.sum())").strip()


def test_an_editable_install_compiles_what_changed(tmp_path: Path) -> None:
    checkout, venv = tmp_path / "checkout", tmp_path / "venv"
    write_checkout(checkout)
    run(sys.executable, "-m", "venv", "--without-pip", venv)
    python = venv / "bin/python"
    first = install(python, checkout)
    assert {("Building", "one.cc.o"), ("Building", "small.cc.o")} <= set(first)
    (checkout / "csrc/small/two.cc").write_text("int Two() { return 4; }\n")
    second = install(python, checkout)
    assert [file for step, file in second if step == "Building"] == ["two.cc.o"]
    assert sum_of(python) == "5"
