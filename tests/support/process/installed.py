"""Libraries that not every environment has: their tests are skipped there, unless they must run.

RLSCOPE_TEST_REQUIRE lists the modules, joined by commas, whose absence fails a test: the targets
that install a library for its tests set it, so that they cannot pass by skipping. It may name the
target instead, for tests that say which one installs what they need.
"""

from __future__ import annotations

import importlib.util
import os

import pytest

_REQUIRED = [name for name in os.environ.get("RLSCOPE_TEST_REQUIRE", "").split(",") if name]


def need(*modules: str, target: str = "") -> None:
    """Skips the running test if one of these modules is missing, or fails it if it is required.

    Args:
        target: which target of the Makefile installs them.
    """
    for module in modules:
        if importlib.util.find_spec(module) is None:
            absent = pytest.fail if {module, target} & {*_REQUIRED} else pytest.skip
            absent(f"{module} is not installed")


def is_for(*modules: str) -> bool:
    """Whether the running target requires one of these modules. `make test` requires none: all."""
    return not _REQUIRED or bool({*modules} & {*_REQUIRED})
