"""Which lines of a program's text make the same in each call of their function."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from enum import Enum, auto

from rlscope.analysis.constant_values import is_changed, is_constant, is_kept
from rlscope.analysis.list_code import number_of
from rlscope.analysis.repeated_calls import given
from rlscope.analysis.source_code import Source, name_of
from rlscope.analysis.unchanged_arrays import summary_at

# Functions of NumPy that make an array of numbers alone.
_MAKERS = frozenset(
    f"{module}.{name}"
    for module in ("np", "numpy")
    for name in "arange array asarray eye full geomspace identity linspace logspace meshgrid ones"
    " zeros".split()
)
_MANY = 1000
_IDENTITIES = frozenset(("eye", "identity"))
# What makes an array, or a tensor, of another one.
_CONVERTS = frozenset("FloatTensor array as_tensor asarray tensor".split())
READERS = frozenset("ast.literal_eval json.loads orjson.loads pickle.loads yaml.safe_load".split())
"""Functions that make objects of a text."""


class Kind(Enum):
    """What is the same in each call."""

    MADE = auto()
    """An array or objects, of constants."""
    SUMMARY = auto()
    """What is made of all of an array that does not change."""
    CONVERTED = auto()
    """Such an array, as another library or type has it, of which rows are taken."""
    IDENTITY = auto()
    """A matrix of which a row is taken, and that only its size makes."""


@dataclass(frozen=True)
class Constant:
    """What a line makes."""

    name: str
    """The function that makes it, or the variable for what is computed."""
    is_all: bool
    """Whether the line does nothing else."""
    kind: Kind = Kind.MADE
    part: float = 1.0
    """Of the line's time, as far as the text tells: that of one call, unless it is a large one."""


def constant_call(source: Source, line: int) -> Constant | None:
    """What a line of a function, or of a loop, makes of constants alone, if nothing changes it: by
    a function of NumPy, np.linspace(-1, 1, 40), by one that reads a text, or by arithmetic. Or the
    summary of an array that does not change, self.states.std(0), its conversion, or a row of an
    identity matrix."""
    function = source.function_node(line) or (source.tree if source.loop_at(line) else None)
    tree = source.tree
    if function is None or tree is None:
        return None
    at_line = [node for node in ast.walk(function) if getattr(node, "lineno", None) == line]
    calls = [node for node in at_line if isinstance(node, ast.Call)]
    for call in (each for each in calls if ast.unparse(each.func) in _MAKERS | READERS):
        if all(is_constant(tree, function, each) for each in given(call)):
            is_all = any(_only_names(node, call) for node in at_line)
            part = 1.0 if is_all or _is_large(source, call) else 1 / len(calls)
            made = Constant(ast.unparse(call.func), is_all, part=part)
            return None if is_changed(function, call) else made
    for node in at_line:
        if isinstance(node, ast.Assign) and isinstance(value := node.value, (ast.BinOp, ast.Call)):
            if _only_names(node, value) and is_constant(tree, function, value):
                made = Constant(ast.unparse(node.targets[0]), is_all=True)
                return None if is_changed(function, value) else made
    identity = next((each for each in at_line if _is_row_of_identity(each)), None)
    if isinstance(identity, ast.Subscript):
        return Constant(ast.unparse(identity.value), is_all=True, kind=Kind.IDENTITY)
    converted = next((each for each in calls if _is_converted(source, function, each)), None)
    if converted is not None:
        return Constant(ast.unparse(converted.func), is_all=False, kind=Kind.CONVERTED)
    summary = summary_at(source, line)
    if summary is None:
        return None
    is_all = any(isinstance(node, ast.Assign) and _is_of(node, summary) for node in at_line)
    return Constant(name_of(summary.func), is_all, kind=Kind.SUMMARY)


def _is_row_of_identity(node: ast.AST) -> bool:
    """np.eye(n)[state], np.identity(n)[state : state + 1]"""
    if not isinstance(node, ast.Subscript) or not isinstance(node.value, ast.Call):
        return False
    return name_of(node.value.func) in _IDENTITIES


def _is_converted(source: Source, function: ast.AST, call: ast.Call) -> bool:
    """Whether all of an array that is made once is converted, to take some rows of the result:
    torch.as_tensor(self.states)[rows]; in one function that returns it, or its caller."""
    if name_of(call.func) not in _CONVERTS or not call.args or source.tree is None:
        return False
    array = call.args[0]
    if isinstance(array, ast.Subscript) and not isinstance(array.slice, ast.Slice):
        array = array.value  # one of several, by its name: rows of it would not be taken again
    if not isinstance(array, (ast.Attribute, ast.Name)):
        return False
    taken = [
        node.value
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Call)
    ]
    returns = any(
        isinstance(node, ast.Return) and node.value is call for node in ast.walk(function)
    )
    is_of_caller = returns and any(
        name_of(each.func) == getattr(function, "name", None) for each in taken
    )
    return (call in taken or is_of_caller) and is_kept(source.tree, function, array)


def _is_large(source: Source, call: ast.Call) -> bool:
    """Whether a call makes many numbers, or reads a text: its time is most of its line's."""
    if ast.unparse(call.func) in READERS:
        return True
    parts = [part for each in given(call) for part in ast.walk(each) if isinstance(part, ast.expr)]
    numbers = (number_of(source, part, call.lineno) for part in parts)
    return any(number is not None and number >= _MANY for number in numbers)


def _is_of(stmt: ast.Assign, call: ast.Call) -> bool:
    """Whether a statement names what a call returns, or that and some numbers."""
    inside = [*ast.walk(call)]
    parts = (part for part in ast.walk(stmt.value) if isinstance(part, (ast.Name, ast.Attribute)))
    return all(any(part is each for each in inside) for part in parts)


def _only_names(node: ast.AST, value: ast.expr) -> bool:
    """Whether a statement does nothing but name a value, or go through it."""
    if isinstance(node, ast.For):
        return node.iter is value
    is_named = isinstance(node, ast.Assign) and node.value is value
    return is_named and all(isinstance(each, ast.Name) for each in getattr(node, "targets", ()))
