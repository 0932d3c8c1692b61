"""A matrix is inverted again and again, to which a product of two vectors was added."""

from __future__ import annotations

import ast

from rlscope.analysis.function_rule import of_calls
from rlscope.analysis.repeated_calls import given
from rlscope.analysis.source_code import Source, name_of

_INVERTS = frozenset(("inv", "pinv", "solve"))
_PRODUCTS = frozenset(("einsum", "ger", "outer"))


def inverts_sum(source: Source, line: int) -> bool:
    """Whether a line inverts a matrix that the file makes a sum of products of vectors:
    np.linalg.inv(self.A), and self.A += np.outer(x, x)."""
    tree = source.tree or ast.Module([], [])
    asked = {
        _last_name(each)
        for call in _calls_at(source, line)
        if name_of(call.func) in _INVERTS
        for each in given(call)[:1]
    }
    return any(_adds_product(node) in asked for node in ast.walk(tree)) if asked else False


def _calls_at(source: Source, line: int) -> list[ast.Call]:
    return [node for node in source.around(line) if isinstance(node, ast.Call)]


def _last_name(value: ast.expr) -> str:
    """Of a matrix, or of one of several: A of self.A, and of self.A[arm]."""
    return name_of(value.value if isinstance(value, ast.Subscript) else value)


def _adds_product(node: ast.AST) -> str | None:
    """The matrix to which a statement adds a product of vectors."""
    added = _added(node)
    if added is None:
        return None
    target, value = added
    is_product = any(
        (isinstance(part, ast.Call) and name_of(part.func) in _PRODUCTS) or _is_outer(part)
        for part in ast.walk(value)
    )
    return _last_name(target) if is_product else None


def _is_outer(node: ast.AST) -> bool:
    """Whether it is the product of a column and a row: x[:, None] @ x[None]."""
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, (ast.MatMult, ast.Mult)):
        return False
    return all(
        isinstance(each, ast.Subscript)
        and any(getattr(part, "value", 0) is None for part in ast.walk(each.slice))
        for each in (node.left, node.right)
    )


def _added(node: ast.AST) -> tuple[ast.expr, ast.expr] | None:
    """What a statement adds to, and what: A += b, A = A + b."""
    if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add):
        return node.target, node.value
    value = node.value if isinstance(node, ast.Assign) else None
    if isinstance(node, ast.Assign) and isinstance(value, ast.BinOp):
        if isinstance(value.op, ast.Add):
            if ast.unparse(value.left) == ast.unparse(node.targets[0]):
                return node.targets[0], value.right
    return None


RULE = of_calls(
    (
        r".*/numpy/linalg/_?linalg\.py:(inv|pinv|solve)",
        r".*/scipy/linalg/.*:(inv|pinvh?|solve)",
    ),
    title="inverting matrices takes",
    what="functions that invert a matrix",
    fix="Keep the inverse, and change it by the formula of Sherman and Morrison: v = inv @ x; "
    "inv -= outer(v, v) / (1 + x @ v). Matrices that did not change keep theirs.",
    no_effect="Other digits, as rounding adds up: invert the matrix anew now and then.",
    part=(0.4, 0.9, 1.0),
    where=inverts_sum,
)
