"""Short names of source files."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from rlscope.report import units

_LIBRARY = re.compile(r".*/(?:site-packages|dist-packages|lib/python3\.\d+)/(.+)", re.DOTALL)
Names = dict[str, str]


def short(files: Iterable[str]) -> Names:
    """A name for each file: from the folder of its package on, and of others the last parts of its
    path that no other one has.

    >>> short(["/home/me/ppo.py", "/v/lib/python3.11/site-packages/torch/optim/adam.py"])
    {'/home/me/ppo.py': 'ppo.py', '/v/lib/python3.11/site-packages/torch/optim/adam.py': \
'torch/optim/adam.py'}
    """
    paths = list(dict.fromkeys(files))
    libraries = {path: found[1] for path in paths if (found := _LIBRARY.fullmatch(path))}
    own = [path for path in paths if path not in libraries]
    counts = Counter(name for path in own for name in _endings(path))
    names = {
        path: next((name for name in _endings(path) if counts[name] == 1), path) for path in own
    }
    return libraries | names


def _endings(path: str) -> list[str]:
    """The last part, the last two, and so on."""
    parts = path.split("/")
    return ["/".join(parts[place:]) for place in range(len(parts) - 1, -1, -1)]


def place(row: Mapping[str, Any], names: Names) -> str:
    """ "ppo.py:184" of a row with file and line; "" without file."""
    if row["file"] is None:
        return ""
    line = "" if row["line"] is None else f":{row['line']}"
    return units.visible(f"{names[row['file']]}{line}")
