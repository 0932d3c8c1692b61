"""Libraries that not every environment has: their tests are skipped there, unless they must run.

RLSCOPE_TEST_REQUIRE lists the modules, joined by commas, whose absence fails a test: the targets
that install a library for its tests set it, so that they cannot pass by skipping.
"""

from __future__ import annotations

import importlib.util
import os

import pytest

_REQUIRED = os.environ.get("RLSCOPE_TEST_REQUIRE", "").split(",")


def need(*modules: str) -> None:
    """Skips the running test if one of these modules is missing, or fails it if it is required."""
    for module in modules:
        if importlib.util.find_spec(module) is None:
            absent = pytest.fail if module in _REQUIRED else pytest.skip
            absent(f"{module} is not installed")
