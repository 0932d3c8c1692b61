#!/bin/sh
# wheel.sh FOLDER: builds rlscope's wheel from the sources in the current folder.
set -eu
python3 -m venv /tmp/build
# pip reads the variable for what it builds with, too: setuptools, CMake, ninja, nanobind.
PIP_CONSTRAINT=/docker/constraints.txt /tmp/build/bin/pip wheel --quiet --no-deps --no-cache-dir -w "$1" .
rm -rf /tmp/build
