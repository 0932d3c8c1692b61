"""The cells of a survey: programs with labels, from TOML files of one line a cell.

    cells = [
      { name = "ppo", command = "python ppo.py", labels = { algorithm = "PPO" } },
    ]

The package's own are in matrix.toml.
"""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from difflib import get_close_matches
from importlib import resources
from pathlib import Path
from typing import Any

from rlscope.errors import RlscopeError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

EVERY = "all"
DEVICE = "{device}"
"""In a command: the device that the survey asks for."""
OWN = "own"
"""Experiment of a cell that names none."""
# A cell is a folder beside the files of a survey, which have a dot in their names.
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
_LARGEST_FILE = 1 << 20


@dataclass(frozen=True)
class Cell:
    """One program of a survey."""

    name: str
    """Its folder below the survey's."""
    command: str
    """Split into words as by a shell, and no more. `python` is the one that runs rlscope, and
    `{device}` the device of the survey."""
    experiment: tuple[str, ...] = (OWN,)
    """What it is a part of."""
    labels: Mapping[str, str] = field(default_factory=dict)
    """What it is compared by: algorithm, framework, mode, environment, policy, ..."""
    needs: tuple[str, ...] = ()
    """Modules that have to be installed."""
    warmup: int = 1
    """Iterations before the first one that is recorded."""
    steps: int | None = None
    """Environment steps of one iteration; None: not known, so nothing is told per step."""
    limit: float | None = None
    """Seconds after which a run is ended that has not ended by itself; None: the survey's."""
    options: tuple[str, ...] = ()
    """Further options of rls-prof."""
    quick: bool = True
    """Part of a quick survey."""

    def arguments(self) -> list[str]:
        """The command as an argument vector."""
        words = shlex.split(self.command)
        return [sys.executable if _is_python(words[0]) else words[0], *words[1:]]

    def label(self, name: str) -> str:
        """The value of a label; "" without it."""
        return self.labels.get(name, "")

    def to_json(self) -> dict[str, Any]:
        """JSON values; from_json() takes them back."""
        return asdict(self) | {"labels": dict(self.labels)}


def _is_python(word: str) -> bool:
    """Whether a command begins with the Python that runs rlscope."""
    return word in ("python", "python3")


def from_json(values: Mapping[str, Any]) -> Cell:
    """Raises ValueError with one clause: not a cell."""
    unknown = sorted(values.keys() - {each.name for each in fields(Cell)})
    if unknown:
        raise ValueError(f"no field {unknown[0]!r}{_meant(unknown[0])}")
    for name in ("name", "command"):
        if name not in values:
            raise ValueError(f"it has no {name}")
    found: dict[str, Any] = {name: _READERS[name](name, value) for name, value in values.items()}
    return Cell(**found)


def read(path: str | Path) -> list[Cell]:
    """The cells of a file.

    Raises RlscopeError: it cannot be read, or is no list of cells.
    """
    try:
        with open(path, "rb") as file:
            text = file.read(_LARGEST_FILE + 1)
    except OSError as error:
        raise RlscopeError(f"cannot read {path}: {error.strerror}") from error
    if len(text) > _LARGEST_FILE:
        raise RlscopeError(
            f"{path} has more than {_LARGEST_FILE:,} bytes: that is not a list of cells"
        )
    return _parse(text, str(path))


def matrix() -> list[Cell]:
    """The package's own cells."""
    return _parse(resources.files("rlscope.survey").joinpath("matrix.toml").read_bytes(), "matrix")


def on_device(found: Iterable[Cell], device: str) -> list[Cell]:
    """The cells with that device in their commands, and as label `device` of those that take it."""
    return [
        replace(
            cell,
            command=cell.command.replace(DEVICE, shlex.quote(device)),
            labels={**cell.labels, "device": device},
        )
        if DEVICE in cell.command
        else cell
        for cell in found
    ]


def joined(own: Iterable[Cell], others: Iterable[Cell]) -> list[Cell]:
    """All cells. Raises RlscopeError: a name is taken."""
    found: dict[str, Cell] = {}
    for cell in (*own, *others):
        if cell.name in found:
            raise RlscopeError(f"two cells are called {cell.name!r}: give one of them another name")
        found[cell.name] = cell
    return list(found.values())


def experiments(cells: Iterable[Cell]) -> list[str]:
    """Those that have a cell, in order of the cells."""
    return list(dict.fromkeys(name for cell in cells for name in cell.experiment))


def chosen(cells: Sequence[Cell], wanted: Sequence[str]) -> list[Cell]:
    """The cells of the experiments `wanted`, or of all.

    Raises ValueError: there is no such experiment.
    """
    known = experiments(cells)
    for name in wanted:
        if name != EVERY and name not in known:
            raise ValueError(f"no experiment {name!r}; there are: {', '.join([*known, EVERY])}")
    return [cell for cell in cells if EVERY in wanted or set(wanted) & set(cell.experiment)]


def named(cells: Sequence[Cell], names: Sequence[str]) -> list[Cell]:
    """The cells with these names, in their own order.

    Raises ValueError: there is no such cell.
    """
    known = [cell.name for cell in cells]
    for name in names:
        if name not in known:
            near = get_close_matches(name, known, n=1)
            meant = f"; did you mean {near[0]}?" if near else "; --list shows those that there are"
            raise ValueError(f"no cell {name!r}{meant}")
    return [cell for cell in cells if cell.name in names]


def _parse(text: bytes, path: str) -> list[Cell]:
    try:
        values = tomllib.loads(text.decode())
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise RlscopeError(f"{path} is not TOML: {error}") from error
    rows = values.pop("cells", None)
    if values or not isinstance(rows, list):
        raise RlscopeError(
            f"{path}: expected `cells = [ {{ name = ..., command = ... }}, ... ]` and nothing else"
        )
    return joined((_cell(row, number, path) for number, row in enumerate(rows, 1)), ())


def _cell(row: Any, number: int, path: str) -> Cell:
    name = row.get("name", number) if isinstance(row, dict) else number
    try:
        if not isinstance(row, dict):
            raise ValueError("it is not a table { name = ..., command = ... }")
        return from_json(row)
    except ValueError as error:
        raise RlscopeError(f"{path}: cell {name}: {error}") from error


def _name(_: str, value: Any) -> str:
    if isinstance(value, str) and _NAME.fullmatch(value):
        return value
    raise ValueError("a name has at most 64 letters, digits, - and _")


def _command(_: str, value: Any) -> str:
    try:
        if isinstance(value, str) and shlex.split(value):
            return value
    except ValueError as error:
        raise ValueError(f"its command cannot be split into words: {error}") from error
    raise ValueError("its command is empty")


def _texts(field_name: str, value: Any) -> tuple[str, ...]:
    if isinstance(value, (list, tuple)) and all(isinstance(each, str) and each for each in value):
        return tuple(value)
    raise ValueError(f"{field_name} is a list of texts")


def _experiments(field_name: str, value: Any) -> tuple[str, ...]:
    found = _texts(field_name, value)
    if not found or EVERY in found:
        raise ValueError(f"experiment is a list of names, none of them {EVERY!r}")
    return tuple(_name(field_name, name) for name in found)


def _labels(_: str, value: Any) -> dict[str, str]:
    if isinstance(value, dict) and all(isinstance(each, str) for each in value.values()):
        return value
    raise ValueError('labels are texts: { algorithm = "PPO" }')


def _count(field_name: str, value: Any) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 32:
        return value
    raise ValueError(f"{field_name} is a whole number, 0 or more")


def _steps(field_name: str, value: Any) -> int | None:
    if value is None:
        return None
    if _count(field_name, value) == 0:
        raise ValueError("steps of an iteration are 1 or more")
    return int(value)


def _limit(field_name: str, value: Any) -> float | None:
    if value is None:
        return None
    if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value < 1e9:
        return float(value)
    raise ValueError(f"{field_name} is a number of seconds above 0")


def _flag(field_name: str, value: Any) -> bool:
    if isinstance(value, bool):
        return value
    raise ValueError(f"{field_name} is true or false")


_READERS = {
    "name": _name,
    "command": _command,
    "experiment": _experiments,
    "labels": _labels,
    "needs": _texts,
    "warmup": _count,
    "steps": _steps,
    "limit": _limit,
    "options": _texts,
    "quick": _flag,
}


def _meant(name: str) -> str:
    near = get_close_matches(name, list(_READERS), n=1)
    return f"; did you mean {near[0]}?" if near else f"; there are: {', '.join(_READERS)}"
