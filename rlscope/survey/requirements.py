"""Libraries that cells need, and how to install those that are missing."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable
from functools import cache

from rlscope.survey.cells import Cell

# Module -> extra of this package; of others the remedy is their own name.
_EXTRAS = {
    "torch": "torch",
    "tensorflow": "tensorflow",
    "keras": "tensorflow",
    "jax": "jax",
    "gymnasium": "gym",
    "mujoco": "mujoco",
    "ale_py": "ale",
    "cv2": "ale",
    "Box2D": "box2d",
    "pybullet": "pybullet",
    "pybullet_envs_gymnasium": "pybullet",
    "envpool": "envpool",
    "stable_baselines3": "sb3",
}
ALL = "survey"
"""The extra that has every library of the package's own cells."""


def missing(cell: Cell) -> list[str]:
    """The modules that are not there, of those that the cell needs."""
    return [module for module in cell.needs if not _is_there(module)]


def remedy(modules: Iterable[str]) -> str:
    """What to install for them: "pip install 'rlscope[jax]'"."""
    wanted = [
        f"'rlscope[{_EXTRAS[module]}]'" if module in _EXTRAS else module for module in modules
    ]
    return f"pip install {' '.join(dict.fromkeys(wanted))}"


def absence(cell: Cell) -> str:
    """Why the cell cannot run here; "" where it can."""
    modules = missing(cell)
    if not modules:
        return ""
    verb = "is" if len(modules) == 1 else "are"
    return f"{', '.join(modules)} {verb} not installed: {remedy(modules)}"


@cache
def _is_there(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except (ImportError, ValueError):
        return False
