"""Lines of the program that lead to networks while it learns, but for those that train them."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

from rlscope.analysis import groups, learning_verdicts, statement
from rlscope.analysis.called_functions import rows_of_calls
from rlscope.analysis.function_time import NETWORKS, estimate_of
from rlscope.analysis.prices import Price
from rlscope.analysis.source_code import GRADIENTS_OFF, source_of
from rlscope.relations.groups import INFERENCE, LEARNING

if TYPE_CHECKING:
    from rlscope.analysis.critical_loop import Loop
    from rlscope.relations.trace import Trace

Row = Mapping[str, Any]
# Operations without steps of environments, and without acting.
_GROUPS = (LEARNING, "reference", "reward")
# The backward of layers of 48 to 128 units takes 1.6 to 2.0 times as long as their forward.
_WITH_BACKWARD = 3
WITHOUT_BACKWARD = frozenset(("advantage", "inference", "reference", "reward", "target"))
"""Operations whose forwards have none."""
_STATEMENT = "findings/calling_line"
_ASKING = "findings/network_line"
_BACKWARDS = (
    r".*/torch/_tensor\.py:Tensor\.backward",
    r".*/torch/autograd/__init__\.py:backward",
)
_OPTIMIZERS = (r".*/torch/optim/.*:.*",)
# What changes the weights of a network.
_TRAINING = (*_BACKWARDS, r".*/torch/autograd/__init__\.py:grad", *_OPTIMIZERS)


def forward_lines(trace: Trace, loop: Loop) -> list[Row]:
    """Rows of findings/calling_line: lines that lead to networks while the program learns, but for
    those that train, or stand in a loop that does."""
    trained = lines_to(trace, loop, _TRAINING)
    return [row for row in leading_lines(trace, loop) if not _is_training(trace, row, trained)]


def leading_lines(trace: Trace, loop: Loop) -> Sequence[Row]:
    """The same with lines that train, or stand in a loop that does."""
    return rows_of_calls(trace, _STATEMENT, **asked(trace, loop, NETWORKS))


def network_lines(trace: Trace, loop: Loop) -> list[Row]:
    """Rows of findings/network_line: lines that call networks themselves while the program learns
    or acts, those of networks too that ask others; but for lines in a loop that trains."""
    of_networks = asked(trace, loop, NETWORKS, acting=True)
    if not of_networks["operations"]:
        return []
    rows = rows_of_calls(trace, _ASKING, **of_networks, waits=False)
    trained = lines_to(trace, loop, _TRAINING)
    return [row for row in rows if not _is_training(trace, row, trained)]


def all_forwards(trace: Trace, loop: Loop) -> list[Row]:
    """Rows of findings/calling_line of all lines that ask a network which no other one asks."""
    return direct(leading_lines(trace, loop))


def backward_lines(trace: Trace, loop: Loop) -> Sequence[Row]:
    """The same of lines that lead to backwards."""
    return rows_of_calls(trace, _STATEMENT, **asked(trace, loop, _BACKWARDS))


def optimizer_lines(trace: Trace, loop: Loop) -> Sequence[Row]:
    """The same of lines that lead to optimizers."""
    return rows_of_calls(trace, _STATEMENT, **asked(trace, loop, _OPTIMIZERS))


def direct(rows: Sequence[Row]) -> list[Row]:
    """Those of lines that make the call themselves."""
    return [row for row in rows if learning_verdicts.is_direct_caller(row["distance"])]


def time_with_backward(trace: Trace, rows: Sequence[Row]) -> Price:
    """Of rows of forward_lines, with their backward where they have one."""
    alone = [row for row in rows if not has_backward(trace, row)]
    others = [row for row in rows if row not in alone]
    time = time_of(others).times(_WITH_BACKWARD)
    return time.plus(time_of(alone)) if alone else time


def has_backward(trace: Trace, row: Row) -> bool:
    """Whether the forwards of a line have one."""
    if source_of(trace, row["file"]).is_under(row["line"], GRADIENTS_OFF):
        return False
    return row["operation"].rpartition("/")[2] not in WITHOUT_BACKWARD


def whole_ns(trace: Trace, loop: Loop, row: Row, lines: Container[int] = ()) -> float:
    """Time of a line, with what else it computes beside what leads to the network; or of `lines`
    of its file, in the same operation."""
    asked_of = {"process_id": loop.process_id, "file": row["file"]}
    all_ns = sum(
        each["total_ns"]
        for each in statement.run(trace, "findings/line_operation", **asked_of).to_dicts()
        if each["operation"] == row["operation"] and each["line"] in (lines or (row["line"],))
    )
    return max(float(all_ns), float(row.get("total_ns", 0)))


def time_of(rows: Sequence[Row]) -> Price:
    """Of rows of findings/calling_line."""
    return estimate_of([{**row, "own_ns": row["total_ns"]} for row in rows])


def lines_to(trace: Trace, loop: Loop, functions: Sequence[str]) -> set[tuple[str, int]]:
    """Lines that lead to some functions while the program learns."""
    rows = rows_of_calls(trace, _STATEMENT, **asked(trace, loop, functions))
    return {(row["file"], row["line"]) for row in rows}


def are_training(trace: Trace, loop: Loop, file: str, place: tuple[int, int]) -> bool:
    """Whether lines of a file, from one to another, lead to what changes a network."""
    return _are_in(lines_to(trace, loop, _TRAINING), file, place)


def shown(trace: Trace, loop: Loop) -> str:
    """The question for the lines that lead to networks, to be asked again."""
    return statement.shown(_STATEMENT, **asked(trace, loop, NETWORKS))


def networks_shown(trace: Trace, loop: Loop) -> str:
    """The same for the lines that call networks, inside of others too."""
    return statement.shown(_ASKING, **asked(trace, loop, NETWORKS), waits=False)


def backwards_shown(trace: Trace, loop: Loop) -> str:
    """The same for the lines that lead to backwards."""
    return statement.shown(_STATEMENT, **asked(trace, loop, _BACKWARDS))


def asked(
    trace: Trace, loop: Loop, functions: Sequence[str], *, acting: bool = False
) -> dict[str, Any]:
    """What a question about calls of some functions while the program learns is asked with.

    Args:
        acting: also while it chooses actions.
    """
    names = (*_GROUPS, INFERENCE) if acting else _GROUPS
    paths = (groups.paths_in(trace, loop.process_id, group) for group in names)
    operations = [*chain.from_iterable(paths)]
    return {
        "process_id": loop.process_id,
        "operations": operations,
        "functions": list(functions),
    }


def _is_training(trace: Trace, row: Row, trained: Container[tuple[str, int]]) -> bool:
    """Whether a line, or the loop around it, changes networks from pass to pass."""
    file, line = row["file"], row["line"]
    return _are_in(trained, file, source_of(trace, file).loop_at(line) or (line, line))


def _are_in(trained: Container[tuple[str, int]], file: str, place: tuple[int, int]) -> bool:
    return any((file, line) in trained for line in range(place[0], place[1] + 1))
