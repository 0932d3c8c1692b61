"""Which calls of a program's text draw at random: one number, or an array of them."""

from __future__ import annotations

import ast

from rlscope.analysis.source_code import name_of

# Functions of Python, NumPy and PyTorch that draw, by how many arguments may stand before the one
# that says how many they draw.
_BEFORE_SIZE = {
    **dict.fromkeys(("rand", "randn", "random", "random_sample"), 0),
    **dict.fromkeys(("standard_exponential", "standard_normal"), 0),
    **dict.fromkeys(("expovariate", "exponential", "poisson"), 1),
    **dict.fromkeys(("beta", "betavariate", "gammavariate", "gauss", "lognormvariate"), 2),
    **dict.fromkeys(("integers", "normal", "normalvariate", "randint", "uniform"), 2),
    "triangular": 3,
}
# Those that draw from what they are given, or as many as it has.
_OF_WHAT_IS_GIVEN = frozenset(
    "bernoulli choice dropout multinomial permutation rand_like randn_like randperm shuffle".split()
)
# Arguments that say how many, or that only functions take which draw arrays.
_OF_ARRAYS = frozenset(("device", "dtype", "generator", "out", "size"))


_PERMUTATIONS = frozenset(("permutation", "randperm"))


def is_cut_permutation(node: ast.AST) -> bool:
    """Whether it is the beginning of a permutation of all numbers: randperm(n)[:64]."""
    return (
        isinstance(node, ast.Subscript)
        and isinstance(node.slice, ast.Slice)
        and node.slice.lower is None
        and node.slice.upper is not None
        and isinstance(node.value, ast.Call)
        and name_of(node.value.func) in _PERMUTATIONS
    )


def draws(call: ast.Call) -> bool:
    return name_of(call.func) in _OF_WHAT_IS_GIVEN or name_of(call.func) in _BEFORE_SIZE


def draws_number(call: ast.Call) -> bool:
    """Whether it draws one number: random.gauss(0, 1), rng.random(). A tensor of one is none."""
    most = _BEFORE_SIZE.get(name_of(call.func), -1)
    is_told = any(each.arg in _OF_ARRAYS for each in call.keywords)
    return len(call.args) <= most and not is_told and not ast.unparse(call).startswith("torch.")


def draws_array(call: ast.Call) -> bool:
    """Whether it is told how many to draw: rng.random(8), rng.normal(size=n)."""
    before = _BEFORE_SIZE.get(name_of(call.func))
    is_told = any(each.arg == "size" for each in call.keywords)
    return before is not None and (len(call.args) > before or is_told)
