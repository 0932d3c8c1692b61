"""Lines of the program that lead to networks while it learns, but for those that train them."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

from rlscope.analysis import groups, statement
from rlscope.analysis.function_time import NETWORKS
from rlscope.analysis.source_code import source_of
from rlscope.relations.groups import LEARNING

if TYPE_CHECKING:
    from rlscope.analysis.critical_loop import Loop
    from rlscope.relations.trace import Trace

Row = Mapping[str, Any]
# Operations without steps of environments, and without acting.
_GROUPS = (LEARNING, "reference", "reward")
_STATEMENT = "findings/calling_line"
# What changes the weights of a network.
_TRAINING = (
    r".*/torch/_tensor\.py:Tensor\.backward",
    r".*/torch/autograd/__init__\.py:(backward|grad)",
    r".*/torch/optim/.*:.*",
)


def forward_lines(trace: Trace, loop: Loop) -> list[Row]:
    """Rows of findings/calling_line: lines that lead to networks while the program learns, but for
    those that train, or stand in a loop that does."""
    asked = asked_of_forwards(trace, loop)
    rows = statement.run(trace, _STATEMENT, **asked).to_dicts()
    trained = _lines_to(trace, asked, _TRAINING)
    return [row for row in rows if not _is_training(trace, row, trained)]


def asked_of_forwards(trace: Trace, loop: Loop) -> dict[str, Any]:
    """The parameters of that question."""
    paths = (groups.paths_in(trace, loop.process_id, group) for group in _GROUPS)
    return {
        "process_id": loop.process_id,
        "operations": [*chain.from_iterable(paths)],
        "functions": list(NETWORKS),
    }


def shown(trace: Trace, loop: Loop) -> str:
    """The question, to be asked again."""
    return statement.shown(_STATEMENT, **asked_of_forwards(trace, loop))


def lines_to(trace: Trace, loop: Loop, functions: Sequence[str]) -> set[tuple[str, int]]:
    """Lines that lead to some functions while the program learns."""
    return _lines_to(trace, asked_of_forwards(trace, loop), functions)


def _lines_to(
    trace: Trace, asked: Mapping[str, Any], functions: Sequence[str]
) -> set[tuple[str, int]]:
    rows = statement.run(trace, _STATEMENT, **{**asked, "functions": list(functions)}).to_dicts()
    return {(row["file"], row["line"]) for row in rows}


def are_training(trace: Trace, loop: Loop, file: str, place: tuple[int, int]) -> bool:
    """Whether lines of a file, from one to another, lead to what changes a network."""
    return _are_training(lines_to(trace, loop, _TRAINING), file, place)


def _are_training(trained: Container[tuple[str, int]], file: str, place: tuple[int, int]) -> bool:
    return any((file, line) in trained for line in range(place[0], place[1] + 1))


def _is_training(trace: Trace, row: Row, trained: Container[tuple[str, int]]) -> bool:
    """Whether a line, or the loop around it, changes networks from pass to pass."""
    file, line = row["file"], row["line"]
    return _are_training(trained, file, source_of(trace, file).loop_at(line) or (line, line))
