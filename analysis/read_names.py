"""Variables and attributes that parts of a program's text read and set, by their names."""

from __future__ import annotations

import ast
from collections.abc import Iterable


def meet(some: set[str], others: set[str], owners: set[str] | None = None) -> bool:
    """Whether both have a variable, or one of them a part of what the other has: self.h, self.
    `owners`: those of the others, if they are known."""
    owners = with_owners(others) if owners is None else owners
    return not (with_owners(some).isdisjoint(others) and owners.isdisjoint(some))


def with_owners(names: set[str]) -> set[str]:
    """With self, and self.net, for self.net.head."""
    parts = (name.split(".") for name in names)
    return {".".join(each[:length]) for each in parts for length in range(1, len(each) + 1)}


def set_by(targets: Iterable[ast.expr]) -> set[str]:
    """Variables that are set, as a whole or in an entry."""
    found: set[str] = set()
    for each in targets:
        if isinstance(each, (ast.Tuple, ast.List)):
            found |= set_by(each.elts)
        else:
            while isinstance(each, (ast.Subscript, ast.Starred)):
                each = each.value
            found |= names_in([each])
    return found


def names_in(nodes: Iterable[ast.AST]) -> set[str]:
    """Variables and attributes that are read."""
    found: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Name):
            found.add(node.id)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, (ast.Name, ast.Attribute)):
            found.add(ast.unparse(node))
        else:
            found |= names_in(ast.iter_child_nodes(node))
    return found
