"""Lines whose arithmetic is on whole arrays, as far as the program's text says so."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from functools import lru_cache

from rlscope.analysis.random_draws import draws_array, draws_number
from rlscope.analysis.source_code import Source, name_of
from rlscope.analysis.trained_networks import pairs_of

_LIBRARIES = frozenset(("jnp", "np", "numpy", "tf", "th", "torch"))
# Functions of these libraries that make one number of an array, or of numbers.
_NUMBERS = {
    *"all allclose any argmax argmin choice count_nonzero dot item max mean".split(),
    *"median min norm prod std sum tolist var vdot float32 float64 int32 int64 uint8".split(),
}
_MOST_CHAINED = 3  # y = np.sin(x), z = np.cos(y), ...
# Those that make an array of an array, and a number of a number.
_OF_EACH = {
    *"abs arccos arcsin arctan arctan2 atan2 ceil clip cos deg2rad degrees exp exponential".split(),
    *"floor hypot isclose isfinite isnan log log10 log2 maximum minimum power rad2deg".split(),
    *"radians round sign sin sqrt square tan tanh".split(),
}


def handles_arrays(source: Source, line: int) -> bool:
    """Whether an operand of a line's arithmetic is a whole array: the result of a function of NumPy
    or PyTorch that makes one, or what was set to such a result, or to a sum with one."""
    arrays = _arrays(source, line)
    return any(
        _is_array(operand, arrays)
        for node in source.around(line)
        if isinstance(node, (ast.BinOp, ast.AugAssign))
        for operand in _operands(node)
    )


def _operands(node: ast.BinOp | ast.AugAssign) -> Iterator[ast.expr]:
    yield from (node.left, node.right) if isinstance(node, ast.BinOp) else (node.target, node.value)


def _is_array(value: ast.expr, arrays: Collection[str]) -> bool:
    """An entry of an array is none, but a stretch of it is, and only arrays have x[:, None]."""
    if isinstance(value, ast.BinOp):
        return isinstance(value.op, ast.MatMult) or any(
            _is_array(each, arrays) for each in _operands(value)
        )
    if isinstance(value, ast.UnaryOp):
        return _is_array(value.operand, arrays)
    if isinstance(value, ast.Subscript):
        if isinstance(value.slice, ast.Tuple):
            return any(isinstance(each, ast.Slice) for each in value.slice.elts)
        return isinstance(value.slice, ast.Slice) and _is_array(value.value, arrays)
    if isinstance(value, ast.Call):
        return _makes_array(value, arrays)
    return ast.unparse(value) in arrays


def _makes_array(call: ast.Call, arrays: Collection[str]) -> bool:
    if draws_array(call):
        return True
    if ast.unparse(call.func).partition(".")[0] not in _LIBRARIES:
        return False
    if name_of(call.func) in _OF_EACH:
        return any(_is_array(each, arrays) for each in call.args)
    return name_of(call.func) not in _NUMBERS and not draws_number(call)


def _arrays(source: Source, line: int) -> frozenset[str]:
    """Variables of the function around a line, and attributes of the file, that are set to arrays,
    and never to anything else."""
    function = source.function_node(line) or source.tree or ast.Module([], [])
    names = _set_to_arrays(function, ast.Name)
    return names | _set_to_arrays(source.tree or function, ast.Attribute)


@lru_cache(maxsize=256)
def _set_to_arrays(around: ast.AST, kind: type[ast.expr]) -> frozenset[str]:
    """A file is gone through once, and not for each of its lines."""
    found: set[str] = set()
    set_to = [(ast.unparse(name), value) for name, value in _set(around) if isinstance(name, kind)]
    for _ in range(_MOST_CHAINED):
        found |= {name for name, value in set_to if _is_array(value, found)}
    return frozenset(found - {name for name, value in set_to if not _is_array(value, found)})


def _set(around: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    """What is assigned, and its value: x, v = (np.zeros(n) for _ in range(2)) are two arrays."""
    assigned = (node for node in ast.walk(around) if isinstance(node, ast.Assign))
    for node in assigned:
        for target in node.targets:
            parts = target.elts if isinstance(target, (ast.Tuple, ast.List)) else None
            if parts and isinstance(node.value, (ast.GeneratorExp, ast.ListComp)):
                yield from ((part, node.value.elt) for part in parts)
            else:
                yield from pairs_of(target, node.value)
