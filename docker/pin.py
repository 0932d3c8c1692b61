"""Writes docker/constraints.txt: the newest versions that pyproject.toml allows, of all that the
images install. Run it by the Python that the images have, 3.11: `python docker/pin.py`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import tomllib  # novm

DOCKER = Path(__file__).resolve().parent
PROJECT = tomllib.loads((DOCKER.parent / "pyproject.toml").read_text())
HEAD = """\
# Every version in the images, for Python 3.11; docker/pin.py wrote it.
# PyTorch is the release that the tests run with; NVIDIA's libraries are what it needs for CUDA.
"""


def wanted() -> list[str]:
    """The project with the libraries of its survey, its tests' PyTorch, and what builds it."""
    extras = PROJECT["project"]["optional-dependencies"]
    torch = [line for line in extras["test"] if line.startswith("torch==")]
    return [f"{DOCKER.parent}[torch,gym,survey]", *torch, *PROJECT["build-system"]["requires"]]


def resolved() -> list[str]:
    """`name==version` of each package that pip would install from PyPI; installs nothing.

    From no folder of wheels: PyTorch for the CPU would need none of NVIDIA's libraries.
    """
    pip = [sys.executable, "-m", "pip", "install", "--dry-run", "--ignore-installed", "--quiet"]
    environ = {name: value for name, value in os.environ.items() if name != "PIP_FIND_LINKS"}
    environ["PIP_CONFIG_FILE"] = os.devnull
    command = [*pip, "--report", "-", *wanted()]
    done = subprocess.run(command, stdout=subprocess.PIPE, env=environ, check=True)
    found = [package["metadata"] for package in json.loads(done.stdout)["install"]]
    return [f"{one['name']}=={one['version']}" for one in found if one["name"] != "rlscope"]


if __name__ == "__main__":
    if sys.version_info[:2] != (3, 11):
        sys.exit(
            "pin.py: the images have Python 3.11, and other packages may be needed on this one"
        )
    lines = sorted(resolved(), key=str.lower)
    (DOCKER / "constraints.txt").write_text(HEAD + "\n".join(lines) + "\n")
    print(f"{len(lines)} versions: {DOCKER / 'constraints.txt'}")
