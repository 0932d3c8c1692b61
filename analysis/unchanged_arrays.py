"""Arrays of a program's text that are made once and never changed, as those of a data set are.

What summarises one of them is the same whenever it is computed:

    self.states = np.load("states.npy")       # in __init__
    (states - self.states.mean(0))
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache

from rlscope.analysis.constant_values import only_reads
from rlscope.analysis.source_code import LOOPS, SCOPES, Source, name_of

# What goes through all of an array, and gives less, or the same in another order.
_SUMMARIES = frozenset(
    "all any argmax argmin argsort average bincount corrcoef cov cumsum histogram max mean median"
    " min nanmean nanstd norm percentile ptp quantile sort std sum unique var".split()
)
# What else reads an array, by its name.
_READS = frozenset("T astype copy dtype flatten itemsize nbytes ndim shape size tolist".split())
# What shows that a value is an array of NumPy, and no tensor that an optimizer changes.
_MODULES = frozenset(("np", "numpy"))


def summary_at(source: Source, line: int) -> ast.Call | None:
    """The call of a line of a function that summarises all of such an array: self.states.std(0),
    np.mean(STATES, axis=0). None: there is none."""
    function, tree = source.function_node(line), source.tree
    if function is None or tree is None:
        return None
    for call in ast.walk(function):
        if isinstance(call, ast.Call) and call.lineno == line and name_of(call.func) in _SUMMARIES:
            array = _summarised(call)
            if isinstance(array, (ast.Name, ast.Attribute)) and _is_unchanged(
                tree, function, ast.unparse(array)
            ):
                return call
    return None


def _summarised(call: ast.Call) -> ast.expr | None:
    """What all other arguments of a summary are numbers for."""
    owner = getattr(call.func, "value", None)
    is_function = isinstance(owner, ast.expr) and _is_of_numpy(owner)
    array, others = (call.args[:1], call.args[1:]) if is_function else ([owner], call.args)
    others = [*others, *(each.value for each in call.keywords)]
    parts = (part for each in others for part in ast.walk(each))
    are_numbers = not any(isinstance(part, (ast.Name, ast.Attribute)) for part in parts)
    return array[0] if array and are_numbers else None


def _is_of_numpy(value: ast.expr) -> bool:
    """Whether a module, or what a function is of, is NumPy: np, np.linalg."""
    return ast.unparse(value).partition(".")[0] in _MODULES


def _is_unchanged(tree: ast.AST, reader: ast.AST, array: str) -> bool:
    """Whether a function sees the same array in each call: `self.states`, or a variable of the
    file."""
    name = array.rpartition(".")[2]
    if array not in (name, f"self.{name}") or any(
        isinstance(node, ast.arg) and node.arg == array for node in ast.walk(reader)
    ):
        return False
    found = _places(tree).get(name, [])
    made = [(node, around) for node, around in found if not isinstance(node.ctx, ast.Load)]
    if len(made) != 1 or not _is_made_once(made[0][1], is_attribute=array != name):
        return False
    return all(_is_read(around[-1]) for node, around in found if node is not made[0][0])


def _is_made_once(around: tuple[ast.AST, ...], *, is_attribute: bool) -> bool:
    """Whether a statement makes an array as an object is made, or as the file is read, and makes
    no tensor, which an optimizer may change."""
    scopes = [getattr(each, "name", "") for each in around if isinstance(each, SCOPES)]
    if scopes != ["__init__"] * is_attribute or any(isinstance(each, LOOPS) for each in around):
        return False
    stmt = around[-1]
    if not isinstance(stmt, (ast.Assign, ast.AnnAssign)) or stmt.value is None:
        return False
    calls = [node for node in ast.walk(stmt.value) if isinstance(node, ast.Call)]
    return any(_is_of_numpy(call.func) or name_of(call.func) == "astype" for call in calls)


def _is_read(user: ast.AST) -> bool:
    """Whether what is done to an array only reads it: nobody else gets it to keep or to change."""
    if isinstance(user, ast.Subscript):
        return isinstance(user.ctx, ast.Load)
    if isinstance(user, ast.Attribute):
        return user.attr in _READS | _SUMMARIES - {"sort"}
    if isinstance(user, ast.Call):
        return only_reads(user)
    return isinstance(user, (ast.BinOp, ast.Compare, ast.UnaryOp))


@lru_cache(maxsize=8)
def _places(tree: ast.AST) -> dict[str, list[tuple[ast.Name | ast.Attribute, tuple[ast.AST, ...]]]]:
    """Variables and attributes by their last names, each with what is around it, to the nearest."""
    found: dict[str, list[tuple[ast.Name | ast.Attribute, tuple[ast.AST, ...]]]] = {}
    for node, around in _nodes(tree, ()):
        if isinstance(node, (ast.Name, ast.Attribute)):
            name = node.id if isinstance(node, ast.Name) else node.attr
            found.setdefault(name, []).append((node, around))
    return found


def _nodes(
    node: ast.AST, around: tuple[ast.AST, ...]
) -> Iterator[tuple[ast.AST, tuple[ast.AST, ...]]]:
    yield node, around
    for child in ast.iter_child_nodes(node):
        yield from _nodes(child, (*around, node))
