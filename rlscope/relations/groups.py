"""Operations by their part in the algorithm: simulation, inference, learning.

docs/reference/semantics.md ("Shares in the report") has the rule.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from rlscope import _trace

SIMULATION = "simulation"
EVALUATION = "evaluation"
INFERENCE = "inference"
LEARNING = "learning"
RENDERING = "rendering"

_NAMES = {
    EVALUATION: "evaluation evaluate eval validation validate",
    SIMULATION: "simulation simulate simulator env_step env.step environment env physics",
    INFERENCE: "inference infer act predict policy select_action sample_action",
    "generation": "generation generate",
    "reference": "reference",
    "reward": "reward",
    LEARNING: " ".join(_trace.LEARNING_NAMES),
    "replay": "replay replay_buffer",
    RENDERING: "rendering render",
    "compilation": "compilation compile",
    "saving": "saving save checkpoint",
    "loading": "loading load",
    "closing": "closing",
    "import": "import imports",
}
GROUPS = tuple(_NAMES)
_GROUP_OF = {name: group for group, names in _NAMES.items() for name in names.split()}
# Part of whatever encloses it: inference has a forward pass as well as learning.
_FORWARD = "forward"
_SLASH = re.compile(r"(?<!\\)(?:\\\\)*/")


def group_of(path: str) -> str:
    """The group of an operation by its path.

    >>> group_of("train/target"), group_of("inference/forward"), group_of("rollout")
    ('learning', 'inference', 'rollout')
    """
    names = _plain_names(path.lower())
    known = [name for name in names if name in _GROUP_OF]
    if any(_GROUP_OF[name] == EVALUATION for name in known):
        return EVALUATION
    enclosing = [name for name in known if name != _FORWARD]
    if enclosing and known[-1] == _FORWARD:
        return _GROUP_OF[enclosing[-1]]
    return _GROUP_OF[known[-1]] if known else path


def outermost_of(group: str, paths: Iterable[str]) -> list[str]:
    """Those paths of a group that lie in none of its other paths.

    >>> outermost_of("simulation", ["env", "env/physics", "train"])
    ['env']
    """
    found = [path for path in paths if group_of(path) == group]
    return [path for path in found if not any(path.startswith(f"{each}/") for each in found)]


def first_name(path: str) -> str:
    """The outermost name of a path, as names are compared.

    >>> first_name("Setup:data/read")
    'setup'
    """
    return _plain_names(path.lower())[0]


def _plain_names(path: str) -> list[str]:
    """Paths of recursions have thousands of names: most paths are split without a pattern."""
    names = _SLASH.split(path) if "\\" in path else path.split("/")
    return [name.partition(":")[0] for name in names] if ":" in path else names
