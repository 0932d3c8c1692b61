"""Fails where the Python that runs this can make no venv, or has no headers to compile extensions.

Debian has both in packages of their own.
"""

from __future__ import annotations

import os
import sys
import sysconfig
from importlib.util import find_spec


def missing() -> list[str]:
    """The Debian packages that have what is missing."""
    python = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    header = os.path.join(sysconfig.get_path("include"), "Python.h")
    packages = {
        f"{python}-venv": find_spec("ensurepip") and find_spec("venv"),
        f"{python}-dev": os.path.exists(header),
    }
    return [package for package, there in packages.items() if not there]


if __name__ == "__main__":
    packages = missing()
    if packages:
        sys.exit(f"{sys.executable} is incomplete; on Debian: apt-get install {' '.join(packages)}")
